/**
 * Random values of one size, from the operating system's random source. It fetches the bytes of many values in one call, because one
 * large call costs hardly more than one small call. It uses no byte for two values.
 *
 * Not for secrets that live long, such as keys: the bytes of the next values are in memory before they are used.
 *
 * @example
 * const nonces = RandomBatch.ofText(18, 256, (bytes) => bytes.toString("base64"));
 * nonces.next(); // 24 characters
 */
import { randomBytes } from "node:crypto";

export class RandomBatch<T> {
  // The first batch is fetched by the first call of `next()`, so that nothing happens on import.
  private bytes: Buffer = Buffer.alloc(0);
  private at = 0;

  /**
   * @param read makes one value from the `bytesPerValue` bytes at `at`. Each batch is a new buffer and begins with `at` 0, so a value
   * may be a part of it; such a value keeps the whole batch in memory.
   */
  constructor(
    private readonly bytesPerValue: number,
    private readonly valuesPerBatch: number,
    private readonly read: (bytes: Buffer, at: number) => T,
  ) {}

  /**
   * Values that are text. `encode` gets a whole batch and must write the same number of characters for each value: encoding once and
   * cutting is faster than encoding each value.
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
