/**
 * A file that changes from one look to the next, as it is in the moment it is opened: what the descriptor tells is what is sent, and
 * nothing has to agree with an earlier look any more. Released once, whether it was read or not.
 */
import { closeFile } from "./static-disk.js";
import type { StaticFile } from "./static-file.js";
import { FileStream, type Section } from "./static-stream.js";

export class OpenFile {
  private isTaken = false;

  constructor(
    private readonly descriptor: number,
    readonly file: StaticFile,
  ) {}

  /** To be called once at most; the stream closes the descriptor. */
  read(section: Section): Buffer | FileStream {
    if (section.length === 0) return Buffer.alloc(0);
    this.isTaken = true;
    return new FileStream(this.descriptor, section);
  }

  async release(): Promise<void> {
    if (!this.isTaken) await closeFile(this.descriptor);
  }
}
