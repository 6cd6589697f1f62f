/** Endpoints in a front end: the compiled files in a process whose globals are those of a browser. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { ROOT } from "../support/sources.js";

const ENDPOINTS = pathToFileURL(join(ROOT, "dist/lib/endpoints/")).href;

const PROGRAM = `
const { Get } = await import("${ENDPOINTS}endpoint.js");
const { routes } = await import("${ENDPOINTS}endpoint-table.js");
const links = routes("links", "/teams/{team}/links", { show: Get("/{id}") });
const refused = [];
for (const call of [() => links.show.url("red", ""), () => Get(undefined)]) {
  try { call(); } catch (error) { refused.push(error.code); }
}
console.log(JSON.stringify([links.show.url("red", 7), ...refused]));
`;

describe("endpoints in a front end", () => {
  for (const [what, prelude] of [
    ["no process", "delete globalThis.process;"],
    ["the process of a bundler", "globalThis.process = { env: {} };"],
  ] as const) {
    it(`make URLs and refuse wrong values where there is ${what}`, () => {
      const output = execFileSync(process.execPath, ["--input-type=module", "--eval", prelude + PROGRAM], {
        encoding: "utf8",
      });

      expect(JSON.parse(output)).to.deep.equal(["/teams/red/links/7", "E_ROUTE_PARAM", "E_ROUTE_PATH"]);
    });
  }
});
