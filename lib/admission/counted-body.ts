/**
 * A request's body whose length is not known beforehand, counted as it comes in: whoever reads it beyond the limit, by whatever means,
 * gets a `PayloadTooLargeError` from the stream. As long as nobody reads, nothing happens: at most one buffer's worth waits.
 */
import type { IncomingMessage } from "node:http";
import { PayloadTooLargeError } from "../errors/framework-error.js";
import { Extension } from "../http/extension.js";
import { spareConnection } from "../http/unread-body.js";

export class CountedBody {
  /** The count of a request's body, where it is counted. */
  static readonly ofRequest = new Extension<CountedBody>("counted body");

  private isBeingRead = false;
  private seen: number;

  /** @param announced the whole length, where it is known after all and only not yet whether it is too much */
  constructor(
    incoming: IncomingMessage,
    private limit: number,
    announced: number | undefined,
  ) {
    this.seen = announced ?? 0;
    // A reader that is refused must still be answered.
    spareConnection(incoming);
    if (announced === undefined) this.countWhatComes(incoming);
    this.watchReaders(incoming);
  }

  /** Changes the limit; whether what was read already is within it. */
  allow(limit: number): boolean {
    this.limit = limit;
    return !this.isBeingRead || this.seen <= limit;
  }

  private countWhatComes(incoming: IncomingMessage): void {
    const push = incoming.push.bind(incoming);
    incoming.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      this.seen += chunk?.length ?? 0;
      if (!this.isBeingRead || this.seen <= this.limit) return push(chunk, encoding);
      this.refuse(incoming);
      return false;
    };
  }

  /** All ways of reading a stream go through its `read`. */
  private watchReaders(incoming: IncomingMessage): void {
    const read = incoming.read.bind(incoming);
    incoming.read = (size?: number): unknown => {
      this.isBeingRead = true;
      if (this.seen <= this.limit) return read(size);
      this.refuse(incoming);
      return null;
    };
  }

  private refuse(incoming: IncomingMessage): void {
    incoming.destroy(new PayloadTooLargeError(`The request body is larger than ${this.limit} bytes.`));
  }
}
