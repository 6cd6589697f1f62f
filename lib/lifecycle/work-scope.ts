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
  /** Aborts when the answer is not wanted any more: the client left, a timeout, the end of the process. */
  readonly signal: AbortSignal;
  /** The request, for an answer that depends on its headers. A job has none. */
  readonly incoming?: ScopeRequest;
  /** Calls `work` once the answer is sent or the client has left, at once where that is so already. Missing where there is no answer. */
  afterResponse?(work: () => void): void;
}

/** The part of a request that decides about a download. */
export interface ScopeRequest {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

const scopes = new AsyncLocalStorage<WorkScope | undefined>();

/** The scope of the running code; `undefined` outside requests and jobs. */
export function currentWorkScope(): WorkScope | undefined {
  return scopes.getStore();
}

/** Runs `run(argument)` in the scope, with everything asynchronous that it starts. `undefined` leaves the surrounding scope. */
export function inWorkScope<A, T>(scope: WorkScope | undefined, run: (argument: A) => T, argument: A): T {
  return scopes.run(scope, run, argument);
}
