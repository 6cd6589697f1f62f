/** One application as legacy and as standard decorators, by tsc and by tsx, and with files of both kinds: it does the same each time. */
import { expect } from "chai";
import { MistakeRuns } from "../support/mistake-runs.js";
import { textOf } from "../support/sources.js";
import type { Mistake } from "./mistakes/mistake.js";

const FIRST = `
/panel/base 200 outer base
/panel/overridden 200 outer first overridden
/panel/gone 404
/panel/here 200 outer here and there
/panel/there 200 outer here and there
/panel/1 200 outer one
/panel/patched 200 outer first patched
/links 200 first second third links
/links/7 200 7
/photos 200 photos
/photos/3 200 photo 3
`;

const OTHER_FILE = `
/other/founded 200 founded
/other/new 200 new
/other/old 404
/derived/origin 200 origin
/derived/added 200 added
`;

const LAST = `
/secrets 401 200 check check ada first second ada of links
/badges 401 200 check check first second ada of links
/badges/1 401 200 check check first second ada of links
/guarded 401 200 check check first second guarded
/links 200 created
heard 7, inherited, patched, indexed links 7, swept at 01:00
`;

/** Compiled with this file, by tsc with the settings of the repository. */
const LEGACY_PART = new URL("decorator-kinds/other-part.js", import.meta.url).href;

const STANDARD = { experimentalDecorators: false, emitDecoratorMetadata: false };
const LEGACY_SETTINGS = `{ "compilerOptions": { "experimentalDecorators": true } }`;

function program(title: string, options: Partial<Mistake>): Mistake {
  const files = {
    "package.json": `{ "type": "module" }`,
    "main.ts": textOf("spec/journeys/decorator-kinds/application.ts") ?? "",
    "other-part.ts": textOf("spec/journeys/decorator-kinds/other-part.ts") ?? "",
    ...options.files,
  };
  return { title, says: ["", "", ""], ...options, files };
}

const ALONE: readonly Mistake[] = [
  program("legacy-by-tsc", {}),
  program("standard-by-tsc", { settings: STANDARD }),
  program("legacy-by-tsx", { by: "tsx", files: { "tsconfig.json": LEGACY_SETTINGS } }),
  program("standard-by-tsx", { by: "tsx" }),
];

const MIXED: readonly Mistake[] = [
  program("standard by tsc beside legacy", { settings: STANDARD, env: { OTHER_PART: LEGACY_PART } }),
  program("standard by tsx beside legacy", { by: "tsx", env: { OTHER_PART: LEGACY_PART } }),
  program("legacy beside standard by tsc", { env: { OTHER_PART: "../standard-by-tsc/other-part.js" } }),
];

describe("an application with decorators", function () {
  this.timeout(120_000);
  let runs: MistakeRuns;

  before(async () => {
    runs = await MistakeRuns.prepare([...ALONE, ...MIXED]);
  });

  after(() => runs[Symbol.dispose]());

  for (const each of ALONE) {
    it(`responds, listens and works jobs off: ${each.title}`, async () => {
      const { output } = await runs.run(each);

      expect(`\n${output}`).to.equal(FIRST + LAST.trimStart());
    });
  }

  for (const each of MIXED) {
    it(`has classes that extend classes of the other kind: ${each.title}`, async () => {
      const { output } = await runs.run(each);

      expect(`\n${output}`).to.equal(FIRST + OTHER_FILE.trimStart() + LAST.trimStart());
    });
  }
});
