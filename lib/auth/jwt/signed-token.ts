/**
 * The compact form of a signed token (RFC 7515 section 7.1): its header, before anything is verified, and its payload after the signature
 * has been. The header chooses a key among those of the configuration, and nothing else: `jku`, `x5u`, `jwk` and their kind are not read.
 */
import type { SignatureAlgorithm } from "./algorithms.js";
import type { TokenHeader, VerificationKey } from "./key-set.js";
import { loadJose } from "./jose-package.js";

/** Why a token is refused, for the log. */
export type TokenFault =
  | "length"
  | "form"
  | "algorithm"
  | "type"
  | "key"
  | "signature"
  | "claims"
  | "issuer"
  | "audience"
  | "expired"
  | "early";

export interface HeaderRules {
  readonly algorithms: readonly SignatureAlgorithm[];
  /** `undefined` for any type. */
  readonly type: string | undefined;
  /** Characters. */
  readonly maxLength: number;
}

/** An encrypted token has five. */
const PARTS = 3;

/** @param text any text of a client */
export function readHeader(text: string, { algorithms, type, maxLength }: HeaderRules): TokenHeader | TokenFault {
  // A JavaScript caller may pass any value.
  if (typeof text !== "string" || text.length > maxLength) return "length";
  const parts = text.split(".", PARTS + 1);
  const header = parts.length === PARTS && parts.every(isBase64Url) ? parseObject(decode(parts[0])) : undefined;
  if (header === undefined) return "form";
  const { typ, kid, crit, b64 } = header;
  // RFC 7515 section 4.1.11: no extension is understood. RFC 7797 section 7: a token has no `b64`.
  if (crit !== undefined || b64 !== undefined || (kid !== undefined && typeof kid !== "string")) return "form";
  const alg = algorithms.find((each) => each === header["alg"]);
  if (alg === undefined) return "algorithm";
  return type === undefined || normalizeType(typ) === normalizeType(type) ? { alg, kid } : "type";
}

/** The payload; `undefined` if the signature is not that of the key. */
export async function verifySignature(
  text: string,
  { alg }: TokenHeader,
  key: VerificationKey,
): Promise<{ readonly payload: string | undefined }> {
  try {
    const { payload } = await loadJose().compactVerify(text, key, { algorithms: [alg] });
    return { payload: decoder.decode(payload) };
  } catch {
    return { payload: undefined };
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** RFC 7515 section 2: bytes have one text, so that a token has no second form. */
function isBase64Url(part: string): boolean {
  return part !== "" && Buffer.from(part, "base64url").toString("base64url") === part;
}

function decode(part = ""): string {
  return Buffer.from(part, "base64url").toString();
}

/** The object of a JSON text. Of members with one name the last counts (RFC 7519 section 4), for everybody who reads it here. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** RFC 7515 section 4.1.9: a media type, of which `application/` may be left out. */
function normalizeType(type: unknown): string | undefined {
  return typeof type === "string" ? type.toLowerCase().replace(/^application\//, "") : undefined;
}
