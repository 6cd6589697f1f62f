/** The documents agree with the code: stages, entry points, commands, error codes and quoted samples. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { AppConfig } from "../../lib/app/config.js";
import { createServer } from "../../lib/server/server.js";
import * as published from "../../lib/entries/main.js";
import * as errors from "../../lib/errors/framework-error.js";
import type { FrameworkError } from "../../lib/errors/framework-error.js";
import { Problem } from "../../lib/errors/problem.js";
import { completeLifecycleOptions } from "../../lib/lifecycle/lifecycle-options.js";
import { STAGES } from "../../lib/pipeline/table.js";
import { filesBelow, manifest, ROOT, sourcesBelow, textOf, withoutComments } from "../support/sources.js";

const readme = textOf("README.md") ?? "";
const documents = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...filesBelow("docs", ".md")];

describe("the readme", () => {
  it("shows the table of stages exactly", () => {
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

  it("for people who change the framework name every npm script", () => {
    const page = textOf("CONTRIBUTING.md") ?? "";
    const scripts = Object.keys(manifest().scripts).filter((name) => !name.startsWith("pre"));
    const named = new Set([...page.matchAll(/\bnpm (?:run )?([\w:]+)/g)].map(([, name = ""]) => name));

    expect(scripts).to.include.members(["start", "test:fast"]);
    expect(scripts.filter((name) => !named.has(name))).to.deep.equal([]);
  });

  it("quote samples exactly", () => {
    const quotes = documents.flatMap((path) => quotesOf(textOf(path) ?? ""));

    const wrong = quotes.filter(({ from, code }) => !(textOf(from) ?? "").includes(code));

    expect(quotes).to.have.property("length").above(0);
    expect(wrong).to.deep.equal([]);
  });

  it("name only files of the repository that exist", () => {
    const named = documents.flatMap((path) =>
      [...(textOf(path) ?? "").matchAll(/`((?:lib|spec|samples|docs|\.ci)\/[\w./-]+)`/g)].map(([, file = ""]) => file),
    );

    const missing = named.filter((file) => !existsSync(join(ROOT, file)));

    expect(named).to.include("lib/pipeline/table.ts");
    expect(missing).to.deep.equal([]);
  });

  it("about the code name only identifiers that stand in it", () => {
    const code = ["lib", "spec", "samples"]
      .flatMap((folder) => sourcesBelow(folder).map(({ text }) => text))
      .join("\n");
    const words = new Set(code.match(/\w+/g));
    const pages = ["CONTRIBUTING.md", "docs/how-a-request-travels.md", ...filesBelow("docs/decisions", ".md")];
    const named = pages.flatMap((path) =>
      [...(textOf(path) ?? "").matchAll(/`([A-Za-z]\w*[a-z]\w*[A-Z]\w*)(?:\(\))?`/g)].map(([, name = ""]) => ({
        path,
        name,
      })),
    );

    expect(named).to.have.property("length").above(50);
    expect(named.filter(({ name }) => !words.has(name))).to.deep.equal([]);
  });

  it("list every decision", () => {
    const pages = filesBelow("docs/decisions", ".md").filter((path) => !path.endsWith("/index.md"));

    expect(linksOf("docs/decisions/index.md")).to.have.members(pages);
  });

  it("link to files that exist", () => {
    const broken = documents.flatMap((path) => linksOf(path).filter((target) => textOf(target) === undefined));

    expect(broken).to.deep.equal([]);
  });

  it("of the package link only to files of the package", () => {
    const { files } = manifest();
    const isPacked = (path: string) =>
      ["README.md", "LICENSE", ...files].some((each) => path === each || path.startsWith(`${each}/`));
    const packed = documents.filter(isPacked);

    const outside = packed.flatMap((path) =>
      linksOf(path)
        .filter((target) => !isPacked(target))
        .map((target) => `${path} links to ${target}`),
    );

    expect(packed).to.include.members(["README.md", "docs/guide/index.md"]);
    expect(outside).to.deep.equal([]);
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

  it("names a test that exists for each input of the other rooms", () => {
    const page = textOf("docs/guide/bad-input.md") ?? "";
    const rooms = ["forms", "languages", "endpoints", "accounts", "sign-ins", "bearer tokens"];
    const rows = rooms.flatMap((room) => rowsAfter(page, `## Input of ${room}`));
    const missing = rows.filter(([, , test = ""]) => {
      const [, spec = "", title = ""] = /^`(.+)`: (.+)$/.exec(test) ?? [];
      return title === "" || !(textOf(spec) ?? "").includes(title);
    });

    expect(rows).to.have.property("length").above(0);
    expect(missing).to.deep.equal([]);
  });
});

describe("error codes", () => {
  const page = "docs/guide/errors.md";

  it(`are exactly the rows of ${page}`, () => {
    const thrown = sourcesBelow("lib").flatMap(({ text }) =>
      [...withoutComments(text).matchAll(/"(E_[A-Z0-9_]+)"/g)].map(([, code]) => code),
    );
    const listed = [...(textOf(page) ?? "").matchAll(/^\| `(E_[A-Z0-9_]+)`/gm)].map(([, code]) => code);

    expect(listed, `${page} has a row for each code that lib throws or reports`).to.have.members([...new Set(thrown)]);
  });

  it("in the documents exist", () => {
    const known = new Set(sourcesBelow("lib").flatMap(({ text }) => text.match(/"E_[A-Z0-9_]+"/g) ?? []));

    const named = documents.flatMap((path) => (textOf(path) ?? "").match(/`E_[A-Z0-9_]+`/g) ?? []);

    expect(named.filter((code) => !known.has(code.replaceAll("`", '"')))).to.deep.equal([]);
  });
});

describe("the table of errors", () => {
  const page = textOf("docs/guide/errors.md") ?? "";
  const errorInstances = errorsByClass();

  it("has every class with its status, type, title and code", () => {
    const built = errorInstances.map(([name, error]) => {
      const { type, title, status } = Problem.from(error);
      return [name, String(status), type.slice("urn:framework:problem:".length), title, error.code];
    });

    const written = tableHeaded(page, "Class").map(([name = "", ...cells]) => [/^`(\w+)`/.exec(name)?.[1], ...cells]);
    expect(written.map((cells) => cells.map((cell) => cell?.replaceAll("`", "")))).to.have.deep.members(built);
  });

  it("names the same status as the table of codes", () => {
    const statusOf = new Map(errorInstances.map(([, { code, status }]) => [`\`${code}\``, `${status};`]));

    const rows = tableHeaded(page, "Code").filter(([code = ""]) => statusOf.has(code));

    expect(rows).to.have.lengthOf(errorInstances.length);
    for (const [code = "", when = ""] of rows) expect(when, code).to.match(new RegExp(`^${statusOf.get(code)}`));
  });
});

describe("the guide to the lifecycle", () => {
  const page = textOf("docs/guide/lifecycle.md") ?? "";

  it("names every option of time with its default", () => {
    const inRelease = completeLifecycleOptions({}, "release");
    const inDebug = new Map(Object.entries(completeLifecycleOptions({}, "debug")));
    const built = Object.entries(inRelease).map(([name, release]) => {
      const debug = inDebug.get(name);
      return [`\`${name}\``, release === debug ? `${release}` : `${release} in release, ${debug} in debug`];
    });

    const written = tableHeaded(page, "`.lifecycle({ … })`").map((cells) => cells.slice(0, 2));

    expect(written).to.deep.equal(built);
  });

  it("names every field of the configuration with its default", () => {
    const built = Object.entries(new AppConfig()).map(([name, value]) => [name, String(value)]);

    const written = tableHeaded(page, "Field").map((cells) =>
      cells.slice(0, 2).map((cell) => cell.replaceAll("`", "")),
    );

    expect(written).to.deep.equal(built);
  });

  it("names the limits of the servers that the framework makes", () => {
    const server = createServer({ handleRequest: () => {}, handleContinue: () => {} });
    const [head, whole, idle] = [server.headersTimeout, server.requestTimeout, server.keepAliveTimeout].map(seconds);
    // Node sets the member, and its types lack it.
    const { maxHeaderSize } = server as unknown as { readonly maxHeaderSize: number };

    expect(page).to.include(
      `${head} for a request's head, ${whole} for the whole request, ${idle} keep-alive, ${maxHeaderSize / 1024} KiB of head.`,
    );
  });
});

describe("lock files and scripts", () => {
  it("name no registry, so that npm uses the configured one", () => {
    const folders = ["", "spec/tools/bench/peers/", "spec/tools/neighbours/", "spec/tools/reach/"];
    const locks = folders.map((folder) => `${folder}package-lock.json`);
    const settings = folders.map((folder) => `${folder}.npmrc`);
    const scripts = ["package.json", ".ci/run", ".ci/packed/run", ".ci/peers/run", ...settings];

    const resolved = locks.filter((path) => /"resolved": "http/.test(textOf(path) ?? ""));
    const named = scripts.filter((path) => /registry[.=]|npmjs\./.test(textOf(path) ?? ""));

    expect(resolved).to.deep.equal([]);
    expect(named).to.deep.equal([]);
  });
});

/** Cells of the first table below the heading, without its header and its rule. */
function rowsAfter(text: string, heading: string): readonly (readonly string[])[] {
  const lines = text.slice(text.indexOf(heading)).split("\n").slice(1);
  const section = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith("## ")),
  );
  const rows = section.filter((line) => line.startsWith("|")).map((line) => line.split("|").slice(1, -1));
  return rows.slice(2).map((cells) => cells.map((cell) => cell.trim()));
}

/** The rows of every table with that name of the first column. */
function tableHeaded(text: string, head: string): readonly (readonly string[])[] {
  const tables = text.split(/\n(?!\|)/).filter((part) => part.startsWith("|") || part.includes("\n|"));
  const rows = tables.map((part) => part.split("\n").filter((line) => line.startsWith("|")));
  return rows.map((lines) => lines.map(cellsOf)).flatMap(([top, , ...rest]) => (top?.[0] === head ? rest : []));
}

function cellsOf(line: string): readonly string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

const seconds = (ms: number): string => `${ms / 1000} s`;

/** One error of each public class, with its required arguments only. */
function errorsByClass(): readonly (readonly [string, FrameworkError])[] {
  const { MethodNotAllowedError, ValidationError, ...others } = errors;
  return [
    ...Object.entries(others)
      .filter(([name]) => name in published)
      .map(([name, ErrorClass]) => [name, new ErrorClass()] as const),
    ["MethodNotAllowedError", new MethodNotAllowedError([])],
    ["ValidationError", new ValidationError({})],
  ];
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

/** The anchors of headings: lower case, hyphens for spaces, no other punctuation. */
function headingsOf(path: string): readonly string[] {
  const headings = (textOf(path) ?? "").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\d _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
