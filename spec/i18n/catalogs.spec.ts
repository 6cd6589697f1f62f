/** The catalogs of an application: files, faults with their lines, gaps, and the texts that messages become. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Application, provide } from "@stagecraft/framework";
import { Languages, type LanguagesOptions } from "@stagecraft/framework/i18n";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { errorOf } from "../support/error-of.js";
import { startupErrorOf } from "../support/startup-error-of.js";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, string>>;
}

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "catalogs-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function applicationWith(options: Partial<LanguagesOptions> = {}) {
  const languages = new Languages({ folder, default: "en", ...options });
  return Application.create().provide(provide(Languages).useValue(languages));
}

function faultsOf(files: Readonly<Record<string, string>>): readonly string[] {
  write(files);
  return startupErrorOf(() => applicationWith().build()).diagnostics.map(
    ({ code, what }) => `${code} ${what.replace(`${folder}/`, "")}`,
  );
}

/** Languages of texts, started. */
function languagesOf(catalogs: Readonly<Record<string, string>>, options: Partial<LanguagesOptions> = {}): Languages {
  const languages = new Languages({ catalogs, default: "en", ...options });
  languages.start();
  return languages;
}

describe("a catalog with a fault", () => {
  const rows: readonly (readonly [title: string, text: string, faults: readonly string[]])[] = [
    ["a line that is no message", "a = A\nnot a message\nb = B\n", ["2: the text is no message of Fluent"]],
    ["a brace that is open", "a = A\nb = { $x\n\nc = C\n", ["2: the text is no message of Fluent"]],
    ["a text before the first message", "# fine\njunk\na = A\n", ["2: the text is no message of Fluent"]],
    ["an attribute without a value", "a = A\n    .title\n", ["2: the text is no message of Fluent"]],
    ["a plural without a default", "a = { $n ->\n  [one] 1\n}\n", ["1: the text is no message of Fluent"]],
    ["a message twice", "a = A\n\na = B\n", ["3: a is in FILE:1 too"]],
    ["a reference to no message", "a = { b } and { -c }\n", ["1: a refers to b", "1: a refers to -c"]],
    ["a function that does not exist", "a = { SHOUT($x) }\n", ["1: a calls the unknown SHOUT()"]],
    [
      "messages that show each other in a circle",
      "a = { b }\nb = { c.title }\nc =\n    .title = { a }\n",
      ["1: a cannot be formatted: Cyclic", "2: b cannot be formatted: Cyclic", "3: c cannot be formatted: Cyclic"],
    ],
    [
      "a circle in the default of a plural",
      "a = { $n ->\n    [one] A\n   *[other] { -b }\n }\n-b = { -b }\n",
      ["1: a cannot be formatted: Cyclic"],
    ],
    ["more than 100 values", `a = ${"{ $n }".repeat(101)}\n`, ["1: a cannot be formatted: Too many placeables"]],
    ["an option that no date has", 'a = { DATETIME($at, dateStyle: "shrot") }\n', ["1: a cannot be formatted: "]],
    ["a text as a number", 'a = { NUMBER("x") }\n', ["1: a cannot be formatted: Invalid argument to NUMBER"]],
  ];
  for (const [title, text, faults] of rows) {
    it(`does not start: ${title}`, () => {
      const found = faultsOf({ "en/main.ftl": text });

      expect(found).to.have.length(faults.length);
      for (const [at, fault] of faults.entries())
        expect(found[at]?.replace(/ in \S*main\.ftl:/, " in FILE:"))
          .to.match(/^E_CATALOG en\/main\.ftl:/)
          .and.include(fault);
    });
  }

  it("reports all faults of all files at once", () => {
    expect(faultsOf({ "en/a.ftl": "x\n", "en/b.ftl": "y = {\n", "de/a.ftl": "z\n" })).to.have.length(3);
  });

  it("is one that is no UTF-8, or is too large", () => {
    write({ "en/main.ftl": "a = A", "en/large.ftl": `b = ${"x".repeat(1_048_576)}` });
    writeFileSync(join(folder, "en/latin.ftl"), Buffer.from("c = Gr\xfc\xdfe", "latin1"));

    expect(faultsOf({})).to.have.length(2);
  });

  it("is a folder that is missing, and one whose name is no tag", () => {
    expect(startupErrorOf(() => applicationWith({ folder: join(folder, "none") }).build()).message).to.include(
      "ENOENT",
    );
    expect(faultsOf({ "en/main.ftl": "a = A", "de_DE/main.ftl": "a = A" })).to.deep.equal([
      "E_CATALOG de_DE:1: the name of the folder is no language tag such as pt-BR",
    ]);
  });

  it("is a default language without messages", () => {
    expect(faultsOf({ "de/main.ftl": "a = A" }).join()).to.include("the default language en has no message");
  });
});

