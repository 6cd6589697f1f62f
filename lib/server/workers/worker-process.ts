/**
 * One worker as the parent sees it: its process, its state, and the link to it. The parent learns of changes by {@link WorkerEvents}.
 *
 * The states follow each other: `starting` (the main file runs), `linked` (it serves the probes, and its subsystems start), `ready`,
 * `draining` (the parent has asked for it), `ended`.
 */
import cluster, { type Worker } from "node:cluster";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import type { ConnectionTaker } from "./shared-port.js";
import { MessageLink, type WorkerLink } from "./worker-link.js";

const log = tracing.target("framework::workers");

export type WorkerState = "starting" | "linked" | "ready" | "draining" | "ended";

/** A worker, for the parts of the framework that work in the parent. */
export interface LinkedWorker extends WorkerLink {
  /** Counts from 1. A replacement has another id. */
  readonly id: number;
  readonly pid: number;
  readonly state: WorkerState;
}

/** How a process ended. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The worker has said that it has stopped: all that it had to tell has arrived. */
  readonly hasReported: boolean;
}

/** The changes of a worker, for the supervisor. */
export interface WorkerEvents {
  linked(worker: WorkerProcess): void;
  ready(worker: WorkerProcess): void;
  /** The worker wants to be replaced: somebody has sent it SIGTERM. */
  retiring(worker: WorkerProcess): void;
  /** The worker takes no more connections. It confirms what it has with `release()`. */
  closing(worker: WorkerProcess): void;
  /** It has taken the connection, and has `open` connections. */
  confirmed(worker: WorkerProcess, open: number): void;
  /** Connections have closed. */
  counted(worker: WorkerProcess, open: number): void;
  /** The worker has not responded to pings for the time of the option, or does not read its messages. */
  unresponsive(worker: WorkerProcess): void;
  ended(worker: WorkerProcess, end: WorkerEnd): void;
}

/** The times of a drain, told to a worker. */
export interface DrainTimes {
  readonly drainDelayMs: number;
  readonly drainDeadlineMs: number;
}

export interface WorkerProcessOptions {
  readonly clock: Clock;
  /** A worker that does not respond to pings for this time is replaced. */
  readonly unresponsiveAfterMs: number;
  /** A worker that is not ready after this time is killed. */
  readonly startTimeoutMs: number;
  /** The environment of the process, added to that of the parent. */
  readonly environment: Readonly<Record<string, string>>;
}

const PING_MS = 1000;
/** From the stop of a worker until its process has ended. */
const EXIT_MS = 5000;
/** From the end of the process until its last messages were read. */
const CLOSING_MS = 1000;

export class WorkerProcess implements LinkedWorker, ConnectionTaker {
  readonly id: number;
  readonly pid: number;
  state: WorkerState = "starting";
  /** It gets no more connections. */
  isEnding = false;
  /** It has served at least the probes. */
  wasLinked = false;
  /** The parent has asked it to end. */
  wasAsked = false;
  /** It was replaced because it did not respond. */
  isStuck = false;
  /** The parent has killed it. */
  isKilled = false;
  /**
   * Milliseconds since the ping that the worker has not answered. They count while the parent runs: a pause of the parent, or of the whole
   * machine, says nothing about the worker.
   */
  silentMs = 0;
  /** When it became ready, by the monotonic clock. */
  readyAt: number | undefined;
  readonly whenEnded: Promise<void>;
  private resolveEnded: () => void = () => undefined;
  private hasReported = false;
  private readonly worker: Worker;
  private readonly link: MessageLink;
  private pings: Timer | undefined;
  private readonly startLimit: Timer;

  constructor(
    private readonly events: WorkerEvents,
    private readonly options: WorkerProcessOptions,
  ) {
    cluster.setupPrimary({ serialization: "advanced" });
    this.worker = cluster.fork(options.environment);
    this.id = this.worker.id;
    this.pid = this.worker.process.pid ?? 0;
    this.link = new MessageLink(
      (message, socket, sent) => this.worker.process.send(message, socket, { keepOpen: true }, sent),
      () => this.reportStuck(),
    );
    this.whenEnded = new Promise((resolve) => (this.resolveEnded = resolve));
    this.startLimit = options.clock.setTimeout(() => this.endLateStart(), options.startTimeoutMs);
    this.listen();
  }

