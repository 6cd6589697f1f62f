/**
 * The statuses of errors that a handler throws: the compiler cannot compare them with `responses`. The log names each status once that
 * neither the contract nor the framework has; the response stays as it is. A debug build alone watches.
 */
import type { Contract } from "../endpoints/contract.js";
import type { Handler } from "../endpoints/handler.js";
import type { ProblemStatus } from "../endpoints/received.js";
import { isPromise, toPromise } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::contracts");

/** Every endpoint has these undeclared. */
const PROBLEM_STATUSES: readonly ProblemStatus[] = [400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503];

interface WatchedRoute {
  /** The name of the route in messages. */
  readonly title: string;
  readonly contract: Contract;
}

export function watchThrown(handler: Handler, { title, contract }: WatchedRoute): Handler {
  const known = new Set<number>([
    ...PROBLEM_STATUSES,
    ...contract.guards.flatMap(({ definition }) => definition.refusals),
    ...Object.keys(contract.responses ?? {}).map(Number),
  ]);
  const name = (ctx: Context, thrown: unknown): never => {
    const status = ctx.getThrownStatus(thrown);
    if (!known.has(status))
      log.warn("a handler threw an error with a status that its endpoint does not declare: add it to responses", {
        route: title,
        status,
      });
    known.add(status);
    throw thrown;
  };
  return (ctx) => {
    try {
      const value = handler(ctx);
      return isPromise(value) ? toPromise(value).then(undefined, (thrown: unknown) => name(ctx, thrown)) : value;
    } catch (thrown) {
      return name(ctx, thrown);
    }
  };
}
