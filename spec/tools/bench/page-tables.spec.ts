/** Tables of a page from stored runs: one group of columns for each version of Node. */

import { expect } from "chai";
import { filledPage, placesOf, proseOf, type StoredRun, type StoredRuns, tablesIn } from "./page-tables.js";

const OUTPUT = `SQLite

| contender  | requests/s | ratio |
| ---------- | ---------: | ----: |
| node       |     10,000 |  1.00 |
| stagecraft |      9,000 |   NaN |

PostgreSQL

| contender | requests/s | ratio |
| --------- | ---------: | ----: |
| node      |      2,000 |  1.00 |`;

function runs(major: number, output: string, changes: Partial<StoredRun> = {}): StoredRuns {
  const tables = tablesIn(output);
  const command = "npm run bench -- --scenario db";
  const run = { node: `v${major}.1.0`, machine: "2 × Fast", awake: true, date: "2026-01-02", trial: false };
  return { db: { ...run, command, tables, ...changes } };
}

function filled(place: string, versions: readonly StoredRuns[]): string {
  return filledPage(`Before\n\n<!-- bench ${place} -->\n\nold\n\n<!-- end of bench -->\n\nAfter`, versions);
}

describe("the tables of a page", () => {
  it("have the columns of the place for each version, and a dash where there is no figure", () => {
    const page = filled("db/SQLite: requests/s, ratio", [
      runs(24, OUTPUT),
      runs(22, OUTPUT.replace(/^.*9,000.*\n/m, "")),
    ]);

    expect(page).to.equal(`Before

<!-- bench db/SQLite: requests/s, ratio -->

\`npm run bench -- --scenario db\`

| contender  | Node 24, requests/s | ratio | Node 22, requests/s | ratio |
| ---------- | ------------------: | ----: | ------------------: | ----: |
| node       |              10,000 |  1.00 |              10,000 |  1.00 |
| stagecraft |               9,000 |     – |                   – |     – |

<!-- end of bench -->

After`);
    expect(filledPage(page, [runs(24, OUTPUT), runs(22, OUTPUT.replace(/^.*9,000.*\n/m, ""))])).to.equal(page);
  });

  it("have the command of each version where they differ", () => {
    const longer = { command: "npm run bench -- --scenario db --rounds 9" };

    const page = filled("db/PostgreSQL: ratio", [runs(24, OUTPUT), runs(22, OUTPUT, longer)]);

    expect(page).to.include(
      "Node 24: `npm run bench -- --scenario db`\n\nNode 22: `npm run bench -- --scenario db --rounds 9`",
    );
  });

  it("say which runs are no result", () => {
    const page = filled("runs", [runs(24, OUTPUT), runs(22, OUTPUT, { trial: true, awake: false })]);

    expect(tablesIn(page)[0]?.rows).to.deep.equal([
      ["24.1.0", "2 × Fast", "awake", "whole", "2026-01-02", "db"],
      ["22.1.0", "2 × Fast", "may sleep", "**a trial, no result**", "2026-01-02", "db"],
    ]);
  });

  it("name the command of a scenario without a run", () => {
    expect(filled("full: ratio", [runs(24, OUTPUT)])).to.include(
      "Not measured yet: `npm run bench -- --page --scenario full`",
    );
  });

  for (const [place, message] of [
    ["db/MariaDB: ratio", 'db on v24.1.0 has no table "MariaDB"'],
    ["db/SQLite: ratio, p99 ms", "db on v24.1.0 has no column p99 ms"],
  ] as const) {
    it(`are refused for ${place}, which the run does not have`, () => {
      expect(() => filled(place, [runs(24, OUTPUT)])).to.throw(message);
    });
  }

  it("are apart from the prose", () => {
    const page = filled("db/SQLite: requests/s, ratio", [runs(24, OUTPUT)]);

    expect(placesOf(page)).to.deep.equal([{ scenario: "db", title: "SQLite", columns: ["requests/s", "ratio"] }]);
    expect(proseOf(page)).to.equal("Before\n\n\n\nAfter");
  });
});