  tell(topic: string, body?: unknown): void {
    this.link.tell(topic, body);
  }

  hear(topic: string, listener: (body: unknown) => void): void {
    this.link.hear(topic, listener);
  }

  take(socket: Socket): void {
    this.link.tell("connection", undefined, socket);
  }

  /** The worker serves what it has, stops and ends. */
  drain(times: DrainTimes): void {
    if (this.state === "ended") return;
    this.state = "draining";
    this.wasAsked = true;
    this.startLimit.cancel();
    this.link.tell("drain", times);
  }

  /** The worker learns that no more connections come. */
  release(): void {
    this.link.tell("released");
  }

  kill(): void {
    if (this.state === "ended") return;
    this.isKilled = true;
    this.worker.process.kill("SIGKILL");
  }

  private endLateStart(): void {
    const fields = { worker: this.id, pid: this.pid, start_timeout_ms: this.options.startTimeoutMs };
    log.error("worker is not ready in time", fields);
    this.kill();
  }

  private listen(): void {
    const { process: child } = this.worker;
    const { events, link } = this;
    child.on("message", (message, handle) => link.receive(message, handle));
    // Messages that were written before the end arrive after `exit` and before `close`.
    child.once("close", (code: number | null, signal: string | null) => this.end({ code, signal }));
    child.once("exit", (code, signal) => {
      this.options.clock.setTimeout(() => this.end({ code, signal }), CLOSING_MS, { background: true });
    });
    // A failed `fork`. The channel of a process that has just ended reports an error as well.
    this.worker.on("error", () => {
      if (child.pid === undefined) this.end({ code: null, signal: null });
    });
    link.hear("linked", () => this.reachLinked());
    link.hear("ready", () => this.reachReady());
    link.hear("retiring", () => events.retiring(this));
    link.hear("closing", () => events.closing(this));
    link.hear("confirmed", (open) => events.confirmed(this, toCount(open)));
    link.hear("count", (open) => events.counted(this, toCount(open)));
    link.hear("stopped", () => {
      this.hasReported = true;
      // Work of the program can keep the process alive.
      this.options.clock.setTimeout(() => this.kill(), EXIT_MS, { background: true });
    });
    link.hear("pong", () => {
      this.silentMs = 0;
      this.isStuck = false;
    });
  }

  private reachLinked(): void {
    if (this.state !== "starting") return;
    this.state = "linked";
    this.wasLinked = true;
    this.ping();
    this.events.linked(this);
  }

  private reachReady(): void {
    if (this.state !== "linked") return;
    this.state = "ready";
    this.startLimit.cancel();
    this.readyAt = this.options.clock.monotonic();
    this.events.ready(this);
  }

  /** One ping at a time: a worker that does not read gets no queue of them. */
  private ping(): void {
    if (this.state === "ended") return;
    if (this.silentMs === 0) this.link.tell("ping");
    else if (this.silentMs >= this.options.unresponsiveAfterMs) this.reportStuck();
    this.pings = this.options.clock.setTimeout(() => this.ping(), PING_MS);
    this.silentMs += PING_MS;
  }

  private reportStuck(): void {
    if (this.isStuck || this.state === "ended") return;
    this.isStuck = true;
    this.events.unresponsive(this);
  }

  private end({ code, signal }: Pick<WorkerEnd, "code" | "signal">): void {
    if (this.state === "ended") return;
    this.state = "ended";
    this.pings?.cancel();
    this.startLimit.cancel();
    this.events.ended(this, { code, signal, hasReported: this.hasReported });
    this.resolveEnded();
  }
}

/** A worker may be of another release. */
function toCount(body: unknown): number {
  return typeof body === "number" ? body : 0;
}
