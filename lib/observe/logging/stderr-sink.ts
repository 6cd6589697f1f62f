/**
 * Writes log lines to standard error, each with one synchronous write: when `writeLine` returns, the line is with the
 * operating system, and neither `process.exit` nor a crash can lose or tear it.
 *
 * The price is that a reader who does not keep up is waited for, up to a second. One who has taken nothing in that time is
 * not waited for again before something was taken: meanwhile lines are lost, whole ones, and how many is said as soon as one
 * gets through. Where nothing may ever wait, write a sink that drops instead.
 */
import { fstatSync, writeSync } from "node:fs";
import { tracing } from "../../tracing/tracing.js";
import { LogSink } from "./sink.js";

const log = tracing.target("framework::observe::stderr_sink");

const STANDARD_ERROR = 2;
/** How long a full pipe is waited for, in milliseconds, and how long each nap in between is. */
const PATIENCE_MS = 1000;
const NAP_MS = 5;
const NOTHING = new Uint8Array();
const NEWLINE = 0x0a;
const LINE_END = Uint8Array.of(NEWLINE);
/** Lines of at most so many characters, which take at most three bytes each, share a buffer. */
const SMALL = 5000;
const MOST_BYTES = 3;

export class StderrSink extends LogSink {
  readonly #fd: number;
  // What of a line is left when patience ran out in the middle of it. It goes first, so that no line is ever torn. Of one that
  // could not be finished, for a disk is full, it is the end, so that no other is lost with it.
  #rest: Uint8Array = NOTHING;
  #buffer: Buffer | undefined;
  // Patience ran out, and nothing was taken since.
  #isStalled = false;
  #lost = 0;

  /** @param fd Another descriptor than standard error; for tests. */
  constructor(fd: number = STANDARD_ERROR) {
    super();
    this.#fd = fd;
    if (fd === STANDARD_ERROR && isPipe(fd)) neverBlock();
  }

  override writeLine(line: string): void {
    try {
      if (line.length > SMALL || this.#rest.length > 0) this.#writeInTurn(Buffer.from(`${line}\n`));
      else this.#writeAtOnce(line);
      if (this.#lost > 0 && !this.#isStalled) this.#tellOfLost();
    } catch {
      // Standard error is closed or broken: there is nobody left to tell.
    }
  }

  /** The usual case: one write takes it all. */
  #writeAtOnce(line: string): void {
    const buffer = (this.#buffer ??= Buffer.allocUnsafeSlow(MOST_BYTES * SMALL + 1));
    const size = buffer.write(line);
    buffer[size] = NEWLINE;
    const written = write(this.#fd, buffer, 0, size + 1);
    if (written > size) this.#isStalled = false;
    else this.#keepWriting(Buffer.from(buffer.subarray(0, size + 1)), written);
  }

  #writeInTurn(bytes: Uint8Array): void {
    if (this.#rest.length > 0) this.#keepWriting(this.#rest, 0, true);
    if (this.#rest.length === 0) this.#keepWriting(bytes, 0);
    else this.#lost++;
  }

  /** Until all is written or time is up. A line that is begun leaves its rest; one that is not is lost. */
  #keepWriting(bytes: Uint8Array, from: number, begun = from > 0): void {
    let position = from;
    let deadline = performance.now() + (this.#isStalled ? 0 : PATIENCE_MS);
    try {
      while (position < bytes.length) {
        const written = write(this.#fd, bytes, position, bytes.length - position);
        position += written;
        if (written > 0) {
          if (this.#isStalled) deadline = performance.now() + PATIENCE_MS;
          this.#isStalled = false;
        } else if (!nap(deadline)) {
          this.#isStalled = true;
          break;
        }
      }
      if (position === 0 && !begun) this.#lost++;
      this.#rest = begun || position > 0 ? bytes.subarray(position) : NOTHING;
    } catch (error) {
      this.#rest = begun || position > 0 ? LINE_END : NOTHING;
      throw error;
    }
  }

  /** A moment later: what is said while a line is written is dropped. */
  #tellOfLost(): void {
    const lines = this.#lost;
    this.#lost = 0;
    queueMicrotask(() => log.warn("log lines lost", { lines }));
  }
}

/** What a supervisor reads from, or does not. */
function isPipe(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    // It is closed.
    return false;
  }
}

/** A pipe that blocks would hold up the process for as long as its reader likes. Once it is looked at, Node's standard error does not. */
function neverBlock(): void {
  void process.stderr;
}

/** How many bytes were taken; 0 where the pipe is full. */
function write(fd: number, bytes: Uint8Array, from: number, count: number): number {
  try {
    return writeSync(fd, bytes, from, count);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0;
    throw error;
  }
}

/** Sleeps a little without turning the processor; `false` once the deadline has passed. */
function nap(deadline: number): boolean {
  if (performance.now() >= deadline) return false;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, NAP_MS);
  return true;
}
