/** A route with everything around it resolved: full path, and all middleware, outermost first. What the pipeline composes. */
import type { RouteDescriptor } from "./descriptor.js";
import type { AnyHandler, Handler } from "./handler.js";
import type { Method } from "./method.js";
import type { MiddlewareInput } from "./middleware-input.js";
import type { Path, PathFault } from "./path.js";

export interface FlatRoute {
  readonly descriptor: RouteDescriptor;
  readonly path: Path;
  readonly method: Method;
  readonly handler: Handler;
  /** Collection outside group outside route; at one place in the order of the calls. */
  readonly middleware: readonly MiddlewareInput[];
}

/** The same before anyone has looked whether the template is one. */
export interface DraftRoute extends Omit<FlatRoute, "path"> {
  readonly path: Path | PathFault;
  /** The function as it was written, whose text may be looked at; `handler` calls it. */
  readonly written: AnyHandler;
}
