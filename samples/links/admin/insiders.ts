import { Context, Inject, Injectable, NotFoundError, token, type Middleware, type Next } from "@stagecraft/framework";

/** Addresses that may see the metrics; from `METRICS_ALLOW`, comma-separated, else this machine alone. */
export const INSIDE_ADDRESSES = token<readonly string[]>("INSIDE_ADDRESSES");

/** For everyone else what is inside does not exist. */
@Injectable()
export class Insiders implements Middleware {
  constructor(@Inject(INSIDE_ADDRESSES) private readonly addresses: readonly string[]) {}

  handle(ctx: Context, next: Next) {
    if (!this.addresses.includes(ctx.ip)) throw new NotFoundError();
    return next();
  }
}
