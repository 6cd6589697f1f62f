/**
 * Reads `br` and `gzip` from `Accept-Encoding` (RFC 9110 section 12.5.3), and picks the coding with the higher weight, or `br` if both are
 * equal. A client that prefers `identity` gets the body without a coding.
 *
 * The header may be hostile. A member that is not well-formed is ignored. Of two members for one coding the first counts. Members after the
 * 32nd are ignored. The function never throws.
 */

export type Coding = "br" | "gzip";

/** Weights in thousandths. 0: the client refuses the coding. `undefined`: the client does not name it. */
export interface Acceptance {
  readonly br: number;
  readonly gzip: number;
  readonly identity: number | undefined;
}

const MAX_MEMBERS = 32;
const NONE_ACCEPTED: Acceptance = { br: 0, gzip: 0, identity: undefined };
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

export function readAcceptEncoding(header: string | undefined): Acceptance {
  if (header === undefined || header === "") return NONE_ACCEPTED;
  const weights = new Map<string, number>();
  for (const member of header.split(",", MAX_MEMBERS)) {
    const semicolon = member.indexOf(";");
    const name = (semicolon < 0 ? member : member.slice(0, semicolon)).trim().toLowerCase();
    const weight = semicolon < 0 ? 1000 : readWeight(member.slice(semicolon + 1).trim());
    const coding = name === "x-gzip" ? "gzip" : name;
    if (weight !== undefined && !weights.has(coding)) weights.set(coding, weight);
  }
  const rest = weights.get("*");
  return {
    br: weights.get("br") ?? rest ?? 0,
    gzip: weights.get("gzip") ?? rest ?? 0,
    identity: weights.get("identity") ?? rest,
  };
}

/** The best of the codings that are `available`; `undefined` for no coding. */
export function pickCoding(
  { br, gzip, identity = 0 }: Acceptance,
  available: { readonly br: boolean; readonly gzip: boolean } = EITHER,
): Coding | undefined {
  const brWeight = available.br ? br : 0;
  const gzipWeight = available.gzip ? gzip : 0;
  const best = Math.max(brWeight, gzipWeight);
  if (best === 0 || identity > best) return undefined;
  return brWeight === best ? "br" : "gzip";
}

const EITHER = { br: true, gzip: true };

function readWeight(parameter: string): number | undefined {
  const name = parameter.slice(0, 2).toLowerCase();
  const value = parameter.slice(2);
  return name === "q=" && WEIGHT.test(value) ? Math.round(Number(value) * 1000) : undefined;
}
