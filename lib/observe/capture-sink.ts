/**
 * Keeps log lines in memory, for tests. Not for production: nothing ever leaves it.
 *
 * @example
 * const sink = new CaptureSink();
 * tracing.withSubscriber(tracing.registry().with(new JsonLog(sink)), () => log.info("hello"));
 * sink.lines().length; // 1
 */
import { LogSink } from "./sink.js";

export class CaptureSink extends LogSink {
  readonly #lines: string[] = [];

  override writeLine(line: string): void {
    this.#lines.push(line);
  }

  /** The lines so far, in order; a copy. */
  lines(): string[] {
    return [...this.#lines];
  }

  /** The lines so far as one text, separated by newlines. */
  transcript(): string {
    return this.#lines.join("\n");
  }
}
