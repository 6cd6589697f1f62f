/**
 * The request or the job for which the code runs now. A subsystem reads its signal, so that a query ends with the request that asked for
 * it. The application enters a scope for each request where one of its subsystems has `followsRequests`.
 *
 * Internal: a handler has `ctx.signal`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingHttpHeaders } from "node:http";
import type { Abortable } from "../runtime/abortable.js";

export interface WorkScope extends Abortable {
  /** Aborts when the response is no longer needed: the client has left, a timeout has passed, or the process stops. */
  readonly signal: AbortSignal;
  /** The request, for a response that depends on its headers. A job has none. */
  readonly incoming?: ScopeRequest;
  /** Calls `work` when the response is sent or the client has left, at once if this has happened already. A job has no such method. */
  afterResponse?(work: () => void): void;
}

/** The part of a request on which the response of a download depends. */
export interface ScopeRequest {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

const scopes = new AsyncLocalStorage<WorkScope | undefined>();

/** The scope of the running code; `undefined` outside requests and jobs. */
export function currentWorkScope(): WorkScope | undefined {
  return scopes.getStore();
}

/** Runs `run(argument)` in the scope, with all asynchronous work that it starts. `undefined` leaves the surrounding scope. */
export function inWorkScope<A, T>(scope: WorkScope | undefined, run: (argument: A) => T, argument: A): T {
  return scopes.run(scope, run, argument);
}
