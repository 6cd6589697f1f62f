/** The fast compiler writes the same metadata of decorators as TypeScript's compiler, for all files of all samples. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { SourceProject } from "../../../lib/cli/application/source-project.js";
import { findOutput } from "../../../lib/cli/application/typescript-config.js";
import { transform } from "../../../lib/cli/application/transform.js";
import { ROOT } from "../../support/sources.js";

/** The key and the value of each call of the metadata function, without spaces, and without the checks for types that may be absent. */
function metadataOf(code: string): readonly string[] {
  return [...code.matchAll(/etadata\("design:(\w+)",/gu)].map((match) => {
    const start = match.index + match[0].length;
    const value = code.slice(start, endOfCall(code, start)).replaceAll(/\s/gu, "");
    return `${match[1]} ${withoutChecks(value)}`;
  });
}

function endOfCall(code: string, start: number): number {
  let depth = 1;
  for (let at = start; ; at++) {
    if ("([{".includes(code.charAt(at))) depth++;
    else if (")]}".includes(code.charAt(at)) && --depth === 0) return at;
  }
}

/**
 * One file at a time, a compiler cannot know whether a type that is imported with `import type` is a class, which tsc writes as `Function`.
 * A type of a namespace, as `z.output`, is no value.
 */
function withoutChecks(value: string): string {
  return value
    .replaceAll(/typeof\((_\w+)=typeof([\w.]+)!=="undefined"&&\2\)==="function"\?\1:Object/gu, "$2")
    .replaceAll(/typeof\w+==="undefined"\|\|typeof[\w.]+==="undefined"\?Object:[\w.]+/gu, "Object")
    .replaceAll(/typeof(\w+)==="undefined"\?Object:\1/gu, "$1")
    .replaceAll(/\bFunction\b/gu, "Object");
}

describe("the metadata of the fast compiler", () => {
  const project = SourceProject.of(join(ROOT, "samples/links/main.ts"));
  const samples = project.list().sources.filter((source) => source.startsWith(join(ROOT, "samples")));

  it("is that of tsc", () => {
    let count = 0;
    for (const source of samples) {
      const outcome = transform({ text: readFileSync(source, "utf8"), name: source }, project.config.options);
      const entries = metadataOf("code" in outcome ? outcome.code : "");

      count += entries.length;
      expect(entries, source).to.deep.equal(metadataOf(readFileSync(findOutput(source), "utf8")));
    }
    expect(count).to.be.above(200);
  });
});
