/** Every decorator above every kind of member, in both kinds of call, by compilers without types: it works, or its refusal names the place. */
import { expect } from "chai";
import { MistakeRuns } from "../support/mistake-runs.js";
import type { Mistake } from "./mistakes/mistake.js";
import { DECORATORS, expectedOf, type Kind, programOf } from "./decorator-places/cells.js";

const STANDARD = { experimentalDecorators: false, emitDecoratorMetadata: false };
const LEGACY_SETTINGS = `{ "compilerOptions": { "experimentalDecorators": true, "target": "ES2022" } }`;

function program(title: string, kind: Kind, options: Partial<Mistake>): Mistake & { readonly kind: Kind } {
  const files = { "package.json": `{ "type": "module" }`, "main.ts": programOf(kind), ...options.files };
  return { title, says: ["", "", ""], kind, ...options, files };
}

const PROGRAMS = [
  program("legacy by tsc", "legacy", {}),
  program("standard by tsc", "standard", { settings: STANDARD }),
  program("legacy by tsx", "legacy", { by: "tsx", files: { "tsconfig.json": LEGACY_SETTINGS } }),
  program("standard by tsx", "standard", { by: "tsx" }),
];

describe("a decorator in a wrong place", function () {
  this.timeout(120_000);
  let runs: MistakeRuns;

  before(async () => {
    runs = await MistakeRuns.prepare(PROGRAMS);
  });

  after(() => runs[Symbol.dispose]());

  for (const each of PROGRAMS) {
    it(`is refused with its place, and in the right one works: ${each.title}`, async () => {
      const { output } = await runs.run(each);

      const results = JSON.parse(output) as Readonly<Record<string, Readonly<Record<string, string>>>>;
      for (const decorator of DECORATORS)
        expect(results[decorator.name], decorator.name).to.deep.equal(expectedOf(decorator, each.kind));
    });
  }
});
