/**
 * Writes log lines to standard error, each with one synchronous write. When `writeLine` returns, the operating system has the line, so
 * neither `process.exit` nor a crash can lose it or cut it.
 *
 * If the reader of a pipe does not read, the process waits for it, up to one second. After that the sink loses whole lines without waiting,
 * until the reader reads again; then it logs the number of lost lines. If your process must never wait, write a sink that drops
 * lines instead.
 */
import { fstatSync, writeSync } from "node:fs";
import { tracing } from "../../tracing/tracing.js";
import { LogSink } from "./sink.js";

const log = tracing.target("framework::observe::stderr_sink");

const STANDARD_ERROR = 2;
/** The longest wait for a full pipe. */
const MAX_WAIT_MS = 1000;
const SLEEP_MS = 5;
const EMPTY = new Uint8Array();
const NEWLINE = 0x0a;
const LINE_END = Uint8Array.of(NEWLINE);
/** Lines up to this length share one buffer. */
const MAX_SHARED_LENGTH = 5000;
const MAX_BYTES_PER_UNIT = 3;

export class StderrSink extends LogSink {
  readonly #fd: number;
  // The unwritten end of a line. It is written before the next line, so that no line is ever cut. After an error, such as a full disk, it
  // is only the newline, so that the next line does not continue this one.
  #rest: Uint8Array = EMPTY;
  #buffer: Buffer | undefined;
  // A wait ended without success, and no byte was written since.
  #isStalled = false;
  #lostLines = 0;

  /** @param fd Another descriptor than standard error; for tests. */
  constructor(fd: number = STANDARD_ERROR) {
    super();
    this.#fd = fd;
    if (fd <= STANDARD_ERROR && isPipe(fd)) makeNonBlocking(fd);
  }

  override writeLine(line: string): void {
    try {
      if (line.length > MAX_SHARED_LENGTH || this.#rest.length > 0) this.#writeAfterRest(Buffer.from(`${line}\n`));
      else this.#writeShort(line);
      if (this.#lostLines > 0 && !this.#isStalled) this.#logLostLines();
    } catch {
      // Standard error is closed or broken, so there is nowhere to report it.
    }
  }

  /**
   * Writes whole lines, each with its newline, without waiting. False if the pipe is full and none of them is written. What is left of them
   * is written before the next line of this sink; an offer of nothing is true if nothing is left.
   *
   * @internal
   */
  offer(lines: Uint8Array = EMPTY): boolean {
    try {
      if (this.#rest.length > 0) {
        const written = write(this.#fd, this.#rest, 0, this.#rest.length);
        this.#advance(this.#rest, written);
        if (this.#rest.length > 0) return false;
      }
      if (lines.length === 0) return true;
      const written = write(this.#fd, lines, 0, lines.length);
      if (written > 0) this.#advance(lines, written);
      return written > 0;
    } catch {
      // There is no reader: the lines are lost.
      if (this.#rest.length > 0) this.#rest = LINE_END;
      return true;
    }
  }

  #advance(bytes: Uint8Array, written: number): void {
    this.#rest = bytes.subarray(written);
    if (written > 0) this.#isStalled = false;
  }

  /** The usual case: one write takes the whole line. */
  #writeShort(line: string): void {
    const buffer = (this.#buffer ??= Buffer.allocUnsafeSlow(MAX_BYTES_PER_UNIT * MAX_SHARED_LENGTH + 1));
    const size = buffer.write(line);
    buffer[size] = NEWLINE;
    const written = write(this.#fd, buffer, 0, size + 1);
    if (written > size) this.#isStalled = false;
    else this.#keepWriting(Buffer.from(buffer.subarray(0, size + 1)), written);
  }

  #writeAfterRest(bytes: Uint8Array): void {
    if (this.#rest.length > 0) this.#keepWriting(this.#rest, 0, true);
    if (this.#rest.length === 0) this.#keepWriting(bytes, 0);
    else this.#lostLines++;
  }

  /**
   * Writes until all is written or the wait has ended. The rest of a line that is partly written stays for the next call; any other line is
   * lost.
   */
  #keepWriting(bytes: Uint8Array, from: number, isStarted = from > 0): void {
    let position = from;
    let deadline = performance.now() + (this.#isStalled ? 0 : MAX_WAIT_MS);
    try {
      while (position < bytes.length) {
        const written = write(this.#fd, bytes, position, bytes.length - position);
        position += written;
        if (written > 0) {
          if (this.#isStalled) deadline = performance.now() + MAX_WAIT_MS;
          this.#isStalled = false;
        } else if (!sleep(deadline)) {
          this.#isStalled = true;
          break;
        }
      }
      if (position === 0 && !isStarted) this.#lostLines++;
      this.#rest = isStarted || position > 0 ? bytes.subarray(position) : EMPTY;
    } catch (error) {
      this.#rest = isStarted || position > 0 ? LINE_END : EMPTY;
      throw error;
    }
  }

  #logLostLines(): void {
    const lines = this.#lostLines;
    this.#lostLines = 0;
    // An event that is emitted while a line is written is dropped, so this one comes later.
    queueMicrotask(() => log.warn("log lines lost", { lines }));
  }
}

/** True for a pipe or a socket, whose reader may stop reading. */
export function isPipe(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    // The descriptor is closed.
    return false;
  }
}

/** A blocking pipe can stop the process for any time. Node makes standard error non-blocking when `process.stderr` is first read. */
function makeNonBlocking(fd: number): void {
  void (fd === STANDARD_ERROR ? process.stderr : process.stdout);
}

/** Returns the number of written bytes; 0 if the pipe is full. */
function write(fd: number, bytes: Uint8Array, from: number, count: number): number {
  try {
    return writeSync(fd, bytes, from, count);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0;
    throw error;
  }
}

/** Sleeps for a short time without using the processor; returns `false` if the deadline has passed. */
function sleep(deadline: number): boolean {
  if (performance.now() >= deadline) return false;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SLEEP_MS);
  return true;
}
