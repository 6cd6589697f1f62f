/** A handler with the contract of its route around it: the request is read before it runs, and its value is checked after it. */
import type { Contract } from "../endpoints/contract.js";
import { formatRoute, type AnyEndpoint } from "../endpoints/endpoint.js";
import type { Handler } from "../endpoints/handler.js";
import { createSetupError } from "../errors/setup-error.js";
import { isPromise, toPromise } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import type { ReadyContract } from "./contract-plan.js";

interface HandledRoute {
  readonly handler: Handler;
  readonly descriptor: Pick<AnyEndpoint, "method" | "path"> & { readonly contract?: Contract | undefined };
}

/**
 * Returns the handler of a route with its contract around it.
 *
 * @throws FrameworkError `E_CONTRACT_ALONE` for a route with a contract that no application has made ready: its guards have no code
 */
export function getHandler({ handler, descriptor }: HandledRoute, contract: ReadyContract | undefined): Handler {
  if (contract !== undefined) return withContract(handler, contract);
  if (descriptor.contract === undefined) return handler;
  const message = `${formatRoute(descriptor)} has schemas or guards, which only an application runs: build one with Application.create().routes(…), and use its routes().router()`;
  throw createSetupError("E_CONTRACT_ALONE", message);
}

/** The result is what the handler returns: a value, or a promise of one. */
function withContract(handler: Handler, { readInput, checkResponse, watchThrown, runOnce }: ReadyContract): Handler {
  const watched = watchThrown === undefined ? handler : watchThrown(handler);
  const checked = checkResponse === undefined ? watched : checkAfter(watched, checkResponse);
  const inner = runOnce === undefined ? checked : runOnce(checked);
  return readInput === undefined ? inner : (ctx) => readInput(ctx, inner);
}

function checkAfter(handler: Handler, check: (ctx: Context, value: unknown) => unknown): Handler {
  return (ctx) => {
    const value = handler(ctx);
    return isPromise(value) ? toPromise(value).then((settled) => check(ctx, settled)) : check(ctx, value);
  };
}
