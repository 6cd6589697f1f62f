/**
 * `npm run cost:types` counts what the types of an endpoint cost the compiler, and compares the counts with the checked-in figures. It
 * compiles programs of 10, 100 and 500 endpoints against the declaration files of the package, with both kinds of decorators.
 * `npm run cost:types -- --write` writes the figures.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../support/sources.js";
import { type Style, STYLES, TypeCounter } from "./count.js";
import { type Counts, type Figures, judge, type Size, SIZES, toFigures } from "./figures.js";
import { type Piece, PIECES } from "./fixture.js";

const FILE = join(ROOT, "spec/tools/type-cost/figures.json");

const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });

async function countAll(counter: TypeCounter, style: Style): Promise<Counts> {
  const counts: Partial<Record<Piece, Record<Size, number>>> = {};
  for (const piece of PIECES) {
    const [small, medium, large] = SIZES;
    counts[piece] = {
      [small]: await counter.count(piece, small, style),
      [medium]: await counter.count(piece, medium, style),
      [large]: await counter.count(piece, large, style),
    };
  }
  // The loop has counted every piece.
  return counts as Counts;
}

using counter = new TypeCounter();
// The figures are written by this program.
const figures = JSON.parse(readFileSync(FILE, "utf8")) as Partial<Record<Style, Figures>>;
const written: Partial<Record<Style, Figures>> = {};
let failed = false;
// The keys of the constant.
for (const style of Object.keys(STYLES) as Style[]) {
  const counts = await countAll(counter, style);
  written[style] = toFigures(counts);
  for (const verdict of judge(style, counts, figures[style] ?? {})) {
    console.log(verdict.line);
    failed ||= verdict.failed;
  }
}
if (values.write) {
  writeFileSync(FILE, `${JSON.stringify(written, undefined, 2)}\n`);
} else if (failed) {
  console.error("\nthe types cost more; find what was added, or write the new figures: npm run cost:types -- --write");
  process.exitCode = 1;
}
