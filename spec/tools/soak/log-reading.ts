/** Reads the requests of a log file, line by line; the first malformed line ends the reading. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline/promises";
import { expectLogLine, type LogLine } from "@stagecraft/framework/testing";
import { CANARY } from "./exact-client.js";

const ACCESS_LOG = "framework::observe::access_log";
const ID_OF_CLIENT = /^client-(\d+)-(\d+)$/;

export class LogReading {
  lines = 0;
  /** Access lines of each `<method> <status>`. */
  readonly series = new Map<string, number>();
  /** Access lines of each exact client. */
  readonly byClient: number[] = [];

  private constructor() {}

  /**
   * @throws AssertionError for a torn or malformed line; Error for a line that is missing, repeated or out of order, or that
   * holds a secret
   */
  static async of(file: string): Promise<LogReading> {
    const reading = new LogReading();
    for await (const line of createInterface({ input: createReadStream(file) })) {
      if (line.includes(CANARY)) throw new Error(`a line tells a secret: ${line}`);
      reading.take(expectLogLine(line));
    }
    return reading;
  }

  /** All access lines. */
  get requests(): number {
    return [...this.series.values()].reduce((sum, count) => sum + count, 0);
  }

  private take({ target, fields = {} }: LogLine): void {
    this.lines++;
    if (target !== ACCESS_LOG) return;
    const series = `${String(fields["method"])} ${String(fields["status"])}`;
    this.series.set(series, (this.series.get(series) ?? 0) + 1);
    this.follow(String(fields["request_id"]));
  }

  /** A client sends one request at a time, so its lines are in order, each once. */
  private follow(id: string): void {
    const [, client, request] = ID_OF_CLIENT.exec(id) ?? [];
    if (client === undefined) return;
    const expected = this.byClient[Number(client)] ?? 0;
    if (Number(request) !== expected) throw new Error(`the line of ${id} stands where that of ${expected} belongs`);
    this.byClient[Number(client)] = expected + 1;
  }
}
