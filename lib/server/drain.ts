/**
 * The end of serving, in order: readiness has turned 503 and can be seen to for a while, then the listener stops, requests in
 * flight may finish until the deadline, then their signals abort and upgraded connections are ended, and one second later what is
 * left is destroyed.
 * Every answer from the first moment on carries `Connection: close`, so that busy connections end by themselves; of pipelined requests
 * the last one's, so that no other is lost behind it.
 */
import { DrainDeadlineError } from "../errors/framework-error.js";
import type { Clock } from "../runtime/clock.js";
import type { Connections, Flight } from "../http/connection.js";
import { tracing } from "../tracing/tracing.js";
import type { Listener } from "./listener.js";

const log = tracing.target("framework::lifecycle");

/** Between the abort of the signals and the end of the connections. */
const LAST_CHANCE_MS = 1000;
const SWEEP_MS = 50;
/** What a client has sent when the listener stops is here by then; what it may send some day is not waited for. */
const REQUEST_MS = 1000;
/** A destroyed socket closes with the next turn of the loop; nothing that keeps one from it keeps the process. */
const CLOSING_MS = 1000;
/** Under a load that never ends the listener is stopped all the same. */
const MOST_TURNS = 100;

interface DrainTarget {
  readonly listener: Listener;
  readonly connections: Connections;
  readonly clock: Clock;
}

export interface DrainOptions extends DrainTarget {
  readonly delayMs: number;
  /** Counted from the call. */
  readonly deadlineMs: number;
}

/** What it came to. */
export interface DrainResult {
  /** Connections that had to be destroyed. */
  readonly forced: number;
  /** The requests that were in flight on them. */
  readonly cut: readonly Flight[];
}

const IN_TIME: DrainResult = { forced: 0, cut: [] };

/** Resolves when no connection is left. */
export async function drain({ listener, connections, clock, delayMs, deadlineMs }: DrainOptions): Promise<DrainResult> {
  const deadline = clock.monotonic() + deadlineMs;
  connections.closing = true;
  log.info("draining", { in_flight: connections.inFlight });
  await pause(clock, Math.min(delayMs, deadlineMs));

  const idle = (await listener.count()) - connections.inFlight;
  await acceptWaiting(listener);
  connections.sparing(() => listener.stop());
  log.info("listener stopped", { in_flight: connections.inFlight, idle_closed: Math.max(0, idle) });
  if (await waitUntilEmpty({ listener, connections, clock }, deadline)) return IN_TIME;

  log.warn("drain deadline reached", { in_flight: connections.inFlight });
  listener.closeUnasked();
  listener.endUpgraded();
  for (const flight of connections.flights()) flight.abort(new DrainDeadlineError());
  if (await waitUntilEmpty({ listener, connections, clock }, clock.monotonic() + LAST_CHANCE_MS)) return IN_TIME;

  const forced = await listener.count();
  const cut = [...connections.flights()];
  listener.closeAll();
  connections.destroyAll();
  await Promise.race([listener.closed, pause(clock, CLOSING_MS, { background: true })]);
  await waitForSockets(connections, clock);
  log.warn("connections destroyed", { forced });
  return { forced, cut };
}

/** Connections that wait to be accepted are reset with the listener: lets the loop take them in until it finds none. */
async function acceptWaiting(door: Listener): Promise<void> {
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const before = door.accepted;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    if (door.accepted === before) return;
  }
}

/** Closes connections as they become idle; whether none was left in time. */
async function waitUntilEmpty({ listener, connections, clock }: DrainTarget, deadline: number): Promise<boolean> {
  const patientUntil = clock.monotonic() + REQUEST_MS;
  while (!listener.isClosed && clock.monotonic() < deadline) {
    connections.sparing(() => listener.closeIdle());
    if (clock.monotonic() >= patientUntil) listener.closeUnasked();
    await Promise.race([listener.closed, pause(clock, Math.min(SWEEP_MS, deadline - clock.monotonic()))]);
  }
  if (listener.isClosed) await waitForSockets(connections, clock);
  return listener.isClosed;
}

/** A listener is closed a moment before its last sockets say so; what became of requests on them is told then, and not after the end. */
async function waitForSockets(connections: Connections, clock: Clock): Promise<void> {
  if (connections.size === 0) return;
  await Promise.race([connections.closed(), pause(clock, CLOSING_MS, { background: true })]);
}

function pause(clock: Clock, ms: number, options?: { readonly background: boolean }): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    clock.setTimeout(resolve, ms, options);
  });
}
