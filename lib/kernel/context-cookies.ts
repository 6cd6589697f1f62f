/**
 * `ctx.cookies`: the cookies that Koa uses, which never throw because the connection to this process is not encrypted. Whether a
 * cookie is `Secure` follows the scheme the client used, unless the call says otherwise.
 */
import Cookies from "cookies";
import type { Context } from "./context.js";

export class ContextCookies extends Cookies {
  private readonly isSecure: boolean;

  constructor(private readonly ctx: Context) {
    const { keys } = ctx.app;
    // Told that the connection is encrypted, the library refuses nothing; the default of each cookie is set below.
    super(ctx.incoming, ctx.raw, { secure: true, ...(keys !== undefined && { keys }) });
    this.isSecure = ctx.secure;
  }

  override set(name: string, value?: string | null, options?: Cookies.SetOption): this {
    if (this.ctx.sealed) return this;
    return super.set(name, value, { secure: this.isSecure, ...options });
  }
}
