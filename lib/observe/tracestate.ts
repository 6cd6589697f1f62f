/**
 * `tracestate`: other vendors' notes on a trace, handed on as they came (W3C Trace Context, section 3.3). Nothing in it is understood
 * here, so nothing but its size, its number of members and its bytes is looked at; what does not fit is dropped whole.
 */
import { isBlank, trimBlanks } from "../http/field-value.js";

export const MAX_TRACESTATE_MEMBERS = 32;
export const MAX_TRACESTATE_BYTES = 512;

/** The text without surrounding blanks; `undefined` where it is too long, has too many members, other bytes, or no member at all. */
export function readTracestate(value: string): string | undefined {
  const text = trimBlanks(value);
  if (text.length > MAX_TRACESTATE_BYTES) return undefined;
  let members = 0;
  let isInside = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return undefined;
    // A member counts with its first character; empty ones and blank ones never do.
    if (code === 0x2c) isInside = false;
    else if (!isInside && !isBlank(code)) {
      isInside = true;
      members++;
    }
  }
  return members === 0 || members > MAX_TRACESTATE_MEMBERS ? undefined : text;
}
