/** The user who sends a request, as the guards of the endpoints name it. */
import { type Context, guard, Guards, Injectable } from "@stagecraft/framework";
import { unauthorized } from "../errors.js";
import { Tokens } from "./tokens.js";

export interface Viewer {
  /** The id of the user; `NOBODY` for a visitor. */
  readonly viewer: number;
}

export const NOBODY = 0;

/** Lets visitors in, and users with a token. */
export const anyone = guard<Viewer>("anyone", { scheme: "token", refusals: [401] });
/** Refuses requests without a user. */
export const signedIn = guard<Viewer>("signed-in", { scheme: "token", refusals: [401] });

const SCHEME = /^(?:Token|Bearer) +(.{1,200})$/i;

@Injectable()
export class Viewers {
  constructor(private readonly tokens: Tokens) {}

  @Guards(anyone)
  recognize(ctx: Context): Viewer {
    const token = SCHEME.exec(ctx.get("Authorization"))?.[1];
    if (token === undefined) return { viewer: NOBODY };
    const viewer = this.tokens.read(token);
    if (viewer === undefined) throw unauthorized("token", "is invalid");
    return { viewer };
  }

  @Guards(signedIn)
  require(ctx: Context): Viewer {
    const { viewer } = this.recognize(ctx);
    if (viewer === NOBODY) throw unauthorized("token", "is missing");
    return { viewer };
  }
}
