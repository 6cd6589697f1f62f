/** The user who sends a request. */
import { type Context, Extension, Injectable, type Middleware, type Next } from "@stagecraft/framework";
import { unauthorized } from "../errors.js";
import { Tokens } from "./tokens.js";

const Viewer = new Extension<number>("the signed-in user");
const SCHEME = /^(?:Token|Bearer) +(.{1,200})$/i;

/** The id of the user of a route with `SignedIn`. */
export function getViewer(ctx: Context<string>): number {
  return Viewer.of(ctx);
}

/** The id of the user; `NOBODY` for a visitor. */
export function getPossibleViewer(ctx: Context<string>): number {
  return Viewer.find(ctx) ?? NOBODY;
}

export const NOBODY = 0;

/** Learns from the token who sends the request. A request without a token goes on, as that of a visitor. */
@Injectable()
export class Recognized implements Middleware {
  constructor(private readonly tokens: Tokens) {}

  handle(ctx: Context, next: Next) {
    const token = SCHEME.exec(ctx.get("Authorization"))?.[1];
    if (token !== undefined) {
      const id = this.tokens.read(token);
      if (id === undefined) throw unauthorized("token", "is invalid");
      Viewer.set(ctx, id);
    }
    return next();
  }
}

/** Refuses requests without a user. */
@Injectable()
export class SignedIn implements Middleware {
  handle(ctx: Context, next: Next) {
    if (Viewer.find(ctx) === undefined) throw unauthorized("token", "is missing");
    return next();
  }
}
