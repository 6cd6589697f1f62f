import { Context, Injectable, UnauthorizedError, type Middleware, type Next } from "@stagecraft/framework";
import { Accounts } from "./accounts.js";

/** Lets only requests with the admin key pass: `Authorization: Bearer <key>`. */
@Injectable()
export class SignedIn implements Middleware {
  constructor(private readonly accounts: Accounts) {}

  handle(ctx: Context, next: Next) {
    const [scheme, key = ""] = ctx.get("Authorization").split(" ", 2);
    if (scheme?.toLowerCase() !== "bearer" || !this.accounts.isAdmin(key)) {
      throw new UnauthorizedError("only the admin key may do this", { challenge: 'Bearer realm="links"' });
    }
    return next();
  }
}
