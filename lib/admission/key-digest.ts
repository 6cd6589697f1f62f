/**
 * 64 bits in the place of a key: HalfSipHash-1-3 over its UTF-16 code units, with a secret that every instance draws anew, so that
 * nobody can make up keys that fall together. Among a million keys two are alike once in thirty million processes.
 *
 * One instance is used again and again, so that a digest costs no memory. Not for anything that outlives the process.
 */
import { randomBytes } from "node:crypto";

/** Rounds after the text, for each half of the result. */
const FINAL_ROUNDS = 3;

export class KeyDigest {
  high = 0;
  low = 0;
  private readonly first: number;
  private readonly second: number;

  /** @param secret 8 bytes */
  constructor(secret: Buffer = randomBytes(8)) {
    this.first = secret.readInt32LE(0);
    this.second = secret.readInt32LE(4);
  }

  /** Digests `text` into `high` and `low`. */
  of(text: string): this {
    let v0 = this.first;
    let v1 = this.second ^ 0xee;
    let v2 = this.first ^ 0x6c796765;
    let v3 = this.second ^ 0x74656462;
    const words = (text.length >> 1) + 1;
    for (let turn = 0; turn < words + 2 * FINAL_ROUNDS; turn++) {
      const word = turn < words ? wordOf(text, turn) : 0;
      if (turn === words) v2 ^= 0xee;
      if (turn === words + FINAL_ROUNDS) {
        this.low = v1 ^ v3;
        v1 ^= 0xdd;
      }
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = rotated(v1, 5) ^ v0;
      v0 = rotated(v0, 16);
      v2 = (v2 + v3) | 0;
      v3 = rotated(v3, 8) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = rotated(v3, 7) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = rotated(v1, 13) ^ v2;
      v2 = rotated(v2, 16);
      v0 ^= word;
    }
    this.high = v1 ^ v3;
    return this;
  }
}

/** Two code units; the last word has the one that is left over, and the length in bytes. */
function wordOf(text: string, turn: number): number {
  const at = 2 * turn;
  if (at + 1 < text.length) return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
  const last = at < text.length ? text.charCodeAt(at) : 0;
  return last | (text.length << 25);
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
