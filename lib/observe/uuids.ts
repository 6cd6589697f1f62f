/**
 * Random UUIDs, version 4, in lower case (RFC 9562 section 5.4). Drawn from the system's generator and written out many at a time: a draw
 * is a system call, and Node puts each UUID together from twenty pieces of text.
 *
 * Not for secrets: the next ones lie in memory as text already.
 */
import { randomBytes } from "node:crypto";

// Whoever keeps one id keeps its batch: 16 are a page of 576 bytes.
const BATCH = 16;
const BYTES = 16;
const LENGTH = 36;
const DASH = 0x2d;
const DIGITS = Buffer.from("0123456789abcdef");

// Like the generator behind it, the batch belongs to the process; it is filled by the first draw, not by the import.
let batch = "";
let used = 0;

export function newUuid(): string {
  if (used === batch.length) {
    batch = written(randomBytes(BATCH * BYTES));
    used = 0;
  }
  used += LENGTH;
  return batch.slice(used - LENGTH, used);
}

function written(bytes: Buffer): string {
  const text = Buffer.alloc((bytes.length / BYTES) * LENGTH, DASH);
  let to = 0;
  for (let at = 0; at < bytes.length; at++) {
    const place = at % BYTES;
    if (place === 4 || place === 6 || place === 8 || place === 10) to++;
    const byte = marked(bytes[at] ?? 0, place);
    text[to++] = DIGITS[byte >> 4] ?? 0;
    text[to++] = DIGITS[byte & 0x0f] ?? 0;
  }
  return text.toString("latin1");
}

/** The version stands in byte 6, the variant in byte 8. */
function marked(byte: number, place: number): number {
  if (place === 6) return (byte & 0x0f) | 0x40;
  return place === 8 ? (byte & 0x3f) | 0x80 : byte;
}
