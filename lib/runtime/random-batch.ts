/**
 * Random values of one size, from the random source of the operating system. It fetches the bytes of many values in one call, because one
 * large call costs hardly more than one small call. Each byte is used for one value only.
 *
 * Not for secrets that live long, such as keys: the bytes of the next values are in memory before they are used.
 *
 * @example
 * const nonces = RandomBatch.ofText(18, 256, (bytes) => bytes.toString("base64"));
 * nonces.next(); // 24 characters
 */
import { randomBytes } from "node:crypto";

export class RandomBatch<T> {
  // The first call of `next()` fetches the first batch, so that the import fetches none.
  private bytes: Buffer = Buffer.alloc(0);
  private at = 0;

  /**
   * @param read returns one value from the `bytesPerValue` bytes at `at`. Each batch is a new buffer and starts with `at` 0, so a value may
   * be a part of it. Such a value holds the whole batch in memory.
   */
  constructor(
    private readonly bytesPerValue: number,
    private readonly valuesPerBatch: number,
    private readonly read: (bytes: Buffer, at: number) => T,
  ) {}

  /**
   * Values that are text. `encode` gets a whole batch and must write the same number of characters for each value. To encode once and cut
   * is faster than to encode each value.
   */
  static ofText(bytesPerValue: number, valuesPerBatch: number, encode: (batch: Buffer) => string): RandomBatch<string> {
    let text = "";
    let characters = 0;
    return new RandomBatch(bytesPerValue, valuesPerBatch, (bytes, at) => {
      if (at === 0) {
        text = encode(bytes);
        characters = text.length / valuesPerBatch;
      }
      const start = (at / bytesPerValue) * characters;
      return text.slice(start, start + characters);
    });
  }

  next(): T {
    if (this.at === this.bytes.length) {
      this.bytes = randomBytes(this.bytesPerValue * this.valuesPerBatch);
      this.at = 0;
    }
    const { at } = this;
    this.at += this.bytesPerValue;
    return this.read(this.bytes, at);
  }
}
