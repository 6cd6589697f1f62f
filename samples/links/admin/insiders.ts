import { type AddressBlocks, Context, Guards, Inject, Injectable, NotFoundError, token } from "@stagecraft/framework";
import { insider } from "./admin.routes.js";

/** The addresses that may read the metrics. */
export const INSIDE_ADDRESSES = token<AddressBlocks>("INSIDE_ADDRESSES");

/** Lets the listed addresses pass, and responds with 404 to every other client. */
@Injectable()
export class Insiders {
  constructor(@Inject(INSIDE_ADDRESSES) private readonly inside: AddressBlocks) {}

  @Guards(insider)
  check(ctx: Context) {
    if (!this.inside.includes(ctx.ip)) throw new NotFoundError();
  }
}
