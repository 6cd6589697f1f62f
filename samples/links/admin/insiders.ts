import {
  type AddressBlocks,
  Context,
  Inject,
  Injectable,
  type Middleware,
  type Next,
  NotFoundError,
  token,
} from "@stagecraft/framework";

/** The addresses that may read the metrics. */
export const INSIDE_ADDRESSES = token<AddressBlocks>("INSIDE_ADDRESSES");

/** Lets the listed addresses pass, and responds with 404 to every other client. */
@Injectable()
export class Insiders implements Middleware {
  constructor(@Inject(INSIDE_ADDRESSES) private readonly inside: AddressBlocks) {}

  handle(ctx: Context, next: Next) {
    if (!this.inside.includes(ctx.ip)) throw new NotFoundError();
    return next();
  }
}