describe("new Languages", () => {
  const rows: readonly (readonly [options: unknown, code: string])[] = [
    [{ folder: "x", default: "EN" }, "E_LANGUAGES_OPTION"],
    [{ folder: "x", default: "../en" }, "E_LANGUAGES_OPTION"],
    [{ default: "en" }, "E_LANGUAGES_OPTION"],
    [{ catalogs: { de_DE: "" }, default: "en" }, "E_LANGUAGES_OPTION"],
    [{ folder: "x", default: "en", timeZone: "Mars/Olympus" }, "E_LANGUAGES_OPTION"],
    [{ folder: "x", default: "en", fallback: "en" }, "E_OPTION"],
  ];
  for (const [options, code] of rows) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(errorOf(() => new Languages(options as LanguagesOptions))).to.have.property("code", code);
    });
  }

  it("reads no file, so that a text before the start is refused", () => {
    const languages = new Languages({ folder: "nowhere", default: "en" });

    expect(errorOf(() => languages.in("en"))).to.have.property("code", "E_LANGUAGES_START");
  });

  it("is allowed once in an application", () => {
    class Others extends Languages {}
    const builder = applicationWith({ catalogs: { en: "a = A" } });
    builder.provide(provide(Others).useFactory(() => new Others({ catalogs: { en: "b = B" }, default: "en" })));
    write({ "en/main.ftl": "c = C" });

    expect(startupErrorOf(() => builder.build()).diagnostics.map(({ code }) => code)).to.deep.equal([
      "E_LANGUAGES_TWICE",
    ]);
  });
});

describe("a message that one language lacks", () => {
  it("is a warning at the start, with language, file and name", async () => {
    write({
      "en/links.ftl": "title = Links\ncount = { $n }\n-brand = Sc\n",
      "de/links.ftl": "title = Links\nextra = Mehr\n",
      "de-AT/links.ftl": "title = Linkerl\n",
    });
    await using app = await testApp(applicationWith());

    const lines = app.logs.lines().map((line) => JSON.parse(line) as Line);
    const gaps = lines.filter(({ message }) => message === "messages missing");
    const shown = gaps.map(({ level, fields: { language, file, ids } }) => [
      level,
      language,
      file?.replace(`${folder}/`, ""),
      ids,
    ]);
    expect(shown).to.have.deep.members([
      ["WARN", "en", "de/links.ftl", "extra"],
      ["WARN", "de", "en/links.ftl", "count"],
      ["WARN", "de-AT", "en/links.ftl", "count"],
    ]);
  });

  it("is an attribute too, and the value of a message that has attributes alone", async () => {
    write({ "en/a.ftl": "a = A\n    .title = T\nb = B\n", "de/a.ftl": "a = Ä\nb =\n    .title = T\n" });
    await using app = await testApp(applicationWith());

    const gaps = app.logs.lines().filter((line) => line.includes("messages missing"));
    expect(gaps.map((line) => (JSON.parse(line) as Line).fields["ids"])).to.have.members(["a.title, b", "b.title"]);
  });

  it("has the text of the shorter tag, else of the default", () => {
    const languages = languagesOf({ en: "a = A\nb = B\nc = C", de: "a = Ä\nb = Be", "de-AT": "a = Ah" });
    const { t } = languages.in("de-AT");

    expect([t("a"), t("b"), t("c")]).to.deep.equal(["Ah", "Be", "C"]);
  });
});

