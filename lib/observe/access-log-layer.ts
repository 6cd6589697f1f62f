/**
 * Stage layer: one line a request, once and only once, as soon as the inner stages have decided the answer, or when the client left
 * before that (499). Handlers' own events inherit `request_id`, `method`, `path` and `client_ip` from its span; the line itself
 * is outside it. No body, no header and no query string is ever part of it.
 */
import type { Context } from "../kernel/context.js";
import { Layer, type Run } from "../kernel/middleware.js";
import { currentFlow, ensureFlow, resumeFlow } from "../kernel/tracing-flow.js";
import { outside } from "../kernel/tracing-span.js";
import { tracing, type Fields } from "../kernel/tracing.js";
import { Observation } from "./observation.js";
import { apply } from "./redact.js";
import { RequestId } from "./request-id.js";
import { endRequestSpan, openRequestSpan } from "./request-span.js";

const TARGET = "framework::observe::access_log";
const log = tracing.target(TARGET);

export class AccessLogLayer extends Layer {
  override wrap(inner: Run): Run {
    const logged: Run = (ctx) => new LoggedRequest(ctx).watch(inner);
    return (ctx) => ensureFlow(logged, ctx);
  }
}

/** What the line says, and what a handler's events inherit. */
interface RequestFields extends Fields {
  readonly method: string;
  readonly path: string;
  readonly request_id: string;
  readonly client_ip: string;
}

class LoggedRequest extends Observation {
  // Node calls back from the connection when a client leaves: the line still belongs to the request.
  private readonly flow = currentFlow();
  private readonly fields: RequestFields;
  private readonly span;

  constructor(ctx: Context) {
    super(ctx);
    const { method, path } = ctx;
    const request_id = RequestId.of(ctx)?.value ?? "";
    this.fields = { method, path, request_id, client_ip: apply("client_ip", ctx.ip) };
    this.span = openRequestSpan(ctx, TARGET, this.fields);
  }

  protected override record(status: number, failure: { readonly error: unknown } | undefined): void {
    endRequestSpan(this.span, status, failure);
    if (currentFlow() === this.flow) outside(this.span, emit, this.line(status));
    else resumeFlow(this.flow, (line) => outside(this.span, emit, line), this.line(status));
  }

  private line(status: number): Line {
    const { method, path, request_id, client_ip } = this.fields;
    const duration_ms = Math.trunc(this.elapsed());
    const message = `${method} ${path} ${status} ${duration_ms}ms`;
    return { message, fields: { client_ip, duration_ms, method, path, request_id, status } };
  }
}

interface Line {
  readonly message: string;
  readonly fields: Fields;
}

function emit({ message, fields }: Line): void {
  log.info(message, fields);
}
