/**
 * The errors that a handler throws: the compiler cannot compare them with `responses`. The log names each status once that neither the
 * contract nor the framework has, and each declared status whose content the problem of an error is not. The response stays as it is. A
 * debug build alone watches.
 */
import { Content } from "../endpoints/content.js";
import type { Contract, ContentDeclaration } from "../endpoints/contract.js";
import type { Handler } from "../endpoints/handler.js";
import type { ProblemStatus } from "../endpoints/received.js";
import { Problem } from "../errors/problem.js";
import { runSchema } from "../http/body/run-schema.js";
import { toFrameworkError } from "../http/failures/thrown-error.js";
import { isPromise, toPromise } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::contracts");

/** Every endpoint has these undeclared. */
const PROBLEM_STATUSES: readonly ProblemStatus[] = [400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503];

const UNDECLARED = "a handler threw an error with a status that its endpoint does not declare: add it to responses";
const UNFIT =
  "a handler threw an error whose problem document is not what its endpoint declares for the status: declare the members of the problem, or return a reply with the declared body";

interface WatchedRoute {
  /** The name of the route in messages. */
  readonly title: string;
  readonly contract: Contract;
  /** Whether an error mapper may respond with another body than the problem. */
  readonly mapsErrors: boolean;
}

export function watchThrown(handler: Handler, { title, contract, mapsErrors }: WatchedRoute): Handler {
  const declared = new Map(Object.entries(contract.responses ?? {}).map(([status, each]) => [Number(status), each]));
  const known = new Set<number>([
    ...PROBLEM_STATUSES,
    ...contract.guards.flatMap(({ definition }) => definition.refusals),
    ...declared.keys(),
  ]);
  const warn = (status: number, message: string): void => {
    log.warn(message, { route: title, status });
    known.add(status);
    declared.delete(status);
  };
  const name = (ctx: Context, thrown: unknown): never => {
    const error = toFrameworkError(ctx, thrown);
    const status = error?.status ?? 500;
    const content = mapsErrors ? undefined : declared.get(status);
    if (!known.has(status)) warn(status, UNDECLARED);
    else if (content !== undefined)
      // A release build sends no detail of a fault of the server.
      fitsContent(content, error === undefined ? new Problem(status) : Problem.from(error, status < 500)).then(
        (fits) => {
          if (!fits && declared.has(status)) warn(status, UNFIT);
        },
        // A schema that throws says nothing about the problem.
        () => undefined,
      );
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

/** Whether the document of a problem is of the content. */
async function fitsContent(content: ContentDeclaration, problem: Problem): Promise<boolean> {
  if (content instanceof Content) return false;
  const { issues } = await runSchema(content, problem.toJSON(), "a problem");
  return issues === undefined;
}
