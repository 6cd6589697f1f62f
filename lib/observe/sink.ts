/**
 * Where finished log lines go. Write one to send them elsewhere than to standard error.
 *
 * @example
 * class FileSink extends LogSink {
 *   writeLine(line: string) {
 *     fs.writeSync(this.fd, `${line}\n`);
 *   }
 * }
 */
export abstract class LogSink {
  /**
   * Takes one whole line, without a terminator; lines arrive in order, one call at a time. A sink that throws loses the
   * line, and nothing else happens.
   */
  abstract writeLine(line: string): void;
}
