/**
 * Passes on what the workers write to standard output and standard error, in whole lines. A pipe takes a long line in parts, and the lines
 * of several processes would mix there, so the parent is the only process that writes to it. A file or a terminal is inherited.
 *
 * While the reader of a pipe is slow, the parent does not read from the workers, and they wait as for a pipe without a parent. What the
 * parent has not passed on when it is killed is lost.
 */
import cluster from "node:cluster";
import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import type { LogSink } from "../../observe/logging/sink.js";
import { isPipe, StderrSink } from "../../observe/logging/stderr-sink.js";
import { type Clock, type Timer, within } from "../../runtime/clock.js";
import type { WorkerObserver } from "../../server/workers/supervisor.js";
import type { LinkedWorker } from "../../server/workers/worker-process.js";

const DESCRIPTORS = [1, 2] as const;
const STREAMS = { 1: "stdout", 2: "stderr" } as const;
/** A longer line is divided. */
const MAX_LINE_BYTES = 1_048_576;
const MIN_RETRY_MS = 1;
const MAX_RETRY_MS = 50;
/** The time for the last lines at the end of the parent. */
const CLOSE_MS = 1000;
const LINE_END = Buffer.from("\n");

export class WorkerOutput implements WorkerObserver {
  private readonly pipes = new Map<"stdout" | "stderr", PipeWriter>();

  /** @param log the sink of the parent, which writes to standard error as well */
  constructor(clock: Clock, log: LogSink | undefined) {
    const piped = DESCRIPTORS.filter(isPipe);
    if (piped.length === 0) return;
    const isOnePipe = piped.length === 2 && identify(1) === identify(2);
    const toErrors = new PipeWriter(clock, () => (log instanceof StderrSink ? log : new StderrSink()));
    for (const descriptor of piped) {
      const isShared = descriptor === 2 || isOnePipe;
      const writer = isShared ? toErrors : new PipeWriter(clock, () => new StderrSink(descriptor));
      this.pipes.set(STREAMS[descriptor], writer);
    }
    const stdio = DESCRIPTORS.map((descriptor) => (piped.includes(descriptor) ? "pipe" : "inherit"));
    cluster.setupPrimary({ stdio: ["inherit", ...stdio, "ipc"] });
  }

  forked({ id }: LinkedWorker): void {
    const child = cluster.workers?.[id]?.process;
    for (const [name, writer] of this.pipes) {
      const stream = child?.[name];
      if (stream) writer.follow(stream);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...new Set(this.pipes.values())].map((writer) => writer.close()));
  }
}

/** Whole lines of a stream. */
interface Block {
  readonly lines: Uint8Array;
  readonly from: Readable;
}

/** The only writer to a pipe. */
class PipeWriter {
  /** What the pipe has not taken. A stream with a block waits, so that each stream has its share. */
  private readonly blocks: Block[] = [];
  private readonly streams = new Set<Readable>();
  private retry: Timer | undefined;
  private retryMs = MIN_RETRY_MS;
  private createdSink: StderrSink | undefined;
  private resolveDone: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly createSink: () => StderrSink,
  ) {}

  follow(stream: Readable): void {
    let line: Uint8Array[] = [];
    let size = 0;
    const end = (...parts: readonly Uint8Array[]): void => {
      this.blocks.push({ lines: Buffer.concat([...line, ...parts]), from: stream });
      line = [];
      size = 0;
    };
    this.streams.add(stream);
    stream.on("data", (chunk: Buffer) => {
      const afterLine = chunk.lastIndexOf(LINE_END) + 1;
      if (afterLine > 0) end(chunk.subarray(0, afterLine));
      if (afterLine < chunk.length) line.push(chunk.subarray(afterLine));
      size += chunk.length - afterLine;
      if (size >= MAX_LINE_BYTES) end(LINE_END);
      this.write();
    });
    // The stream of a process that was killed ends as any other. The line may be cut.
    stream
      .on("error", () => undefined)
      .once("close", () => {
        this.streams.delete(stream);
        if (size > 0) end(LINE_END);
        this.write();
      });
  }

  /** Resolves when all that the workers have written was passed on, or after the time limit. */
  async close(): Promise<void> {
    await within(
      this.clock,
      CLOSE_MS,
      new Promise<void>((resolve) => {
        this.resolveDone = resolve;
        this.write();
      }),
    );
    // Another process that a worker has started may have the other end.
    for (const stream of this.streams) stream.destroy();
  }

  /** Writes as much as the pipe takes now. */
  private write(): void {
    this.retry?.cancel();
    const sink = (this.createdSink ??= this.createSink());
    const { length } = this.blocks;
    while (this.blocks[0] !== undefined && sink.offer(this.blocks[0].lines)) this.blocks.shift()?.from.resume();
    for (const { from } of this.blocks) from.pause();
    const isDone = this.blocks.length === 0 && sink.offer();
    if (isDone) {
      this.retryMs = MIN_RETRY_MS;
      if (this.streams.size === 0) this.resolveDone?.();
      return;
    }
    this.retryMs = this.blocks.length < length ? MIN_RETRY_MS : Math.min(2 * this.retryMs, MAX_RETRY_MS);
    this.retry = this.clock.setTimeout(() => this.write(), this.retryMs, { background: true });
  }
}

/** The same text for two descriptors of one pipe. */
function identify(descriptor: number): string {
  const { dev, ino } = fstatSync(descriptor);
  return `${dev} ${ino}`;
}
