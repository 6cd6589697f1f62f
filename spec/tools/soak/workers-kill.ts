/**
 * Workers under load while one after the other is killed, ended or stopped at random, and a Prometheus reads their metrics. A request may be
 * lost only if the process that had taken it was killed, and no counter may fall.
 */
import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { kill, WorkersUnderTest } from "../../app/workers/workers-under-test.js";
import { newFolder } from "../../support/new-folder.js";
import { Prometheus } from "../../support/prometheus.js";
import { stopProcesses } from "../../support/stop-process.js";
import { until } from "../../support/until.js";
import { TakenConnections } from "./taken-connections.js";
import { SteadyClient, type ClientKind, type Loss } from "./workers-client.js";
import { startWrk, type WrkFigures } from "./wrk.js";

export interface KillOptions {
  readonly seconds: number;
  /** Connections of wrk; 0 for none. */
  readonly connections: number;
  readonly say: (line: string) => void;
}

export interface KillFigures {
  readonly troubles: Readonly<Record<Trouble, number>>;
  /** Received by the clients that check each response. */
  readonly answers: number;
  readonly refusals: number;
  readonly losses: readonly Loss[];
  /** Losses of which no killed process had taken the connection. */
  readonly unexplained: readonly string[];
  /** The requests of these clients in the last page of metrics. */
  readonly counted: number;
  /** The fewest that the page may count: without the last seconds of workers that did not report. */
  readonly leastCounted: number;
  readonly unreported: number;
  readonly reportsLost: number;
  readonly scrapes: number;
  readonly failedScrapes: number;
  /** Series of counters and histograms, and those that fell. */
  readonly series: number;
  readonly fallen: readonly string[];
  readonly wrk: WrkFigures | undefined;
  readonly wrkCounted: number;
}

const TROUBLES = ["SIGKILL", "SIGTERM", "SIGSTOP"] as const;
type Trouble = (typeof TROUBLES)[number];

/** Far above the pauses of the clients, also on a busy machine. */
const DELAY_MS = 2000;
const WORKERS = 3;
const LONGEST_PAUSE_MS = 4000;
/** A worker reports each second. A busy machine may delay that. */
const UNREPORTED_MS = 5000;

const OPTIONS = { unresponsiveAfterMs: 2000, maxRestartsPerMinute: 1000 };

const PID = { path: "/pid", method: "GET" } as const;
const SLOW = { path: "/slow", method: "GET" } as const;
const CLIENTS: readonly ClientKind[] = [
  { keepsAlive: true, requests: [PID], pauseMs: 0 },
  { keepsAlive: true, requests: [PID], pauseMs: 20 },
  { keepsAlive: false, requests: [PID], pauseMs: 0 },
  { keepsAlive: false, requests: [PID], pauseMs: 20 },
  { keepsAlive: true, requests: [SLOW, PID], pauseMs: 0 },
  { keepsAlive: false, requests: [SLOW, PID], pauseMs: 0 },
];

function createAgent(): http.Agent {
  return new http.Agent({ keepAlive: true, maxSockets: 1 });
}

export async function killWorkers(options: KillOptions): Promise<KillFigures> {
  using folder = newFolder();
  const taken = new TakenConnections(folder.path);
  await using workers = await WorkersUnderTest.start(WORKERS, {
    OPTIONS: JSON.stringify(OPTIONS),
    TAKEN: taken.file,
    NODE_ENV: "production",
    DELAY: String(DELAY_MS),
  });
  await using prometheus = await Prometheus.scraping(`127.0.0.1:${workers.parent.port}`);
  await prometheus.until(
    () => prometheus.query("up == 1"),
    (up) => up.length === 1,
  );
  const run = new KillRun(workers, taken, options);
  await run.run();
  const endedAt = Date.now() / 1000;
  await prometheus.until(
    () => prometheus.query("timestamp(up == 1)"),
    (times) => times.some(({ value: [, time] }) => Number(time) > endedAt),
  );
  return { ...(await run.figures()), ...(await readPrometheus(prometheus)) };
}

class KillRun {
  private readonly troubles: Record<Trouble, number> = { SIGKILL: 0, SIGTERM: 0, SIGSTOP: 0 };
  private readonly killed = new Set<number>();
  private readonly told = new Set<number>();
  private readonly owners: { readonly loss: Loss; readonly pid: number | undefined }[] = [];
  private readonly clients: readonly SteadyClient[];
  private wrk: WrkFigures | undefined;
  private isOver = false;

  constructor(
    private readonly workers: WorkersUnderTest,
    taken: TakenConnections,
    private readonly options: KillOptions,
  ) {
    const send = (request: http.RequestOptions): http.ClientRequest =>
      http.request({ host: "127.0.0.1", port: workers.parent.port, ...request });
    const onLoss = (loss: Loss): void => void this.owners.push({ loss, pid: taken.find(loss.port) });
    this.clients = CLIENTS.map((kind) => new SteadyClient(send, kind, onLoss));
  }

