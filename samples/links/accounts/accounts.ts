import { createHash, timingSafeEqual } from "node:crypto";
import { Inject, Injectable, token } from "@stagecraft/framework";

/** The key for removing links and for maintenance; from the environment, so that the code holds none. */
export const ADMIN_KEY = token<string | undefined>("ADMIN_KEY");

/** Checks keys. Without an admin key it accepts none. */
@Injectable()
export class Accounts {
  constructor(@Inject(ADMIN_KEY) private readonly adminKey: string | undefined) {}

  get hasAdminKey(): boolean {
    return this.adminKey !== undefined;
  }

  isAdmin(key: string): boolean {
    return this.adminKey !== undefined && timingSafeEqual(digest(key), digest(this.adminKey));
  }
}

/** A digest has a fixed length, which a comparison in constant time needs. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
