/**
 * `docs/guide/speed.md` shows what runs have stored, and nothing that a run has not measured. After a change of its places
 * `RECORD=1 npx mocha --grep "stored figures"` writes its tables again.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { filesBelow, ROOT, textOf } from "../../support/sources.js";
import { argumentsOf, parseOptions } from "./options.js";
import { formatted, PAGE, PAGE_NODES, PAGE_SCENARIOS, storedRuns, storePath } from "./page.js";
import { filledPage, placesOf, proseOf, type StoredRun, tablesIn } from "./page-tables.js";
import { PARTS } from "./parts.js";

const page = textOf(PAGE) ?? "";
const scenarios = Object.keys(PAGE_SCENARIOS);
const documents = ["README.md", "CONTRIBUTING.md", ...filesBelow("docs", ".md")];

function eachRun(): readonly (readonly [where: string, run: StoredRun])[] {
  return PAGE_NODES.flatMap((major) =>
    Object.entries(storedRuns(major)).map(([name, run]) => [`${name} on ${major}`, run] as const),
  );
}

describe("the page about speed", () => {
  it("shows the stored figures in each table", async () => {
    const filled = await formatted(PAGE, filledPage(page, PAGE_NODES.map(storedRuns)));
    if (process.env["RECORD"] === "1") writeFileSync(join(ROOT, PAGE), filled);
    else expect(page).to.equal(filled);
  });

  it("has each of its scenarios in a table, and a run of it on each version of Node", () => {
    expect(new Set(placesOf(page).map(({ scenario }) => scenario))).to.have.keys(scenarios);
    for (const major of PAGE_NODES) expect(storedRuns(major), storePath(major)).to.have.all.keys(scenarios);
  });

  it("has only runs of the version that it names, with awake processors and the command that repeats them", () => {
    for (const major of PAGE_NODES) {
      for (const [name, { node, awake, command }] of Object.entries(storedRuns(major))) {
        expect({ name, awake, node: node.split(".")[0] }).to.deep.equal({ name, awake: true, node: `v${major}` });
        expect(command, name).to.match(/^npm run bench -- /);
        const options = parseOptions(command.split(" ").slice(4), scenarios);
        expect(options.scenarios, command).to.deep.equal([name]);
      }
    }
  });

  it("has no figure of a run with failed responses", () => {
    const failed = eachRun().flatMap(([where, { tables }]) =>
      tables.flatMap(({ head, rows }) => {
        const column = head.indexOf("failures");
        return column < 0 ? [] : rows.filter((row) => row[column] !== "0").map(([name]) => `${name}, ${where}`);
      }),
    );

    expect(failed).to.deep.equal([]);
  });

  it("has no figure that is written by hand", () => {
    const prose = proseOf(page);

    expect(prose.match(/\d\.\d\d|\d,\d{3} requests/g) ?? []).to.deep.equal([]);
    expect(tablesIn(prose).flatMap(({ rows }) => rows.flat().filter((cell) => /^[\d.,]+$/.test(cell)))).to.deep.equal(
      [],
    );
  });
});

describe("the scenarios of the benchmark", () => {
  it("have names that differ, and those of the page are among them", () => {
    const names = PARTS.map(({ name }) => name);

    expect(new Set(names)).to.have.property("size", names.length);
    expect(names).to.include.members(scenarios);
  });

  it("that a document names exist", () => {
    const named = documents.flatMap((path) =>
      [...(textOf(path) ?? "").matchAll(/--scenario ([\w:,-]+)/g)].map(([, list = ""]) => ({ path, list })),
    );

    const known = PARTS.map(({ name }) => name);
    const unknown = named.filter(({ list }) => {
      try {
        return parseOptions(argumentsOf(list, {}), known).scenarios.length === 0;
      } catch {
        return true;
      }
    });
    expect(named).to.have.property("length").above(20);
    expect(unknown).to.deep.equal([]);
  });

  it("have their tables in one page of the guide", () => {
    const others = filesBelow("docs/guide", ".md").filter((path) => path !== PAGE);

    const heads = others.filter((path) => /^\|.*\b(?:requests\/s|CPU ratio|p99)\b.*\|$/m.test(textOf(path) ?? ""));

    expect(others).to.have.property("length").above(20);
    expect(heads).to.deep.equal([]);
  });
});
