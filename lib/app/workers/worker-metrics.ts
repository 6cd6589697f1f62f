/**
 * The metrics of a worker: it reports the changes of its registry to the parent each second and after its drain, and responds to a scrape
 * with the text of the parent, after a report. One report or text is on its way at a time, so a slow parent costs no memory.
 */
import { UnavailableError } from "../../errors/framework-error.js";
import { DeltaReader } from "../../observe/metrics/delta.js";
import type { Metrics } from "../../observe/metrics/metrics.js";
import type { MetricsReport } from "../../observe/metrics/report.js";
import { type Clock, OVERDUE, within } from "../../runtime/clock.js";
import type { WorkerLink } from "../../server/workers/worker-link.js";
import { ParentRequests } from "./parent-requests.js";

export const METRICS_TOPIC = "metrics";

/** A request for the text: its first slice, then the next one, until a slice is empty. */
export interface MetricsRead {
  readonly isFirst: boolean;
}

const REPORT_MS = 1000;
/** Prometheus waits for 10 s unless it is configured otherwise. */
const SCRAPE_LIMIT_MS = 5000;
/** After this time a message counts as lost. */
const RESPONSE_LIMIT_MS = 30_000;
/** A process with exit code 1 exits a second after its stop. */
const LAST_REPORT_LIMIT_MS = 800;

export class WorkerMetrics {
  private readonly reader: DeltaReader;
  private readonly requests: ParentRequests;
  private sequence = 0;
  private hasStopped = false;
  /** The last of the reports and scrapes, which run one after the other. */
  private last: Promise<unknown> = Promise.resolve();
  /** The scrape that has not started. All requests that come before its start share it. */
  private next: Promise<readonly string[]> | undefined;

  constructor(
    metrics: Metrics,
    parent: WorkerLink,
    private readonly clock: Clock,
  ) {
    const { families, bounds } = metrics.contents;
    this.reader = new DeltaReader(families, bounds);
    this.requests = new ParentRequests(parent, METRICS_TOPIC, clock);
    metrics.setPage(() => this.scrape());
  }

  ready(): void {
    this.reportLater();
  }

  async stopped(): Promise<void> {
    this.hasStopped = true;
    await within(
      this.clock,
      LAST_REPORT_LIMIT_MS,
      this.enqueue(() => this.report(true)),
    ).catch(() => undefined);
  }

  private reportLater(): void {
    const report = (): void => {
      if (this.hasStopped) return;
      void this.enqueue(() => this.report())
        .catch(() => undefined)
        .then(() => this.reportLater());
    };
    this.clock.setTimeout(report, REPORT_MS, { background: true, isPoll: true });
  }

  private async scrape(): Promise<IterableIterator<string, void>> {
    this.next ??= this.enqueue(() => this.readPage());
    const slices = await within(this.clock, SCRAPE_LIMIT_MS, this.next);
    if (slices === OVERDUE) throw createOverdueError();
    return slices.values();
  }

  private async readPage(): Promise<readonly string[]> {
    this.next = undefined;
    await this.report();
    const slices: string[] = [];
    for (let isFirst = true; ; isFirst = false) {
      const request: MetricsRead = { isFirst };
      const text = await this.send(request);
      // The parent may be of another release.
      if (typeof text !== "string") throw createOverdueError();
      if (text === "") return slices;
      slices.push(text);
    }
  }

  private async report(isLast = false): Promise<void> {
    for (const delta of this.reader.take()) {
      const report: MetricsReport = { sequence: ++this.sequence, isLast, delta };
      await this.send(report);
    }
  }

  private async send(body: MetricsReport | MetricsRead): Promise<unknown> {
    const response = await this.requests.send(body, RESPONSE_LIMIT_MS);
    if (response === OVERDUE) throw createOverdueError();
    return response;
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }
}

function createOverdueError(): UnavailableError {
  const why = "the metrics of all workers are not available: the parent of the workers does not respond in time";
  return new UnavailableError(why, { code: "E_WORKERS_METRICS" });
}
