/**
 * The destination of finished log lines. Extend it to send them to another destination than standard error, and provide the class: the
 * application then logs there as JSON, with secrets redacted. The lines are filtered by the `Filter` that the application provides, else by
 * the installed filter.
 *
 * A class can inject `LogSink`. It gets the sink that the application provides, else the sink of the installed log. A line that the class
 * itself writes there is not redacted.
 *
 * @example
 * class FileSink extends LogSink {
 *   private readonly file = openSync("shop.log", "a");
 *   writeLine(line: string) {
 *     writeSync(this.file, `${line}\n`);
 *   }
 *   dispose() {
 *     closeSync(this.file); // after the application's last line
 *   }
 * }
 * Application.create(ShopModule).provide(provide(LogSink).useClass(FileSink));
 */
export abstract class LogSink {
  /**
   * Takes one whole line without a line terminator. Lines arrive in order, one call at a time. If the method throws, the line is lost, and
   * logging continues.
   *
   * Events that a sink emits inside this method are dropped. Events that it emits later, from a timer or a microtask, are written to it as
   * all others: a sink that emits an event for each line never stops.
   */
  abstract writeLine(line: string): void;
}

/**
 * Keeps log lines in memory, for tests. Not for production: it never drops a line.
 *
 * @example
 * const sink = new CaptureSink();
 * tracing.withSubscriber(tracing.registry().with(new JsonLog(sink)), () => log.info("hello"));
 * sink.lines().length; // 1
 */
export class CaptureSink extends LogSink {
  readonly #lines: string[] = [];

  override writeLine(line: string): void {
    this.#lines.push(line);
  }

  /** A copy of the lines so far, in order. */
  lines(): string[] {
    return [...this.#lines];
  }

  /** The lines so far as one text, separated by newlines. */
  transcript(): string {
    return this.#lines.join("\n");
  }
}
