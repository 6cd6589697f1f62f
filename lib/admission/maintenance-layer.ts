/**
 * Stage layer: while the handle is engaged, everything but its allowed paths is answered 503 with `Retry-After` and a problem body.
 * It looks at the switch when a request comes in, never again: what is inside finishes.
 */
import { answerProblem } from "../http/returned-value.js";
import type { Context } from "../http/context.js";
import { Layer, type Run } from "../http/middleware.js";
import { Problem } from "../errors/problem.js";
import { tracing } from "../tracing/tracing.js";
import { Maintenance } from "./maintenance.js";

const log = tracing.target("framework::http::maintenance");

const CLOSED = Problem.of(503, "The application is down for maintenance. Please try again shortly.");

export class MaintenanceLayer extends Layer {
  constructor(private readonly maintenance: Maintenance) {
    super();
    if (!(maintenance instanceof Maintenance)) throw new TypeError(`${String(maintenance)} is no Maintenance`);
  }

  override wrap(inner: Run): Run {
    const { maintenance } = this;
    return (ctx) => {
      if (!maintenance.isEngaged || maintenance.allows(ctx.path)) return inner(ctx);
      refuse(ctx, maintenance);
      return undefined;
    };
  }
}

function refuse(ctx: Context, maintenance: Maintenance): void {
  log.debug("refused for maintenance", { status: 503 });
  answerProblem(ctx, CLOSED);
  ctx.raw.setHeader("Retry-After", maintenance.retryAfterHeader);
}
