/** What is written agrees with what is built: stages, entry points, commands, error codes and quoted samples. */

import { expect } from "chai";
import { STAGES } from "../../lib/pipeline/table.js";
import { filesBelow, manifest, sourcesBelow, textOf, withoutComments } from "../support/sources.js";

const readme = textOf("README.md") ?? "";
const documents = ["README.md", ...filesBelow("docs", ".md")];

describe("the readme", () => {
  it("shows the table of stages as it is", () => {
    const rows = rowsAfter(readme, "## The stages").map(([number, slot, kind, why]) => ({ number, slot, kind, why }));

    expect(rows).to.deep.equal(
      STAGES.map((stage) => ({ ...stage, number: String(stage.number), slot: `\`${stage.slot}\`` })),
    );
  });

  it("names every entry point and no other", () => {
    const named = rowsAfter(readme, "## Entry points").map(([entry]) => entry);

    const { name, exports } = manifest();
    const built = Object.keys(exports).filter((entry) => entry !== "./package.json");
    expect(named).to.have.members(built.map((entry) => `\`${name}${entry.slice(1)}\``));
  });
});

describe("the documents", () => {
  it("name only npm scripts that exist", () => {
    const { scripts } = manifest();
    const named = documents.flatMap((path) =>
      [...(textOf(path) ?? "").matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = ""]) => name),
    );

    expect(named.filter((name) => !(name in scripts))).to.deep.equal([]);
  });

  it("quote samples as they are", () => {
    const quotes = documents.flatMap((path) => quotesOf(textOf(path) ?? ""));

    const wrong = quotes.filter(({ from, code }) => !(textOf(from) ?? "").includes(code));

    expect(quotes).to.have.property("length").above(0);
    expect(wrong).to.deep.equal([]);
  });

  it("link to files that exist", () => {
    const broken = documents.flatMap((path) => linksOf(path).filter((target) => textOf(target) === undefined));

    expect(broken).to.deep.equal([]);
  });

  it("link to headings that exist", () => {
    const broken = documents.flatMap((path) =>
      headingLinksOf(path).filter(({ file, heading }) => !headingsOf(file).includes(heading)),
    );

    expect(broken).to.deep.equal([]);
  });
});

describe("the page on bad input", () => {
  it("has a row for each test of its journey, in the same order, and no other", () => {
    const rows = rowsAfter(textOf("docs/guide/bad-input.md") ?? "", "# Bad input").map(([what]) => what);
    const tests = [...(textOf("spec/journeys/bad-input.spec.ts") ?? "").matchAll(/^ {2}it\("(.+)", /gm)];

    expect(rows).to.have.property("length").above(0);
    expect(rows).to.deep.equal(tests.map(([, title]) => title));
  });
});

describe("error codes", () => {
  const page = "docs/guide/errors.md";

  it(`are all in ${page}, and nothing else is`, () => {
    const thrown = sourcesBelow("lib").flatMap(({ text }) =>
      [...withoutComments(text).matchAll(/"(E_[A-Z0-9_]+)"/g)].map(([, code]) => code),
    );
    const listed = [...(textOf(page) ?? "").matchAll(/^\| `(E_[A-Z0-9_]+)`/gm)].map(([, code]) => code);

    expect(listed, `${page} has a row for each code that lib throws or reports`).to.have.members([...new Set(thrown)]);
  });

  it("that the documents name exist", () => {
    const known = new Set(sourcesBelow("lib").flatMap(({ text }) => text.match(/"E_[A-Z0-9_]+"/g) ?? []));

    const named = documents.flatMap((path) => (textOf(path) ?? "").match(/`E_[A-Z0-9_]+`/g) ?? []);

    expect(named.filter((code) => !known.has(code.replaceAll("`", '"')))).to.deep.equal([]);
  });
});

describe("lock files and scripts", () => {
  it("name no registry, so that the one configured is used", () => {
    const locks = ["package-lock.json", "spec/bench/peers/package-lock.json"];
    const scripts = ["package.json", ".ci/run", ".ci/packed/run", ".npmrc", "spec/bench/peers/.npmrc"];

    const resolved = locks.filter((path) => /"resolved": "http/.test(textOf(path) ?? ""));
    const named = scripts.filter((path) => /registry[.=]|npmjs\./.test(textOf(path) ?? ""));

    expect(resolved).to.deep.equal([]);
    expect(named).to.deep.equal([]);
  });
});

/** Cells of the first table below the heading, without its head and rule. */
function rowsAfter(text: string, heading: string): readonly (readonly string[])[] {
  const lines = text.slice(text.indexOf(heading)).split("\n").slice(1);
  const section = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith("## ")),
  );
  const rows = section.filter((line) => line.startsWith("|")).map((line) => line.split("|").slice(1, -1));
  return rows.slice(2).map((cells) => cells.map((cell) => cell.trim()));
}

/** A code block below `<!-- quoted from <file> -->` is part of that file. */
function quotesOf(text: string): readonly { readonly from: string; readonly code: string }[] {
  const marked = text.matchAll(/<!-- quoted from (\S+) -->\s*```\w*\n([\s\S]*?)```/g);
  return [...marked].map(([, from = "", code = ""]) => ({ from, code }));
}

/** Targets of relative links, from the repository, without their fragments. */
function linksOf(path: string): readonly string[] {
  const targets = (textOf(path) ?? "").matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g);
  return [...targets].map(([, target = ""]) => pathFrom(path, target));
}

function pathFrom(path: string, target: string): string {
  return new URL(target, `file:///${path}`).pathname.slice(1);
}

/** Links to a heading, of the same page or another. */
function headingLinksOf(path: string): readonly { readonly file: string; readonly heading: string }[] {
  const links = (textOf(path) ?? "").matchAll(/\]\(([^)#:\s]*)#([^)\s]+)\)/g);
  return [...links].map(([, to = "", heading = ""]) => ({ file: to === "" ? path : pathFrom(path, to), heading }));
}

/** As pages name their headings in links: lower case, hyphens for blanks, no other signs. */
function headingsOf(path: string): readonly string[] {
  const headings = (textOf(path) ?? "").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\d _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
