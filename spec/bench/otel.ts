/**
 * What one exported span a request costs: through the telemetry's layer, and with the SDK called by hand in the same server. Cost is
 * processor time per answer beyond that of the server without export; servers take turns, round after round; medians of the rounds.
 *
 * @example
 * node dist/spec/bench/otel.js --rounds 9 --seconds 2
 */

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { measure } from "./load.js";
import { parseOptions, type BenchOptions } from "./options.js";
import { pinned, ROOT } from "./places.js";
import { startServer, type BenchServer } from "./server.js";
import { markdownTable, median } from "./table.js";

export const OTEL = {
  name: "otel",
  what: "one exported span a request, in microseconds of processor time",
  run: runOtel,
} as const;

const VARIANTS = ["no export", "by hand", "telemetry"] as const;
const OTHER_CORE = 1;
const COLUMNS = ["spans", "CPU µs/request", "µs for the span", "ratio to by hand", "delivered"];
const REQUEST = {
  method: "GET",
  path: "/",
  headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
};

interface Turn {
  /** Microseconds of processor time per answer. */
  readonly cost: number;
  /** Spans that reached the collector, per answer. */
  readonly delivered: number;
}

/** @returns the table as markdown */
export async function runOtel(options: BenchOptions): Promise<string> {
  const collector = await SpanCount.start();
  process.env["BENCH_COLLECTOR"] = collector.endpoint;
  const servers: BenchServer[] = [];
  try {
    for (const variant of VARIANTS) servers.push(await startServer(contender(variant), variant));
    const rounds: (readonly Turn[])[] = [];
    for (let round = -1; round < options.rounds; round += 1) {
      const turns = await oneRound(servers, collector, options);
      if (round >= 0) rounds.push(turns);
    }
    return table(rounds);
  } finally {
    for (const server of servers) await server.stop();
    collector.stop();
  }
}

function contender(name: string): { readonly name: string; readonly script: string } {
  return { name, script: join(ROOT, "dist/spec/bench/otel-server.js") };
}

async function oneRound(
  servers: readonly BenchServer[],
  collector: SpanCount,
  { seconds, connections, warmUp }: BenchOptions,
): Promise<readonly Turn[]> {
  const turns: Turn[] = [];
  for (const server of servers) {
    const load = { port: server.port, requests: [REQUEST], connections };
    await measure({ ...load, seconds: warmUp });
    const [cpu, spans] = [server.cpuSeconds(), await collector.count()];
    const { answers } = await measure({ ...load, seconds });
    const cost = ((server.cpuSeconds() - cpu) / answers) * 1e6;
    turns.push({ cost, delivered: ((await collector.count()) - spans) / answers });
  }
  return turns;
}

/** Per round, because what the machine does meanwhile differs from round to round. */
function table(rounds: readonly (readonly Turn[])[]): string {
  const over = (pick: (turns: readonly Turn[]) => number): number => median(rounds.map(pick));
  const rows = VARIANTS.map((variant, at) => {
    const span = over((turns) => spanCost(turns, at));
    return [
      variant,
      over((turns) => turns[at]?.cost ?? Number.NaN).toFixed(1),
      span.toFixed(1),
      at === 0 ? "" : (span / over((turns) => spanCost(turns, 1))).toFixed(2),
      `${(over((turns) => turns[at]?.delivered ?? 0) * 100).toFixed(0)} %`,
    ];
  });
  return markdownTable(COLUMNS, rows);
}

function spanCost(turns: readonly Turn[], at: number): number {
  return (turns[at]?.cost ?? Number.NaN) - (turns[0]?.cost ?? Number.NaN);
}

/** The collector's process, asked how many spans it has. */
class SpanCount {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    readonly endpoint: string,
  ) {}

  static async start(): Promise<SpanCount> {
    const [command, args] = pinned(OTHER_CORE, process.execPath, [join(ROOT, "dist/spec/bench/otel-collector.js")]);
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    const reader: Interface = createInterface({ input: child.stdout });
    const lines = reader[Symbol.asyncIterator]();
    const { value } = await lines.next();
    return new SpanCount(child, lines, `http://127.0.0.1:${/^ready (\d+)$/.exec(String(value))?.[1]}`);
  }

  async count(): Promise<number> {
    this.child.stdin?.write("\n");
    const { value } = await this.lines.next();
    return Number(/^spans (\d+)$/.exec(String(value))?.[1]);
  }

  stop(): void {
    this.child.kill("SIGKILL");
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await runOtel(parseOptions(process.argv.slice(2), [OTEL.name])));
}
