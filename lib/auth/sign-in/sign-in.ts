/**
 * Sign-in. `withPassword` checks an address and a password; `complete` finishes every kind of sign-in, those of other classes too. An unknown
 * address, a wrong password and a deactivated user give the same result after the same work.
 *
 * No method renders: a controller turns the result into JSON, a page or a redirect. A company's rules are a class that extends this one, bound
 * by `provide(SignIn).useClass(CompanySignIn)` after `authentication()`.
 *
 * @example
 * @account.signIn
 * async signIn(ctx: ContextOf<typeof account.signIn>) {
 *   const { kind } = await this.signIns.withPassword(ctx, ctx.input.body);
 *   return kind === "refused" ? Reply.problem(Problem.of(401, "Address or password is wrong.")) : { kind };
 * }
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import { describeThrown } from "../../errors/thrown-value.js";
import type { Context } from "../../http/request/context.js";
import { Session } from "../../stages/session/session.js";
import { tracing } from "../../tracing/tracing.js";
import { AttemptLimits } from "../attempt-limits.js";
import { AuthSettings } from "../auth-settings.js";
import { AuthUsers } from "../auth-users.js";
import { refuseCrossSite } from "../cross-site.js";
import { Identities } from "../identities.js";
import { type Identity, readEmail } from "../identity.js";
import { Passwords } from "../passwords/passwords.js";
import { RememberMe } from "../remember/remember-me.js";
import type { SignInMethod } from "../session-identity.js";
import { createSignInId, SignedInSession } from "../signed-in-session.js";
import { PENDING, PENDING_MS, type PendingSignIn, SecondStep } from "./second-step.js";

const log = tracing.target("framework::auth");

export interface PasswordSignIn {
  readonly email: string;
  readonly password: string;
  /** Whether this device stays signed in when its session has expired. */
  readonly remember?: boolean | undefined;
}

export interface SignInCompletion {
  readonly method: SignInMethod;
  readonly remember?: boolean | undefined;
  /** True for a proof that counts as both steps, such as a passkey that has verified its user. */
  readonly isSecondStepDone?: boolean;
}

/** `second-step`: the password was right, and the user has to give a further proof. */
export type SignInResult =
  | { readonly kind: "signed-in"; readonly userId: string }
  | { readonly kind: "second-step" }
  | { readonly kind: "refused" };

const REFUSED: SignInResult = { kind: "refused" };

export class SignIn {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  protected readonly settings = inject(AuthSettings);
  protected readonly limits = inject(AttemptLimits);
  protected readonly identities = inject(Identities);
  protected readonly users = inject(AuthUsers);
  protected readonly passwords = inject(Passwords);
  protected readonly secondStep = inject(SecondStep);
  protected readonly sessions = inject(SignedInSession);
  protected readonly remember = inject(RememberMe);

  /**
   * @throws ForbiddenError (403) for a request of another site; TooManyRequestsError (429) after five attempts on an address, or fifty of a
   * client, in fifteen minutes; UnavailableError (503) while too many passwords are hashed, or a store does not respond
   */
  async withPassword(ctx: Context, { email, password, remember }: PasswordSignIn): Promise<SignInResult> {
    refuseCrossSite(ctx, this.settings.config.url);
    const address = readEmail(email);
    await this.limits.count(ctx, `sign-in ${address ?? ""}`);
    const identity = await this.identities.findByEmail(address ?? "");
    const isRight = await this.passwords.verify(password, identity?.password);
    if (identity === undefined || !isRight) return this.refuse("password");
    const result = await this.complete(ctx, identity, { method: "password", remember });
    if (result.kind !== "refused") await this.renewHash(identity, password);
    return result;
  }

  /** Signs a person in who has shown who they are, or asks for the second step. A deactivated user is refused. */
  async complete(ctx: Context, identity: Identity, completion: SignInCompletion): Promise<SignInResult> {
    const { userId } = identity;
    const { method, remember = false, isSecondStepDone = false } = completion;
    if (!(await this.users.canSignIn(userId))) return this.refuse(method);
    if (!isSecondStepDone && (await this.secondStep.isRequired(userId))) {
      await this.wait(ctx, { userId, stamp: identity.stamp, method, remember });
      return { kind: "second-step" };
    }
    const signInId = createSignInId();
    // A device remembers at most one person: the one who has signed in last. A store that fails here leaves the session as it was.
    if (remember) await this.remember.start(ctx, identity, { signInId, method });
    else await this.remember.forget(ctx);
    await this.sessions.start(ctx, identity, method, signInId);
    Session.of(ctx).forget(PENDING);
    log.info("signed in", { user_id: userId, method });
    return { kind: "signed-in", userId };
  }

  /** The sign-in that waits for its second step, for ten minutes after the first. A changed password ends it. */
  async findPending(
    ctx: Context,
  ): Promise<{ readonly identity: Identity; readonly pending: PendingSignIn } | undefined> {
    const pending = await Session.of(ctx).get(PENDING);
    if (pending === undefined || pending.expiresAt < ctx.clock.now()) return undefined;
    const identity = await this.identities.find(pending.userId);
    return identity?.stamp === pending.stamp ? { identity, pending } : undefined;
  }

  private async wait(ctx: Context, pending: Omit<PendingSignIn, "expiresAt">): Promise<void> {
    const session = Session.of(ctx);
    session.regenerate();
    session.put(PENDING, { ...pending, expiresAt: ctx.clock.now() + PENDING_MS });
  }

  /**
   * A hash of an older kind is replaced while the password is at hand. Of two sign-ins, and of a change meanwhile, one takes effect. Where it
   * cannot be replaced now, the next sign-in tries again.
   */
  private async renewHash({ userId, password: old = "", stamp }: Identity, password: string): Promise<void> {
    if (!this.passwords.needsRehash(old)) return;
    try {
      await this.identities.setPassword(userId, { from: stamp, password: await this.passwords.hash(password), stamp });
    } catch (error) {
      log.warn("hash of a password not renewed", { user_id: userId, ...describeThrown(error) });
    }
  }

  private refuse(method: SignInMethod): SignInResult {
    log.info("sign-in refused", { method });
    return REFUSED;
  }
}
