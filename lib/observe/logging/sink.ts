/**
 * Where finished log lines go. Write one to send them elsewhere than to standard error, and provide it: the application then logs there, as
 * JSON with its secrets withheld, by the `Filter` it provides, else by the one that is installed.
 *
 * Injectable wherever the application uses it. A class that asks for it gets what the application writes to, which is the installed log's
 * unless one is provided; what it writes itself goes out as it is, with nothing withheld.
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

/**
 * Where finished log lines go. Write one to send them elsewhere than to standard error, and provide it: the application then logs there, as
 * JSON with its secrets withheld, by the `Filter` it provides, else by the one that is installed.
 *
 * Injectable wherever the application uses it. A class that asks for it gets what the application writes to, which is the installed log's
 * unless one is provided; what it writes itself goes out as it is, with nothing withheld.
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
   * Takes one whole line, without a terminator; lines arrive in order, one call at a time. A sink that throws loses the
   * line, and nothing else happens. What it logs itself meanwhile is dropped; what it logs later, from a timer or a microtask, is a line
   * like any other and comes back to it, so a sink that logs of every line never ends.
   */
  abstract writeLine(line: string): void;
}

/**
 * Keeps log lines in memory, for tests. Not for production: nothing ever leaves it.
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

  /** The lines so far, in order; a copy. */
  lines(): string[] {
    return [...this.#lines];
  }

  /** The lines so far as one text, separated by newlines. */
  transcript(): string {
    return this.#lines.join("\n");
  }
}
