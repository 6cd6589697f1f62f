/** The metrics of all workers in the parent: it adds their reports, writes the text of a scrape, and counts the workers. */
import { DeltaReader } from "../../observe/metrics/delta.js";
import { MergedMetrics } from "../../observe/metrics/merged.js";
import { Metrics } from "../../observe/metrics/metrics.js";
import { readSlice } from "../../observe/metrics/scrape.js";
import type { WorkerObserver } from "../../server/workers/supervisor.js";
import type { LinkedWorker, WorkerEnd } from "../../server/workers/worker-process.js";
import { tracing } from "../../tracing/tracing.js";
import { hearRequests } from "./parent-requests.js";
import { METRICS_TOPIC } from "./worker-metrics.js";

const log = tracing.target("framework::workers");

/** Gauge with the label `state`: `starting`, `ready` or `ending`. */
const WORKERS = "framework_workers";
/**
 * Counter with the label `reason`: `replaced` for a worker that has drained, `failed` for one that ended with another code after its stop,
 * `killed` by a signal, `exited` without a stop.
 */
const WORKERS_ENDED = "framework_workers_ended_total";
/** Counter: workers whose last report did not arrive, so that what they counted in up to a second is missing. */
const WORKERS_UNREPORTED = "framework_workers_unreported_total";
/** Counter: reports that did not arrive whole, from workers that go on. */
const REPORTS_LOST = "framework_workers_reports_lost_total";

type CountedState = "starting" | "ready" | "ending";

/** The parent itself, beside workers whose ids count from 1. */
const PARENT = 0;

export class ParentMetrics implements WorkerObserver {
  private readonly merged: MergedMetrics;
  private readonly own = new Metrics();
  private readonly ownReader: DeltaReader;
  private readonly states = new Map<number, CountedState>();
  /** The rest of the text that each worker reads. */
  private readonly texts = new Map<number, Iterator<string, void>>();

  /** @param registry of the parent: only its limits count here */
  constructor(registry: Metrics) {
    this.merged = new MergedMetrics(registry.contents.maxSeries);
    const { own } = this;
    own.describeGauge(WORKERS, "Processes of workers, by state.");
    own.describeCounter(WORKERS_ENDED, "Workers that have ended, by reason.");
    own.describeCounter(WORKERS_UNREPORTED, "Workers that ended without their last report of metrics.");
    own.describeCounter(REPORTS_LOST, "Reports of metrics that did not arrive whole.");
    for (const reason of ["replaced", "failed", "killed", "exited"]) own.increment(WORKERS_ENDED, { reason }, 0);
    own.increment(WORKERS_UNREPORTED, {}, 0);
    own.increment(REPORTS_LOST, {}, 0);
    this.ownReader = new DeltaReader(own.contents.families, own.contents.bounds);
  }

  forked(worker: LinkedWorker): void {
    this.setState(worker, "starting");
    hearRequests(worker, METRICS_TOPIC, (body) => this.respond(worker, body));
  }

  ready(worker: LinkedWorker): void {
    this.setState(worker, "ready");
  }

  ending(worker: LinkedWorker): void {
    this.setState(worker, "ending");
  }

  ended({ id }: LinkedWorker, end: WorkerEnd): void {
    const hasServed = this.states.get(id) !== "starting";
    this.states.delete(id);
    this.setGauges();
    this.texts.delete(id);
    this.own.increment(WORKERS_ENDED, { reason: getReason(end) });
    if (this.merged.remove(id) || !hasServed) return;
    this.own.increment(WORKERS_UNREPORTED);
    log.warn("worker ended without its last report of metrics", { worker: id });
  }

  /** The next slice of the text for a worker that reads it, else nothing. */
  private respond({ id }: LinkedWorker, body: unknown): string | undefined {
    if (typeof body === "object" && body !== null && "isFirst" in body) return this.readText(id, body.isFirst === true);
    if (this.merged.receive(id, body) === "lost") this.countLost(id);
    return undefined;
  }

  private readText(worker: number, isFirst: boolean): string {
    if (isFirst) {
      for (const delta of this.ownReader.take()) this.merged.add(PARENT, delta);
      this.texts.set(worker, this.merged.texts());
    }
    const texts = this.texts.get(worker);
    const slice = texts === undefined ? "" : readSlice(texts);
    if (slice === "") this.texts.delete(worker);
    return slice;
  }

  private countLost(worker: number): void {
    this.own.increment(REPORTS_LOST);
    log.warn("report of metrics lost", { worker });
  }

  private setState({ id }: LinkedWorker, state: CountedState): void {
    this.states.set(id, state);
    this.setGauges();
  }

  private setGauges(): void {
    const states = [...this.states.values()];
    for (const state of ["starting", "ready", "ending"])
      this.own.set(WORKERS, { state }, states.filter((each) => each === state).length);
  }
}

function getReason({ code, signal, hasReported }: WorkerEnd): string {
  if (signal !== null) return "killed";
  if (!hasReported) return "exited";
  return code === 0 ? "replaced" : "failed";
}
