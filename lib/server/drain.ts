/**
 * The drain: how an application stops serving without losing a response.
 *
 * 1. Readiness reports 503 for the drain delay, so that a load balancer sends no more requests. The `AbortSignal` that
 *    listeners of `.attach()` got aborts, and event streams end.
 * 2. The listener stops. Requests in flight may finish until the deadline.
 * 3. At the deadline their signals abort, and upgraded connections are ended.
 * 4. One second later the connections that are left are destroyed.
 *
 * The caller gives the delay and the deadline. Their defaults are in `lib/lifecycle/lifecycle-options.ts`.
 *
 * From the start of the drain every response carries `Connection: close`, so that busy connections end by themselves. Of pipelined
 * requests only the last response carries it, because a client ignores every response after it.
 */
import { DrainDeadlineError } from "../errors/framework-error.js";
import type { Clock } from "../runtime/clock.js";
import type { Connections, InFlightRequest } from "../http/connection/connection.js";
import { tracing } from "../tracing/tracing.js";
import type { Listener } from "./listener.js";

const log = tracing.target("framework::lifecycle");

/** The time between the abort of the signals and the end of the connections. */
const ABORT_MS = 1000;
/** The time between two searches for idle connections. */
const SWEEP_MS = 50;
/** A request that a client sends before the listener stops arrives within this time. After it, idle connections are closed. */
const REQUEST_MS = 1000;
/**
 * A destroyed socket closes in the next iteration of the event loop. This limit prevents a socket that does not close from blocking the
 * stop.
 */
const CLOSING_MS = 1000;
/** Limits the iterations of the event loop in which connections are accepted. Under constant load there is always another connection. */
const MAX_ACCEPT_ITERATIONS = 100;

interface DrainTarget {
  readonly listener: Listener;
  readonly connections: Connections;
  readonly clock: Clock;
}

export interface DrainOptions extends DrainTarget {
  /** From the call of `drain()` until the listener stops. The deadline ends it. */
  readonly delayMs: number;
  /** Counted from the call of `drain()`, the delay included. The default is that of `drainDeadlineMs` in `LifecycleOptions`. */
  readonly deadlineMs: number;
}

export interface DrainResult {
  /** The number of connections that had to be destroyed. */
  readonly forced: number;
  /** The requests that were in flight on them. */
  readonly cut: readonly InFlightRequest[];
}

const NOTHING_FORCED: DrainResult = { forced: 0, cut: [] };

/** Resolves when no connection is left. */
export async function drain({ delayMs, deadlineMs, ...target }: DrainOptions): Promise<DrainResult> {
  const { listener, connections, clock } = target;
  const deadline = clock.monotonic() + deadlineMs;
  connections.beginDrain();
  listener.beginDrain();
  log.info("draining", { in_flight: connections.inFlight });
  await pause(clock, Math.min(delayMs, deadlineMs));

  await stopListening(target);
  if (await waitUntilEmpty(target, deadline)) return NOTHING_FORCED;

  log.warn("drain deadline reached", { in_flight: connections.inFlight });
  listener.closeSilent();
  listener.endUpgraded();
  for (const request of connections.listRequests()) request.abort(new DrainDeadlineError());
  if (await waitUntilEmpty(target, clock.monotonic() + ABORT_MS)) return NOTHING_FORCED;
  return destroyRest(target);
}

async function stopListening({ listener, connections }: DrainTarget): Promise<void> {
  const idle = (await listener.count()) - connections.inFlight;
  await acceptPending(listener);
  connections.sweepIdle(() => listener.stop());
  log.info("listener stopped", { in_flight: connections.inFlight, idle_closed: Math.max(0, idle) });
}

/** The operating system resets connections that are not accepted when the listener stops. So the event loop accepts them first. */
async function acceptPending(listener: Listener): Promise<void> {
  for (let iteration = 0; iteration < MAX_ACCEPT_ITERATIONS; iteration++) {
    const before = listener.accepted;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    if (listener.accepted === before) return;
  }
}

/** Closes connections as they become idle. True if none was left before the deadline. */
async function waitUntilEmpty(target: DrainTarget, deadline: number): Promise<boolean> {
  const { listener, connections, clock } = target;
  const requestsArriveUntil = clock.monotonic() + REQUEST_MS;
  while (!listener.isClosed && clock.monotonic() < deadline) {
    connections.sweepIdle(() => listener.closeIdle());
    if (clock.monotonic() >= requestsArriveUntil) listener.closeSilent();
    await Promise.race([listener.closed, pause(clock, Math.min(SWEEP_MS, deadline - clock.monotonic()))]);
  }
  if (listener.isClosed) await waitForSockets(target);
  return listener.isClosed;
}

async function destroyRest(target: DrainTarget): Promise<DrainResult> {
  const { listener, connections, clock } = target;
  const forced = await listener.count();
  const cut = [...connections.listRequests()];
  listener.closeAll();
  connections.destroyAll();
  await Promise.race([listener.closed, pause(clock, CLOSING_MS, { background: true })]);
  await waitForSockets(target);
  log.warn("connections destroyed", { forced });
  return { forced, cut };
}

/** A listener closes shortly before its last sockets emit `close`. Requests on them must be reported before the drain ends. */
async function waitForSockets({ connections, clock }: DrainTarget): Promise<void> {
  if (connections.size === 0) return;
  await Promise.race([connections.waitUntilClosed(), pause(clock, CLOSING_MS, { background: true })]);
}

function pause(clock: Clock, ms: number, options?: { readonly background: boolean }): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    clock.setTimeout(resolve, ms, options);
  });
}
