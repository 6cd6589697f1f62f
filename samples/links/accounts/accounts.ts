import { createHash, timingSafeEqual } from "node:crypto";
import { Inject, Injectable, token } from "@stagecraft/framework";

/** The key that may remove links and close the shop; from the environment, so that none stands in the code. */
export const ADMIN_KEY = token<string | undefined>("ADMIN_KEY");

/** Knows who may do what. Without an admin key nobody may. */
@Injectable()
export class Accounts {
  constructor(@Inject(ADMIN_KEY) private readonly adminKey: string | undefined) {}

  isAdmin(key: string): boolean {
    return this.adminKey !== undefined && timingSafeEqual(digest(key), digest(this.adminKey));
  }
}

/** Equal lengths, whatever was sent: a comparison in constant time needs them. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
