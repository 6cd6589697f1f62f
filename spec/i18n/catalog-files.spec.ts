/** The files of catalogs: a folder over a real socket, what else a folder may hold, and that no request reads a path. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { startupErrorOf } from "../support/startup-error-of.js";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "catalogs-"));
  write({ "en/main.ftl": "hello = Hello\n" });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function createBuilder(place: string | URL = folder) {
  const languages = new Languages({ folder: place, default: "en" });
  const greet = async (ctx: Context) => (await languages.of(ctx)).t("hello");
  return Application.create()
    .provide(provide(Languages).useValue(languages))
    .routes(new Routes([Route.get("/", greet)]));
}

function faultsOf(): readonly string[] {
  return startupErrorOf(() => createBuilder().build()).diagnostics.map(({ what }) => what.replaceAll(`${folder}/`, ""));
}

describe("a folder of catalogs", () => {
  const places: readonly (readonly [title: string, place: () => string | URL])[] = [
    ["an absolute path", () => folder],
    ["a path from the working directory", () => relative("", folder)],
    ["a URL", () => pathToFileURL(folder)],
  ];
  for (const [title, place] of places) {
    it(`is named by ${title}, and has the texts of each language in all of its files`, async () => {
      write({ "de/a.ftl": "other = Anderes\n", "de/b.ftl": "hello = Hallo\n", "pt-BR/a.ftl": "hello = Olá\r\n" });
      await using app = await testApp(createBuilder(place()));

      const texts = ["en", "de", "pt-BR"].map(async (tag) => (await app.get(`/?lang=${tag}`)).text());

      expect(await Promise.all(texts)).to.deep.equal(["Hello", "Hallo", "Olá"]);
    });
  }

  it("is not read again: hostile tags have the default language also after the folder is removed", async () => {
    const outside = `../${folder.slice(folder.lastIndexOf("/") + 1)}-outside`;
    write({ [`${outside}/main.ftl`]: "hello = secret\n", "de/main.ftl": "hello = Hallo\n" });
    await using app = await testApp(createBuilder());
    rmSync(join(folder, "de"), { recursive: true });
    const hostile = [
      outside,
      `de/../${outside}`,
      "%2e%2e%2fen",
      "de%00",
      "/etc",
      "de/main.ftl",
      "file:///etc",
      "..\\en",
    ];

    const texts = await Promise.all([
      ...hostile.map(async (tag) => (await app.get(`/?lang=${encodeURIComponent(tag)}`)).text()),
      ...hostile.map(async (tag) => (await app.get("/", { headers: { "Accept-Language": tag } })).text()),
    ]);
    const german = await app.get("/?lang=de");
    rmSync(join(folder, outside), { recursive: true });

    expect(new Set(texts)).to.deep.equal(new Set(["Hello"]));
    expect(await german.text()).to.equal("Hallo");
  });

  it("may have symbolic links, files beside the languages, and folders whose names start with a dot", async () => {
    write({ "..data/main.ftl": "hello = Linked\n", "README.md": "no catalog", "en/notes.txt": "no catalog" });
    symlinkSync("..data", join(folder, "de"));
    await using app = await testApp(createBuilder());

    expect(await (await app.get("/?lang=de")).text()).to.equal("Linked");
  });

  const faults: readonly (readonly [title: string, add: () => void, fault: string])[] = [
    ["a link to itself", () => symlinkSync("loop", join(folder, "loop")), "loop:1: ELOOP"],
    ["a link to nothing", () => symlinkSync("/nowhere-at-all", join(folder, "fr")), "fr:1: ENOENT"],
    ["a link to no file", () => symlinkSync("nothing", join(folder, "en/b.ftl")), "en/b.ftl:1: ENOENT"],
    ["a folder with the name of a file", () => mkdirSync(join(folder, "en/b.ftl")), "en/b.ftl:1: EISDIR"],
    ["a language without a file", () => mkdirSync(join(folder, "fr")), "fr:1: the folder has no file *.ftl"],
    ["a tag for private use", () => write({ "x-own/a.ftl": "a = A" }), "x-own:1: the name of the folder is no"],
    ["an old tag of a language", () => write({ "iw/a.ftl": "a = A" }), "iw:1: the name of the folder is no"],
    ["a message in two files", () => write({ "en/b.ftl": "\nhello = B" }), "en/main.ftl:1: hello is in en/b.ftl:2 too"],
  ];
  for (const [title, add, fault] of faults) {
    it(`does not start with ${title}`, () => {
      add();

      const found = faultsOf();

      expect(found).to.have.length(1);
      expect(found[0]).to.include(fault);
    });
  }
});

describe("a catalog without a message", () => {
  it("is no language of the application, and the start warns of each message", async () => {
    write({ "pt-BR/main.ftl": "# to be translated\n" });
    await using app = await testApp(createBuilder());

    const response = await app.get("/?lang=pt-BR");

    expect(response.headers.get("content-language")).to.equal("en");
    const warnings = app.logs.lines().filter((line) => line.includes("messages missing"));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include('"language":"pt-BR"').and.include("en/main.ftl").and.include('"ids":"hello"');
  });

  it("does not start as that of the default language", () => {
    write({ "en/main.ftl": "# to be written\n", "de/main.ftl": "hello = Hallo\n" });

    expect(faultsOf().join()).to.include("the default language en has no message");
  });
});
