/** The request whose failure is reported: its route for the log, and standard error where the process has no log. */
import { currentSubscriber } from "../../tracing/flow.js";
import type { Exchange } from "../request/exchange.js";

/** The field `route`, `POST /links/{id}`; empty before a route has matched. */
export function getRouteField({ matchedRoute }: Exchange): { readonly route?: string } {
  return matchedRoute === undefined ? {} : { route: `${matchedRoute.method} ${matchedRoute.path.template}` };
}

/** Prints the failure where `run()` is the process and nothing listens to events. */
export function reportUnlogged(ctx: Exchange, message: string, thrown: unknown): void {
  if (currentSubscriber() !== undefined) return;
  const { route } = getRouteField(ctx);
  ctx.reportUnhandled?.(route === undefined ? message : `${message} in ${route}`, thrown);
}