describe("a text", () => {
  it("has the plural and the numbers of its language", () => {
    const cs = "n = { $n ->\n    [one] { $n } odkaz\n    [few] { $n } odkazy\n   *[other] { $n } odkazů\n }";
    const languages = languagesOf({
      en: "n = { NUMBER($n, minimumFractionDigits: 1) }",
      cs,
      de: "n = { $n }",
    });

    expect([1, 2, 5].map((n) => languages.in("cs").t("n", { n }))).to.deep.equal(["1 odkaz", "2 odkazy", "5 odkazů"]);
    expect(languages.in("de").t("n", { n: 1234.5 })).to.equal("1.234,5");
    expect(languages.in("en").t("n", { n: 1234 })).to.equal("1,234.0");
  });

  it("has dates in UTC, or in the time zone of the languages", () => {
    const catalogs = { en: 'at = { DATETIME($at, dateStyle: "short") }' };
    const at = new Date("2026-03-01T23:30:00Z");

    expect(languagesOf(catalogs).in("en").t("at", { at })).to.equal("3/1/26");
    expect(languagesOf(catalogs, { timeZone: "Europe/Berlin" }).in("en").t("at", { at })).to.equal("3/2/26");
  });

  it("keeps the direction of values apart from that of a language that is written from right to left", () => {
    const catalogs = { en: "hi = Hi { $name }", ar: "hi = مرحبا { $name }" };
    const languages = languagesOf(catalogs);

    expect(languages.in("en").t("hi", { name: "Ada" })).to.equal("Hi Ada");
    expect(languages.in("ar").t("hi", { name: "Ada" })).to.equal("مرحبا \u2068Ada\u2069");
    expect(languagesOf(catalogs, { isolates: true }).in("en").t("hi", { name: "Ada" })).to.equal("Hi \u2068Ada\u2069");
    expect(languagesOf(catalogs, { isolates: false }).in("ar").t("hi", { name: "Ada" })).to.equal("مرحبا Ada");
  });

  it("of an attribute has the name of the message before a dot", () => {
    const { t } = languagesOf({ en: "search =\n    .placeholder = Search" }).in("en");

    expect(t("search.placeholder")).to.equal("Search");
  });

  it("is plain text: no markup of a value changes", () => {
    const { t } = languagesOf({ en: "hi = <b>{ $name }</b>" }).in("en");

    expect(t("hi", { name: "<script>" })).to.equal("<b><script></b>");
  });

  it("that no catalog has is its name, and one that lacks a value shows its name", () => {
    const { t } = languagesOf({ en: "hi = Hi { $name }" }).in("en");

    expect([t("__proto__"), t("constructor"), t("no-such"), t("hi")]).to.deep.equal([
      "__proto__",
      "constructor",
      "no-such",
      "Hi {$name}",
    ]);
  });

  it("of messages that grow without end is bounded", () => {
    const bomb = Array.from({ length: 9 }, (_each, at) => `-l${at + 1} = ${`{ -l${at} } `.repeat(10)}`).join("\n");
    const { t } = languagesOf({ en: `-l0 = LOL\n${bomb}\nl = { $n ->\n    [5] { -l9 }\n   *[other] x\n }` }).in("en");

    expect([t("l", { n: 1 }), t("l", { n: 5 })]).to.deep.equal(["x", "{???}"]);
  });

  it("keeps its words where a date is no time", () => {
    const { t } = languagesOf({ en: "at = On { $at } at { $place }" }).in("en");

    expect(t("at", { at: new Date(Number.NaN), place: "home" })).to.equal("On {$at} at home");
  });

  it("has attributes of any name", () => {
    const { t } = languagesOf({ en: "a = A\n    .type = mesg\n    .name = nothing" }).in("en");

    expect(t("a.type")).to.equal("mesg");
  });
});

describe("languages.describe", () => {
  it("declares the messages of the default language with their values", () => {
    const languages = languagesOf({
      en: "a = A\nhi = Hi { $name }\n    .title = { $x }\nboth = { hi } { -t }\n-t = { $case }",
    });

    expect(languages.describe()).to.equal(`export {};

declare module "@stagecraft/framework/i18n" {
  interface Messages {
    "a": Record<never, never>;
    "both": { readonly "name": string | number | Date; readonly "x": string | number | Date };
    "hi": { readonly "name": string | number | Date; readonly "x": string | number | Date };
    "hi.title": { readonly "name": string | number | Date; readonly "x": string | number | Date };
  }
}
`);
  });
});
