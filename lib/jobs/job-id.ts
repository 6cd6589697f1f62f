/**
 * The ids of jobs: UUIDs of version 7 (RFC 9562 section 5.7). The ids of one process increase, so that jobs of the same millisecond keep
 * their order.
 */
import { RandomBatch } from "../runtime/random-batch.js";

const MAX_COUNT = 0xfff;
const tails = RandomBatch.ofText(8, 128, (bytes) => {
  for (let at = 0; at < bytes.length; at += 8) bytes[at] = ((bytes[at] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex");
});

export class JobIds {
  private ms = 0;
  private count = 0;

  /** @param now milliseconds since the Unix epoch; a clock that goes back does not make smaller ids */
  next(now: number): string {
    if (now > this.ms) {
      this.ms = now;
      this.count = 0;
    } else if (this.count === MAX_COUNT) {
      this.ms += 1;
      this.count = 0;
    } else this.count += 1;
    const time = this.ms.toString(16).padStart(12, "0");
    const tail = tails.next();
    const count = this.count.toString(16).padStart(3, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  }
}
