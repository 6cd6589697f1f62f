import { isIPv6 } from "node:net";
import { Context, Controller, Inject, token, UnavailableError } from "@stagecraft/framework";
import { TraceContext } from "@stagecraft/framework/observe";
import { status } from "./admin.routes.js";

/** The upstream of this service, set by the operator, never by a client. */
export const UPSTREAM_URL = token<string | undefined>("UPSTREAM_URL");

const PATIENCE_MS = 2000;

/** Calls the upstream in the caller's trace, until the caller leaves. */
@Controller("/")
export class StatusController {
  constructor(@Inject(UPSTREAM_URL) private readonly upstream: string | undefined) {}

  @status
  async show(ctx: Context) {
    const headers = TraceContext.of(ctx)?.outboundHeaders() ?? {};
    const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(PATIENCE_MS)]);
    try {
      const upstream = this.upstream ?? ownHealth(ctx);
      const response = await fetch(upstream, { method: "HEAD", redirect: "manual", headers, signal });
      return { upstream: response.status };
    } catch (cause) {
      throw new UnavailableError("the upstream does not respond", { cause });
    }
  }
}

/** The local address and port of this connection, which, unlike `Host`, the client does not choose. */
function ownHealth({ req }: Context): string {
  const { localAddress = "", localPort } = req.socket;
  const host = isIPv6(localAddress) ? `[${localAddress}]` : localAddress;
  return `http://${host}:${localPort}/up/live`;
}
