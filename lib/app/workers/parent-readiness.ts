/**
 * The readiness of the service in the parent. The service is ready while at least one worker serves; workers that start, or that drain for
 * their replacement, do not count. A check is down if it is down in any worker that serves: its connections come to that worker too. A worker
 * that does not respond in time is left out until it responds, because the supervisor replaces it.
 */
import type { Check, Checks } from "../../lifecycle/readiness.js";
import type { Clock } from "../../runtime/clock.js";
import type { WorkerObserver } from "../../server/workers/supervisor.js";
import type { LinkedWorker } from "../../server/workers/worker-process.js";
import { hearRequests } from "./parent-requests.js";
import { CHECKS_TOPIC, MESSAGES_MS, PROBE_TOPIC, type ServiceState, STATE_TOPIC } from "./worker-readiness.js";

const MAX_CHECKS = 1000;
const MAX_REASON = 1000;

type WorkerProgress = "starting" | "ready" | "draining";

export class ParentReadiness implements WorkerObserver {
  private readonly workers = new Map<LinkedWorker, WorkerProgress>();
  /** Those that did not respond to their last probe. */
  private readonly silent = new Set<LinkedWorker>();
  private running: ProbeRound | undefined;
  private rounds = 0;

  constructor(
    private readonly clock: Clock,
    private readonly probeTimeoutMs: number,
  ) {}

  forked(worker: LinkedWorker): void {
    hearRequests(worker, CHECKS_TOPIC, () => this.check());
    worker.hear(PROBE_TOPIC, (message) => {
      this.silent.delete(worker);
      this.running?.take(worker, message);
    });
    this.setState(worker, "starting");
  }

  ready(worker: LinkedWorker): void {
    this.setState(worker, "ready");
  }

  ending(worker: LinkedWorker): void {
    this.setState(worker, "draining");
    this.running?.leaveOut(worker);
  }

  ended(worker: LinkedWorker): void {
    this.workers.delete(worker);
    this.silent.delete(worker);
    this.running?.leaveOut(worker);
    this.publish();
  }

  /** The checks of all workers that serve. Calls during a round share that round. */
  private check(): Promise<Checks> {
    this.running ??= this.startRound();
    return this.running.done;
  }

  private startRound(): ProbeRound {
    const ready = [...this.workers].filter(([, state]) => state === "ready").map(([worker]) => worker);
    const round = new ProbeRound(
      ++this.rounds,
      ready.filter((worker) => !this.silent.has(worker)),
    );
    const limit = this.clock.setTimeout(() => this.skipSilent(round), this.probeTimeoutMs + MESSAGES_MS);
    void round.done.then(() => {
      limit.cancel();
      this.running = undefined;
    });
    return round;
  }

  private skipSilent(round: ProbeRound): void {
    for (const worker of round.waiting) {
      this.silent.add(worker);
      round.leaveOut(worker);
    }
  }

  private setState(worker: LinkedWorker, state: WorkerProgress): void {
    this.workers.set(worker, state);
    this.publish();
  }

  private publish(): void {
    const states = [...this.workers.values()];
    const ready = states.filter((state) => state === "ready").length;
    const isDraining = states.length > 0 && states.every((state) => state === "draining");
    const service: ServiceState = {
      state: ready > 0 ? "ready" : isDraining ? "draining" : "booting",
      workers: { ready, all: states.length },
    };
    for (const worker of this.workers.keys()) worker.tell(STATE_TOPIC, service);
  }
}

/** The probes of all workers that serve, once each. */
class ProbeRound {
  readonly done: Promise<Checks>;
  readonly waiting: Set<LinkedWorker>;
  private readonly results: Checks[] = [];
  private resolve: (checks: Checks) => void = () => undefined;

  constructor(
    private readonly number: number,
    workers: readonly LinkedWorker[],
  ) {
    this.waiting = new Set(workers);
    this.done = new Promise((resolve) => (this.resolve = resolve));
    for (const worker of workers) worker.tell(PROBE_TOPIC, number);
    if (workers.length === 0) this.finish();
  }

  take(worker: LinkedWorker, message: unknown): void {
    if (typeof message !== "object" || message === null || !("round" in message) || message.round !== this.number)
      return;
    if (!this.waiting.has(worker)) return;
    this.results.push(readChecks("checks" in message ? message.checks : undefined));
    this.leaveOut(worker);
  }

  leaveOut(worker: LinkedWorker): void {
    if (this.waiting.delete(worker) && this.waiting.size === 0) this.finish();
  }

  private finish(): void {
    this.resolve(mergeChecks(this.results));
  }
}

/** Sorted by name, as the checks of one worker are. */
function mergeChecks(results: readonly Checks[]): Checks {
  const names = [...new Set(results.flatMap((checks) => Object.keys(checks)))].toSorted();
  return Object.fromEntries(names.map((name) => [name, mergeCheck(results.flatMap((checks) => checks[name] ?? []))]));
}

function mergeCheck(checks: readonly Check[]): Check {
  const down = checks.filter((check) => check.status === "down");
  const [first] = down;
  if (first === undefined) return { status: "up" };
  return { status: "down", reason: `${first.reason} (in ${down.length} of ${checks.length} workers)` };
}

/** A worker may be of another release. */
function readChecks(value: unknown): Checks {
  if (typeof value !== "object" || value === null) return {};
  const entries = Object.entries(value).slice(0, MAX_CHECKS);
  return Object.fromEntries(entries.map(([name, check]) => [name, readCheck(check)]));
}

function readCheck(check: unknown): Check {
  if (typeof check === "object" && check !== null && "status" in check) {
    if (check.status === "up") return { status: "up" };
    if ("reason" in check && typeof check.reason === "string")
      return { status: "down", reason: check.reason.slice(0, MAX_REASON) };
  }
  return { status: "down", reason: "unreadable" };
}
