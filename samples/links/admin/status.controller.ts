import { isIPv6 } from "node:net";
import { Context, Controller, Get, Inject, token, UnavailableError } from "@stagecraft/framework";
import { TraceContext } from "@stagecraft/framework/observe";

/** What this service depends on, else it asks itself. The operator's word, never a client's. */
export const UPSTREAM_URL = token<string | undefined>("UPSTREAM_URL");

const PATIENCE_MS = 2000;

/** Asks the upstream, as part of the caller's trace, and no longer than the caller waits. */
@Controller("/")
export class StatusController {
  constructor(@Inject(UPSTREAM_URL) private readonly upstream: string | undefined) {}

  @Get("/status", "status")
  async status(ctx: Context) {
    const headers = TraceContext.of(ctx)?.outboundHeaders() ?? {};
    const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(PATIENCE_MS)]);
    try {
      const upstream = this.upstream ?? ownHealth(ctx);
      const { status } = await fetch(upstream, { method: "HEAD", redirect: "manual", headers, signal });
      return { upstream: status };
    } catch (cause) {
      throw new UnavailableError("the upstream does not answer", { cause });
    }
  }
}

/** At the address and port that this connection came in by: whoever chose them, and unlike `Host` no word of the client's. */
function ownHealth({ req }: Context): string {
  const { localAddress = "", localPort } = req.socket;
  const host = isIPv6(localAddress) ? `[${localAddress}]` : localAddress;
  return `http://${host}:${localPort}/up/live`;
}
