/**
 * Stage layer: writes exactly one log line per request, when the inner stages have decided the response, or when the client leaves before
 * that (499). Events of handlers inherit `request_id`, `method`, `path` and `client_ip` from the span of this stage. The line itself does
 * not belong to the span. It contains no body, no header and no query string.
 */
import type { Context } from "../http/request/context.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { ensureFlow, type Flow } from "../tracing/flow.js";
import type { Fields } from "../tracing/subscriber.js";
import { tracing } from "../tracing/tracing.js";
import { Observation } from "../observe/request-observation.js";
import { apply } from "../observe/logging/redaction.js";
import { RequestId } from "../observe/request-id.js";
import { endRequestSpan, openRequestSpan } from "../observe/request-span.js";

const TARGET = "framework::observe::access_log";
const log = tracing.target(TARGET);

export class AccessLogLayer extends StageLayer {
  override wrap(inner: Run): Run {
    const logged = (ctx: Context, flow: Flow | undefined): void | Promise<void> =>
      new LoggedRequest(ctx, flow).watch(inner);
    return (ctx) => ensureFlow(logged, ctx);
  }
}

/** The fields of the line, which the events of handlers inherit. */
interface RequestFields extends Fields {
  readonly method: string;
  readonly path: string;
  readonly request_id: string;
  readonly client_ip: string;
}

class LoggedRequest extends Observation {
  private readonly fields: RequestFields;
  private readonly span;

  constructor(
    ctx: Context,
    // When a client leaves, Node calls the listener of the connection, outside the flow of the request. The line still belongs to the
    // request.
    private readonly flow: Flow | undefined,
  ) {
    super(ctx);
    const { method, path } = ctx;
    const request_id = RequestId.of(ctx)?.value ?? "";
    this.fields = { method, path, request_id, client_ip: apply("client_ip", ctx.ip) };
    this.span = openRequestSpan(ctx, flow, TARGET, this.fields);
  }

  protected override record(status: number, failure: { readonly error: unknown } | undefined): void {
    endRequestSpan(this.span, status, failure);
    const { method, path, request_id, client_ip } = this.fields;
    const duration_ms = Math.trunc(this.elapsed());
    const message = `${method} ${path} ${status} ${duration_ms}ms`;
    const parentSpan = this.span === undefined ? this.flow?.span : this.span.parent;
    log.emitInfo(this.flow, parentSpan, message, { client_ip, duration_ms, method, path, request_id, status });
  }
}
