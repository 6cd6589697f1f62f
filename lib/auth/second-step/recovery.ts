/**
 * Recovery codes, for a person whose phone is lost: ten, each for one sign-in. The person sees them once; the database has their hashes.
 *
 * @example
 * renewCodes: Post("/recovery-codes", { guards: [signedIn, recentlyConfirmed] })
 *
 * return { recoveryCodes: await this.recovery.renew(ctx) };
 */
import { hash, randomBytes } from "node:crypto";
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { tracing } from "../../tracing/tracing.js";
import type { WithIdentity } from "../guards.js";
import { RecoveryCodes } from "./recovery-codes.js";
import { SecondStepChanges } from "./second-step-changes.js";
import { toBase32, toPlainCode } from "./totp-code.js";

const log = tracing.target("framework::auth");

const CODES = 10;
/** 120 bits: no guess succeeds, so a hash without a key and without a cost is enough (OWASP ASVS 5.0.0, 6.5.2: from 112 bits on). */
const CODE_BYTES = 15;

export class Recovery {
  protected readonly codes = inject(RecoveryCodes);
  protected readonly changes = inject(SecondStepChanges);

  /**
   * New codes in the place of those until now. The other sessions of the person end.
   *
   * @throws ForbiddenError (403) without a confirmation in the last 15 minutes; ConflictError (409)
   */
  async renew(ctx: Context & WithIdentity): Promise<readonly string[]> {
    await this.changes.requireConfirmation(ctx);
    let codes: readonly string[] = [];
    await this.changes.run(ctx, "recovery-codes-renewed", async () => {
      codes = await this.create(ctx.identity.userId);
      return true;
    });
    return codes;
  }

  /** The number of codes that are left. */
  count(userId: string): Promise<number> {
    return this.codes.count(userId);
  }

  /** Stores new codes, and returns them. @internal */
  async create(userId: string): Promise<readonly string[]> {
    const codes = Array.from({ length: CODES }, createCode);
    await this.codes.replace(
      userId,
      codes.map((code) => toHash(userId, code)),
    );
    return codes;
  }

  /** @internal */
  async spend(userId: string, code: string): Promise<boolean> {
    if (!(await this.codes.spend(userId, toHash(userId, code)))) return false;
    log.warn("recovery code used", { user_id: userId });
    return true;
  }
}

function createCode(): string {
  return toBase32(randomBytes(CODE_BYTES))
    .toLowerCase()
    .replaceAll(/(.{4})(?=.)/g, "$1-");
}

function toHash(userId: string, code: string): string {
  return hash("sha256", `${userId} ${toPlainCode(code).toLowerCase()}`);
}
