/** The report of a failed request: its route for the log, and standard error where the process has no log. */
import { currentSubscriber } from "../../tracing/flow.js";
import type { Exchange } from "../request/exchange.js";

/** The field `route`, `POST /links/{id}`; empty before a route has matched. */
export function getRouteField({ matchedRoute }: Exchange): { readonly route?: string } {
  return matchedRoute === undefined ? {} : { route: `${matchedRoute.method} ${matchedRoute.path.template}` };
}

/** Prints the failure if `run()` started the process and no subscriber receives its events. */
export function reportUnlogged(ctx: Exchange, message: string, thrown: unknown): void {
  if (currentSubscriber() !== undefined) return;
  const { route } = getRouteField(ctx);
  ctx.reportUnhandled?.(route === undefined ? message : `${message} in ${route}`, thrown);
}
