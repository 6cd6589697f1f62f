/**
 * The checked-in figures: the instantiations of types that each piece of an endpoint costs. The compiler is a fixed version, so that a count
 * differs only by what was changed. A piece above its figure is a failure, and so is a sum above the limit, or a cost that grows with the
 * number of endpoints.
 */
import { type Piece, PIECES } from "./fixture.js";

/** The sizes of the programs, in endpoints. */
export const SIZES = [10, 100, 500] as const;

export type Size = (typeof SIZES)[number];

/** The counts of each program: by its last piece, and its number of endpoints. */
export type Counts = Readonly<Record<Piece, Readonly<Record<Size, number>>>>;

/** The instantiations of one import, and of each other piece for one endpoint. */
export type Figures = Readonly<Partial<Record<Piece, number>>>;

export interface Verdict {
  readonly line: string;
  readonly failed: boolean;
}

/** For an endpoint with its handler, its URL and a call of the client. */
export const MAX_INSTANTIATIONS = 1500;

/** The share by which a piece may be above its figure: a method more on a public class costs each endpoint a little. */
const TOLERANCE = 0.02;

/** The share by which the cost of an endpoint may differ between small and large programs. */
const SLOPE_TOLERANCE = 0.02;

/** Returns the cost of each piece without those before it. */
export function toFigures(counts: Counts): Figures {
  const costs = PIECES.slice(1).map((piece) => [piece, costPiece(counts, piece)] as const);
  return Object.fromEntries(costs.map(([piece, cost]) => [piece, Math.round(cost)]));
}

function costPiece(counts: Counts, piece: Piece): number {
  const before = PIECES[PIECES.indexOf(piece) - 1] ?? piece;
  if (piece === "import") return counts[piece][10] - counts[before][10];
  return getSlope(counts, piece, 100, 500) - getSlope(counts, before, 100, 500);
}

/** The cost of one endpoint more, with all pieces up to this one. */
function getSlope(counts: Counts, piece: Piece, from: Size, to: Size): number {
  return (counts[piece][to] - counts[piece][from]) / (to - from);
}

/** @param name the kind of decorators */
export function judge(name: string, counts: Counts, figures: Figures): readonly Verdict[] {
  const costs = toFigures(counts);
  const pieces = PIECES.slice(1).map((piece) => judgePiece(`${name}: ${piece}`, costs[piece] ?? 0, figures[piece]));
  return [...pieces, judgeSum(name, counts), judgeSlope(name, counts)];
}

function judgePiece(what: string, cost: number, figure: number | undefined): Verdict {
  const against = figure === undefined ? "without a figure" : `the figure is ${figure}`;
  const failed = figure !== undefined && !(cost <= figure * (1 + TOLERANCE));
  return { line: `${what} costs ${cost} instantiations, ${against}${failed ? ": too many" : ""}`, failed };
}

function judgeSum(name: string, counts: Counts): Verdict {
  const cost = sumOfSlopes(counts, 100, 500);
  const failed = !(cost <= MAX_INSTANTIATIONS);
  return { line: `${name}: an endpoint costs ${Math.round(cost)} of ${MAX_INSTANTIATIONS} instantiations`, failed };
}

function judgeSlope(name: string, counts: Counts): Verdict {
  const [small, large] = [sumOfSlopes(counts, 10, 100), sumOfSlopes(counts, 100, 500)];
  const failed = !(Math.abs(large / small - 1) <= SLOPE_TOLERANCE);
  const between = `${small.toFixed(1)} from 10 to 100 endpoints, ${large.toFixed(1)} from 100 to 500`;
  return { line: `${name}: one endpoint more costs ${between}${failed ? ": not equal" : ""}`, failed };
}

/** Above the schemas alone. */
function sumOfSlopes(counts: Counts, from: Size, to: Size): number {
  const last = PIECES.at(-1) ?? "schemas";
  return getSlope(counts, last, from, to) - getSlope(counts, "schemas", from, to);
}
