/**
 * Reads `Accept-Encoding` (RFC 9110 section 12.5.3) as far as `br` and `gzip` are concerned, and picks between them: the higher
 * weight wins, `br` wins a tie, and a client that prefers its bytes as they are gets them so.
 *
 * The header is hostile: a member that is not well-formed does not exist, the first of two for the same coding counts, and members
 * after the 32nd are not looked at. Never throws.
 */

export type Coding = "br" | "gzip";

/** Weights in thousandths: 0 is a refusal, `undefined` not mentioned. */
export interface Acceptance {
  readonly br: number;
  readonly gzip: number;
  readonly identity: number | undefined;
}

const MAX_MEMBERS = 32;
const NOTHING: Acceptance = { br: 0, gzip: 0, identity: undefined };
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

export function readAcceptEncoding(header: string | undefined): Acceptance {
  if (header === undefined || header === "") return NOTHING;
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

/** The best of the codings that are `available`; `undefined`: the bytes as they are. */
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
