import { Context, Controller, Get, Inject, token, UnavailableError } from "@stagecraft/framework";
import { TraceContext } from "@stagecraft/framework/observe";

/** What this service depends on; from `UPSTREAM_URL`, else its own health endpoint. The operator's word, never a client's. */
export const UPSTREAM_URL = token<string>("UPSTREAM_URL");

const PATIENCE_MS = 2000;

/** Asks the upstream, as part of the caller's trace, and no longer than the caller waits. */
@Controller("/")
export class StatusController {
  constructor(@Inject(UPSTREAM_URL) private readonly upstream: string) {}

  @Get("/status", "status")
  async status(ctx: Context) {
    const headers = TraceContext.of(ctx)?.outboundHeaders() ?? {};
    const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(PATIENCE_MS)]);
    try {
      const { status } = await fetch(this.upstream, { method: "HEAD", redirect: "manual", headers, signal });
      return { upstream: status };
    } catch (cause) {
      throw new UnavailableError("the upstream does not answer", { cause });
    }
  }
}
