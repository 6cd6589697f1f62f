/**
 * An authenticator app as second step. `start` shows the secret once, `confirm` takes the first code of the app and gives the recovery codes,
 * `remove` ends it. A code counts once, and codes of other users have no part in that.
 *
 * @example
 * startTotp: Post("/totp", { guards: [signedIn, recentlyConfirmed] }),
 * confirmTotp: Post("/totp/confirm", { guards: [signedIn, recentlyConfirmed], body: z.object({ code: z.string() }) }),
 *
 * const { uri } = await this.totp.start(ctx);
 */
import { randomBytes } from "node:crypto";
import { Encrypter } from "../../crypto/encrypter.js";
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { Session } from "../../stages/session/session.js";
import { sessionKey } from "../../stages/session/session-value.js";
import { tracing } from "../../tracing/tracing.js";
import { AttemptLimits } from "../attempt-limits.js";
import { AuthSettings } from "../auth-settings.js";
import type { WithIdentity } from "../guards.js";
import { Recovery } from "./recovery.js";
import { RecoveryCodes } from "./recovery-codes.js";
import { SecondStepChanges } from "./second-step-changes.js";
import { SecondStepSettings } from "./second-step-settings.js";
import { findTotpStep, toBase32, TOTP_DIGITS, TOTP_PERIOD_S } from "./totp-code.js";
import { TotpSecrets } from "./totp-secrets.js";

const log = tracing.target("framework::auth");

/** `exists`: the person has an app already. */
export type TotpStart =
  | {
      readonly kind: "started";
      /** In base32, for a person who types it. */
      readonly secret: string;
      /** For a QR code: `otpauth://totp/…`. */
      readonly uri: string;
    }
  | { readonly kind: "exists" };

/** `expired`: nothing was started in this session in the last ten minutes. */
export type TotpConfirmation =
  | { readonly kind: "added"; readonly recoveryCodes: readonly string[] }
  | { readonly kind: "refused" }
  | { readonly kind: "expired" };

interface StartedTotp {
  readonly userId: string;
  /** Encrypted. */
  readonly secret: string;
  readonly expiresAt: number;
}

const STARTED = sessionKey<StartedTotp>("auth-totp");
const STARTED_MS = 600_000;
/** RFC 4226 section 4: 160 bits. */
const SECRET_BYTES = 20;

export class Totp {
  protected readonly settings = inject(SecondStepSettings);
  protected readonly limits = inject(AttemptLimits);
  protected readonly secrets = inject(TotpSecrets);
  protected readonly codes = inject(RecoveryCodes);
  protected readonly recovery = inject(Recovery);
  protected readonly changes = inject(SecondStepChanges);
  private readonly encrypter = new Encrypter(inject(AuthSettings).keys);

  async isAdded(userId: string): Promise<boolean> {
    return (await this.secrets.find(userId)) !== undefined;
  }

  /** @throws ForbiddenError (403) for a request of another site, and without a confirmation in the last 15 minutes */
  async start(ctx: Context & WithIdentity): Promise<TotpStart> {
    await this.changes.requireConfirmation(ctx);
    const { userId, email } = ctx.identity;
    if (await this.isAdded(userId)) return { kind: "exists" };
    const bytes = randomBytes(SECRET_BYTES);
    const secret = this.encrypter.encrypt(bytes, toContext(userId));
    Session.of(ctx).put(STARTED, { userId, secret, expiresAt: ctx.clock.now() + STARTED_MS });
    const text = toBase32(bytes);
    return { kind: "started", secret: text, uri: toUri(this.settings.issuer, email, text) };
  }

  /**
   * Adds the app by its first code. The other sessions of the person end.
   *
   * @throws the errors of `start`; TooManyRequestsError (429) after five codes in fifteen minutes; ConflictError (409)
   */
  async confirm(ctx: Context & WithIdentity, { code }: { readonly code: string }): Promise<TotpConfirmation> {
    await this.changes.requireConfirmation(ctx);
    const { userId } = ctx.identity;
    const now = ctx.clock.now();
    const started = await Session.of(ctx).get(STARTED);
    if (started?.userId !== userId || started.expiresAt < now) return { kind: "expired" };
    await this.limits.count(ctx, `totp ${userId}`);
    const lastStep = this.findStep(userId, started.secret, { code, now });
    if (lastStep === undefined) return { kind: "refused" };
    let recoveryCodes: readonly string[] = [];
    const isAdded = await this.changes.run(ctx, "totp-added", async () => {
      if (!(await this.secrets.insert({ userId, secret: started.secret, lastStep, createdAt: now }))) return false;
      recoveryCodes = await this.recovery.create(userId);
      return true;
    });
    Session.of(ctx).forget(STARTED);
    return isAdded ? { kind: "added", recoveryCodes } : { kind: "expired" };
  }

  /**
   * Removes the app and the recovery codes. The other sessions of the person end. False without an app.
   *
   * @throws the errors of `start`; ConflictError (409)
   */
  async remove(ctx: Context & WithIdentity): Promise<boolean> {
    await this.changes.requireConfirmation(ctx);
    const { userId } = ctx.identity;
    return this.changes.run(ctx, "totp-removed", async () => {
      if (!(await this.secrets.delete(userId))) return false;
      await this.codes.replace(userId, []);
      return true;
    });
  }

  /** Uses a code: of several requests with one code, one succeeds. @internal */
  async use(userId: string, code: string, now: number): Promise<boolean> {
    const found = await this.secrets.find(userId);
    if (found === undefined) return false;
    const step = this.findStep(userId, found.secret, { code, now });
    if (step === undefined || step <= found.lastStep) return false;
    return this.secrets.use(found, { step, secret: this.reencrypt(userId, found.secret) });
  }

  private findStep(userId: string, encrypted: string, { code, now }: { code: string; now: number }) {
    const secret = this.encrypter.decryptBytes(encrypted, toContext(userId));
    if (secret === undefined) log.error("secret of an authenticator app: no key decrypts it", { user_id: userId });
    return secret && findTotpStep(secret, code, now);
  }

  private reencrypt(userId: string, encrypted: string): string {
    if (!this.encrypter.needsReencrypt(encrypted)) return encrypted;
    const secret = this.encrypter.decryptBytes(encrypted, toContext(userId));
    return secret === undefined ? encrypted : this.encrypter.encrypt(secret, toContext(userId));
  }
}

function toContext(userId: string) {
  return { context: `framework_totp_secrets.secret ${userId}` };
}

/** The form that authenticator apps read (Key Uri Format). They show the issuer and the address. */
function toUri(issuer: string, email: string, secret: string): string {
  const [name, account] = [encodeURIComponent(issuer), encodeURIComponent(email)];
  return `otpauth://totp/${name}:${account}?secret=${secret}&issuer=${name}&algorithm=SHA1&digits=${TOTP_DIGITS}&period=${TOTP_PERIOD_S}`;
}
