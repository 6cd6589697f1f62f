/** A handler with the contract of its route around it: the request is read before it runs, and its value is checked after it. */
import type { Handler } from "../endpoints/handler.js";
import { isPromise, toPromise } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import type { ReadyContract } from "./contract-plan.js";

/** The result is what the handler returns: a value, or a promise of one. */
export function withContract(handler: Handler, { readInput, checkResponse }: ReadyContract): Handler {
  const checked = checkResponse === undefined ? handler : checkAfter(handler, checkResponse);
  if (readInput === undefined) return checked;
  return (ctx) => {
    const reading = readInput(ctx);
    return reading === undefined ? checked(ctx) : reading.then(() => checked(ctx));
  };
}

function checkAfter(handler: Handler, check: (ctx: Context, value: unknown) => unknown): Handler {
  return (ctx) => {
    const value = handler(ctx);
    return isPromise(value) ? toPromise(value).then((settled) => check(ctx, settled)) : check(ctx, value);
  };
}
