/** A route as data: what it answers and what it is called. Static; nothing of it changes when the application runs. */
import type { Method } from "./method.js";

export interface RouteDescriptor {
  readonly method: Method;
  /** The template with all prefixes, for example `/teams/{team}/links/{id}`. */
  readonly path: string;
  /** `LinksController.show`; of a function its name, else `anonymous`. */
  readonly handler: string;
  readonly name: string | undefined;
  /** Pages that the handler is declared to answer with. */
  readonly pages: readonly string[];
}

/** How a route is called in messages. */
export function titleOf({ method, path }: Pick<RouteDescriptor, "method" | "path">): string {
  return `${method} ${path}`;
}
