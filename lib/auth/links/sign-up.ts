/**
 * Sign-up. There is no user before the address is confirmed, so an attacker cannot take the address of somebody who has no account yet. The
 * confirmation belongs to one sign-up: in another browser it asks for the password of that sign-up, which the person who has typed it knows.
 *
 * `start` does and returns the same for every address. Only the mail differs.
 *
 * @example
 * @account.signUp
 * async signUp(ctx: ContextOf<typeof account.signUp>) {
 *   await this.signUps.start(ctx, ctx.input.body);
 *   return Reply.json({ sent: true }, 202);
 * }
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import { ValidationError } from "../../errors/framework-error.js";
import type { Context } from "../../http/request/context.js";
import { Jobs } from "../../jobs/jobs.js";
import { Session } from "../../stages/session/session.js";
import { sessionKey } from "../../stages/session/session-value.js";
import { AttemptLimits } from "../attempt-limits.js";
import { AuthSettings } from "../auth-settings.js";
import { AuthUsers } from "../auth-users.js";
import { findLanguageTag } from "../credential-notices.js";
import { refuseCrossSite } from "../cross-site.js";
import { Identities } from "../identities.js";
import { Identity } from "../identity.js";
import { Passwords } from "../passwords/passwords.js";
import { createStamp } from "../signed-in-session.js";
import { SignIn, type SignInResult } from "../sign-in/sign-in.js";
import { authMail } from "./auth-mail-jobs.js";
import { requireAllowedPassword, requireEmail, requireNewPassword } from "./new-credentials.js";
import { SignedLinks } from "./signed-links.js";
import { type SingleUseLink, SingleUseLinks } from "./single-use-links.js";

export interface NewSignUp {
  readonly email: string;
  readonly password: string;
  /** For `AuthUsers.create`: what the form asks for besides. JSON, at most 16 KiB. */
  readonly data?: unknown;
}

/** A sign-up that waits for its confirmation. */
export interface OpenSignUp {
  readonly email: string;
  readonly expiresAt: Date;
  /** Whether this browser has to give the password of the sign-up. */
  readonly needsPassword: boolean;
}

/** `password-needed`: the password of the sign-up is missing or wrong. `expired`: the link is spent, has expired, or was never one. */
export type SignUpResult = SignInResult | { readonly kind: "password-needed" } | { readonly kind: "expired" };

/** The sign-ups that this browser has started, the latest last. */
const STARTED = sessionKey<readonly string[]>("auth-sign-ups");
const MAX_STARTED = 5;
const MAX_DATA_BYTES = 16_384;

const EXPIRED: SignUpResult = { kind: "expired" };

/** The transaction of a sign-up whose address has an identity meanwhile is rolled back. */
class AddressTaken extends Error {}

export class SignUp {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys, links: { signUp } })";
  protected readonly settings = inject(AuthSettings);
  protected readonly limits = inject(AttemptLimits);
  protected readonly identities = inject(Identities);
  protected readonly users = inject(AuthUsers);
  protected readonly passwords = inject(Passwords);
  protected readonly links = inject(SignedLinks);
  protected readonly rows = inject(SingleUseLinks);
  protected readonly jobs = inject(Jobs);
  protected readonly signIn = inject(SignIn);

  /**
   * @throws ValidationError (422) for an address or a password that cannot be one; ForbiddenError (403), TooManyRequestsError (429) and
   * UnavailableError (503) as `SignIn.withPassword`
   */
  async start(ctx: Context, { email, password, data = null }: NewSignUp): Promise<void> {
    refuseCrossSite(ctx, this.settings.config.url);
    const address = requireEmail(email);
    requireNewPassword(password);
    if (Buffer.byteLength(JSON.stringify(data)) > MAX_DATA_BYTES)
      throw new ValidationError({ data: [{ code: "too-long" }] });
    await this.limits.count(ctx, `sign-up ${address}`);
    await requireAllowedPassword(this.users, password, address);
    const hash = await this.passwords.hash(password);
    const { id } = await this.links.add({ purpose: "sign-up", email: address, password: hash, data });
    await this.jobs.dispatch(authMail, { kind: "sign-up", email: address, link: id, language: findLanguageTag(ctx) });
    const session = Session.of(ctx);
    session.put(STARTED, [...((await session.get(STARTED)) ?? []), id].slice(-MAX_STARTED));
  }

  /** For the page that the mail leads to. It spends nothing, so a program that opens links changes nothing. */
  async find(ctx: Context, id: string): Promise<OpenSignUp | undefined> {
    const link = await this.links.find(ctx, id, "sign-up");
    if (link === undefined) return undefined;
    const needsPassword = !(await this.isStartedHere(ctx, id));
    return { email: link.email, expiresAt: new Date(link.expiresAt), needsPassword };
  }

  /** Creates the user and the identity, and signs the person in. */
  async confirm(ctx: Context, id: string, { password = "" }: { readonly password?: string | undefined } = {}) {
    refuseCrossSite(ctx, this.settings.config.url);
    const link = await this.links.find(ctx, id, "sign-up");
    if (link === undefined) return EXPIRED;
    if (!(await this.isStartedHere(ctx, id))) {
      await this.limits.count(ctx, `confirm ${id}`);
      if (!(await this.passwords.verify(password, link.password))) return { kind: "password-needed" } as const;
    }
    const identity = await this.createIdentity(ctx, link);
    return identity === undefined ? EXPIRED : this.signIn.complete(ctx, identity, { method: "sign-up" });
  }

  /** In one transaction: of two confirmations of an address one creates the user, and a failure leaves the link as it was. */
  private async createIdentity(ctx: Context, { id }: SingleUseLink): Promise<Identity | undefined> {
    try {
      return await this.identities.transaction(async () => {
        const link = await this.links.spend(ctx, id, "sign-up");
        if (link === undefined) return undefined;
        const { email, password, data } = link;
        const now = ctx.clock.now();
        const userId = await this.users.create({ email, data });
        const values = { userId, email, password, stamp: createStamp(), verifiedAt: now, createdAt: now };
        if (!(await this.identities.insert(values))) throw new AddressTaken();
        await this.rows.deleteSignUps(email);
        return new Identity(values);
      });
    } catch (error) {
      if (error instanceof AddressTaken) return undefined;
      throw error;
    }
  }

  private async isStartedHere(ctx: Context, id: string): Promise<boolean> {
    return (await Session.of(ctx).get(STARTED))?.includes(id) === true;
  }
}
