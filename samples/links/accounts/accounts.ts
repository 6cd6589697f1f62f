import { createHash, timingSafeEqual } from "node:crypto";
import { Context, Guards, Inject, Injectable, token, UnauthorizedError } from "@stagecraft/framework";
import { adminKey } from "./guards.js";

/** The key for removing links and for maintenance; from the environment, so that the code holds none. */
export const ADMIN_KEY = token<string | undefined>("ADMIN_KEY");

/** Checks keys. Without an admin key it accepts none. */
@Injectable()
export class Accounts {
  constructor(@Inject(ADMIN_KEY) private readonly key: string | undefined) {}

  get hasAdminKey(): boolean {
    return this.key !== undefined;
  }

  isAdmin(given: string): boolean {
    return this.key !== undefined && timingSafeEqual(digest(given), digest(this.key));
  }

  /** Lets only requests with the admin key pass: `Authorization: Bearer <key>`. */
  @Guards(adminKey)
  check(ctx: Context) {
    const [scheme, given = ""] = ctx.get("Authorization").split(" ", 2);
    if (scheme?.toLowerCase() !== "bearer" || !this.isAdmin(given))
      throw new UnauthorizedError("only the admin key may do this", { challenge: 'Bearer realm="links"' });
  }
}

/** A digest has a fixed length, which a comparison in constant time needs. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
