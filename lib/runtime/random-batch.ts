/**
 * Fresh nonces from the operating system's random source, fetched in batches, because one call for many costs hardly more than one
 * for a few. No byte is given out twice. For nothing but nonces: what must stay secret for long does not belong in a shared batch.
 */
import { randomBytes } from "node:crypto";

/** 144 bits, a multiple of 3 bytes, so that the base64 of a batch is the nonces one after the other, without padding. */
const NONCE_BYTES = 18;
const NONCE_CHARACTERS = 24;
const BATCH = 256;

export class RandomBatch {
  private batch = "";
  private at = 0;

  /** 18 random bytes in standard base64: 24 characters. */
  next(): string {
    if (this.at === this.batch.length) {
      this.batch = randomBytes(NONCE_BYTES * BATCH).toString("base64");
      this.at = 0;
    }
    const start = this.at;
    this.at += NONCE_CHARACTERS;
    return this.batch.slice(start, this.at);
  }
}
