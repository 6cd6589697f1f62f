/**
 * Runs the sample under load, with every stage on and its log in a file, and collects the log, the metrics, the responses and the memory.
 * `npm run soak` does it for minutes, a journey for seconds.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expectExposition } from "@stagecraft/framework/testing";
import { measure, type BenchRequest } from "../bench/load.js";
import { ExactClient } from "./exact-client.js";
import { LogReading } from "./log-reading.js";
import type { Memory } from "./memory-witness.js";
import { WatchedSample } from "./watched-sample.js";

export interface SoakOptions {
  readonly seconds: number;
  /** Clients that check every response. */
  readonly clients: number;
  /** Connections of wrk beside them; 0 for none. */
  readonly connections: number;
}

export interface Soaked {
  /** Responses that clients received, scrapes included. */
  readonly responses: number;
  /** Responses that wrk may have missed: the requests in flight at its end. */
  readonly onTheirWay: number;
  readonly reading: LogReading;
  /** `http_requests_total` in the last page, by `<method> <status>`. */
  readonly counted: ReadonlyMap<string, number>;
  /** Responses that each exact client received. */
  readonly byClient: readonly number[];
  /** At even intervals. */
  readonly memory: readonly Memory[];
}

const READINGS = 60;
const SLOWEST_READING_MS = 1000;

/** Requests of wrk in turn; it accepts every status. */
const REQUESTS: readonly BenchRequest[] = [
  { method: "GET", path: "/about", headers: {} },
  { method: "GET", path: "/about", headers: { "x-request-id": "not valid", traceparent: "not valid" } },
  {
    method: "POST",
    path: "/api/links",
    headers: { "content-type": "application/json", authorization: "Bearer of-a-program" },
    body: '{"target":"https://a.example"}',
  },
  { method: "GET", path: "/nowhere?token=secret", headers: {} },
  { method: "GET", path: "/favicon.svg", headers: { "accept-encoding": "gzip" } },
  {
    method: "POST",
    path: "/api/links",
    headers: { "content-type": "application/json", authorization: "Bearer of-a-program" },
    body: "{",
  },
];

/** After a failure the log file stays, and the error names its path. */
export async function soak(options: SoakOptions): Promise<Soaked> {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  const logFile = join(folder, "access.log");
  await using sample = await WatchedSample.start(logFile);
  const soaked = await soakWith(sample, logFile, options).catch((cause: unknown) => {
    throw new Error(`${String(cause)}; ${sample.outcome}; its log is ${logFile}`, { cause });
  });
  await rm(folder, { recursive: true });
  return soaked;
}

async function soakWith(sample: WatchedSample, logFile: string, options: SoakOptions): Promise<Soaked> {
  const { seconds, clients: count, connections } = options;
  const clients = Array.from({ length: count }, (_, number) => new ExactClient(sample.port, number));
  const watch = new Watch(sample, seconds);
  const { port } = sample;
  const wrk = connections === 0 ? undefined : measure({ port, requests: REQUESTS, seconds, connections });
  const [loaded] = await Promise.all([wrk, watch.run(), ...clients.map((client) => client.run(() => watch.hasEnded))]);
  const page = await watch.lastPage();
  await sample.kill();
  const byClient = clients.map(({ responses }) => responses);
  const reading = await LogReading.of(logFile);
  const responses = (loaded?.responses ?? 0) + watch.scrapes + byClient.reduce((sum, each) => sum + each, 0);
  return { responses, onTheirWay: connections, reading, counted: countersOf(page), byClient, memory: watch.memory };
}

/** Reads memory and metrics of the sample under load. */
class Watch {
  readonly memory: Memory[] = [];
  scrapes = 0;
  private readonly deadline: number;
  private readonly periodMs: number;

  constructor(
    private readonly sample: WatchedSample,
    seconds: number,
  ) {
    this.deadline = performance.now() + seconds * 1000;
    this.periodMs = Math.max(SLOWEST_READING_MS / 2, (seconds * 1000) / READINGS);
  }

  get hasEnded(): boolean {
    return performance.now() >= this.deadline;
  }

  async run(): Promise<void> {
    while (!this.hasEnded) {
      await pause(Math.min(this.periodMs, Math.max(0, this.deadline - performance.now())));
      this.memory.push(await this.sample.memory());
      expectExposition(await this.scrape());
    }
  }

  /** The page after all requests but the scrapes are counted. */
  async lastPage(): Promise<string> {
    let page = await this.scrape();
    for (let before = Number.NaN; total(countersOf(page)) !== before + 1; page = await this.scrape()) {
      before = total(countersOf(page));
    }
    return page;
  }

  private async scrape(): Promise<string> {
    this.scrapes++;
    return this.sample.metrics();
  }
}

function countersOf(page: string): ReadonlyMap<string, number> {
  const samples = page.matchAll(/^http_requests_total\{method="(\w+)",status="(\d+)"\} (\d+)$/gm);
  return new Map([...samples].map(([, method = "", status = "", value]) => [`${method} ${status}`, Number(value)]));
}

function total(counters: ReadonlyMap<string, number>): number {
  return [...counters.values()].reduce((sum, count) => sum + count, 0);
}
