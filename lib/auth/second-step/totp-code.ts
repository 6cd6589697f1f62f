/** One-time codes of an authenticator app (TOTP, RFC 6238, over HOTP, RFC 4226): 6 digits by HMAC-SHA-1, a new code every 30 seconds. */
import { createHmac } from "node:crypto";
import { isSame } from "../../runtime/same-text.js";

/** Apps ignore other values, or read them wrongly. */
export const TOTP_DIGITS = 6;
export const TOTP_PERIOD_S = 30;
const FORM = /^\d{6}$/;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** @param step the number of the period since the Unix epoch */
export function createTotpCode(secret: Uint8Array, step: number, digits = TOTP_DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  // Dynamic truncation (RFC 4226 section 5.3).
  const value = mac.readUInt32BE((mac.at(-1) ?? 0) & 0xf) & 0x7fffffff;
  return String(value % 10 ** digits).padStart(digits, "0");
}

/** The step of a code at a time: the current one, or one beside it, because clocks differ and typing takes time. */
export function findTotpStep(secret: Uint8Array, code: string, now: number): number | undefined {
  const text = toPlainCode(code);
  if (!FORM.test(text)) return undefined;
  const current = Math.floor(now / (TOTP_PERIOD_S * 1000));
  return [current + 1, current, current - 1].find((step) => isSame(createTotpCode(secret, step), text));
}

/** A code without the spaces and hyphens that people type; `""` for a value that is no code. */
export function toPlainCode(code: unknown): string {
  return typeof code === "string" && code.length <= 64 ? code.replaceAll(/[\s-]/g, "") : "";
}

/** RFC 4648 section 6. The number of bytes is a multiple of 5, so there is no padding. */
export function toBase32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return bits.replaceAll(/.{5}/g, (digit) => BASE32.charAt(Number.parseInt(digit, 2)));
}