  async run(): Promise<void> {
    const { seconds, connections } = this.options;
    const { port } = this.workers.parent;
    const wrk = connections === 0 ? undefined : startWrk({ port, path: "/empty", seconds, connections });
    const loads = this.clients.map((client) => client.run(createAgent, () => this.isOver));
    await this.makeTrouble(performance.now() + seconds * 1000);
    this.isOver = true;
    await Promise.all(loads);
    this.wrk = await wrk;
  }

  /** Until the deadline, and each kind of trouble once. */
  private async makeTrouble(deadline: number): Promise<void> {
    for (let count = 0; performance.now() < deadline || count < TROUBLES.length; count++) {
      const pid = await this.chooseWorker();
      const trouble = TROUBLES[count < TROUBLES.length ? count : Math.floor(Math.random() * TROUBLES.length)];
      if (trouble === undefined) continue;
      this.troubles[trouble] += 1;
      this.told.add(pid);
      if (trouble !== "SIGTERM") this.killed.add(pid);
      this.options.say(`${trouble} to ${pid}`);
      if (trouble === "SIGSTOP") stopProcesses([pid]);
      else kill(pid, trouble);
      await pause(Math.random() * LONGEST_PAUSE_MS);
    }
    // All that has happened to the workers is over.
    await until(() => this.workers.listPids().every((pid) => !this.told.has(pid)));
  }

  /** One that responds, and had no trouble yet. */
  private async chooseWorker(): Promise<number> {
    let pid = 0;
    await until(async () => {
      pid = await this.workers.ask("/pid/other").then(
        ({ text }) => Number(text),
        () => 0,
      );
      return pid > 0 && !this.told.has(pid);
    });
    return pid;
  }

  async figures() {
    const { clients, troubles, wrk } = this;
    const page = await this.lastPage();
    const answers = clients.reduce((sum, each) => sum + each.answers, 0);
    return {
      troubles,
      answers,
      refusals: clients.reduce((sum, { refusals }) => sum + refusals.length, 0),
      losses: this.owners.map(({ loss }) => loss),
      unexplained: this.owners
        .filter(({ pid }) => pid === undefined || !this.killed.has(pid))
        .map(({ loss, pid }) => `${JSON.stringify(loss)} taken by ${pid ?? "no process"}`),
      counted: countRequests(page, "/pid") + countRequests(page, "/slow"),
      leastCounted: answers - this.countUnreported(),
      unreported: readValue(page, "framework_workers_unreported_total"),
      reportsLost: readValue(page, "framework_workers_reports_lost_total"),
      wrk,
      wrkCounted: countRequests(page, "/empty"),
    };
  }

  /** The answers of the last seconds of killed workers. */
  private countUnreported(): number {
    let sum = 0;
    for (const pid of this.killed) {
      const times = this.clients.flatMap((client) => client.times.get(pid) ?? []);
      const last = times.reduce((latest, time) => Math.max(latest, time), 0);
      sum += times.filter((time) => time > last - UNREPORTED_MS).length;
    }
    return sum;
  }

  /** All workers are ready, and have reported. */
  private async lastPage(): Promise<string> {
    let page = "";
    await until(async () => {
      const before = page.replaceAll(/^.*\/metrics.*$/gm, "");
      await pause(1500);
      page = (await this.workers.ask("/metrics")).text;
      const [now, then] = [page, before].map((each) => countRequests(each, "/pid") + countRequests(each, "/empty"));
      return now === then && page.includes(`framework_workers{state="ready"} ${WORKERS}\n`);
    });
    return page;
  }
}

function countRequests(page: string, route: string): number {
  const samples = page.matchAll(/^http_requests_total\{(.*)\} (\d+)$/gm);
  return [...samples]
    .filter(([, labels = ""]) => labels.includes(`route="${route}"`))
    .reduce((sum, [, , value]) => sum + Number(value), 0);
}

function readValue(page: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(page)?.[1]);
}

const COUNTERS = '{__name__=~".+_(total|count|sum|bucket)"}';

async function readPrometheus(prometheus: Prometheus) {
  const value = async (query: string): Promise<number> => Number((await prometheus.query(query))[0]?.value[1] ?? 0);
  const names = await prometheus.query(`count by (__name__) (${COUNTERS})`);
  const fallen: string[] = [];
  for (const { metric } of names) {
    const name = metric["__name__"] ?? "";
    for (const { metric: labels, value: found } of await prometheus.query(`resets(${name}[1h]) > 0`))
      fallen.push(`${name} ${JSON.stringify(labels)} fell ${found[1]} times`);
  }
  return {
    scrapes: await value("sum_over_time(up[1h])"),
    failedScrapes: await value("count_over_time(up[1h]) - sum_over_time(up[1h])"),
    series: names.reduce((sum, { value: found }) => sum + Number(found[1]), 0),
    fallen,
  };
}
