import { Context, Inject, Injectable, NotFoundError, token, type Middleware, type Next } from "@stagecraft/framework";
import { AddressBlocks } from "./address-blocks.js";

/** Addresses and CIDR blocks that may read the metrics. */
export const INSIDE_ADDRESSES = token<readonly string[]>("INSIDE_ADDRESSES");

/** Lets the listed addresses pass, and answers 404 to every other client. */
@Injectable()
export class Insiders implements Middleware {
  private readonly blocks: AddressBlocks;

  constructor(@Inject(INSIDE_ADDRESSES) entries: readonly string[]) {
    this.blocks = new AddressBlocks(entries);
  }

  handle(ctx: Context, next: Next) {
    if (!this.blocks.includes(ctx.ip)) throw new NotFoundError();
    return next();
  }
}
