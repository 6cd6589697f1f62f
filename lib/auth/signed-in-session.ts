/**
 * The identity in a session: what a sign-in leaves there, and the check that it still holds. The stamp closes a race: a sign-in that has
 * verified the old password while it was changed leaves the old stamp, and its first request finds that.
 */
import { randomBytes } from "node:crypto";
import { inject } from "../di/construction/inject.js";
import { PROVIDED_BY } from "../di/provided-by.js";
import { ForbiddenError } from "../errors/framework-error.js";
import type { Context } from "../http/request/context.js";
import { Extension } from "../http/request/extension.js";
import { Session } from "../stages/session/session.js";
import { tracing } from "../tracing/tracing.js";
import { Sessions } from "../stages/session/sessions.js";
import { OWNER_NAME } from "../stages/session/stores/session-store.js";
import { AuthUsers } from "./auth-users.js";
import { Identities } from "./identities.js";
import type { Identity } from "./identity.js";
import { RememberMe } from "./remember/remember-me.js";
import { IDENTITY, type SessionIdentity, type SignInMethod, UNCHECKED } from "./session-identity.js";
import { DEVICE, readDevice } from "./sign-in/device.js";

const log = tracing.target("framework::auth");

/** The stamp is compared at most once in this time: one minute. Times count in both directions, because a clock may go back. */
const CHECK_EVERY_MS = 60_000;
/** A confirmation counts this time: fifteen minutes. */
const CONFIRMED_FOR_MS = 900_000;

/** Settles when the device of the request has its session. */
const Resumed = new Extension<Promise<void>>("resumed device");

export class SignedInSession {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  private readonly identities = inject(Identities);
  private readonly users = inject(AuthUsers);
  private readonly store = inject(Sessions);
  private readonly remember = inject(RememberMe);

  /**
   * The identity of the session, which has ended where its credentials have changed. Without a session, that of the device that is
   * remembered: it gets a session, once for a request.
   */
  find(ctx: Context): SessionIdentity | undefined | Promise<SessionIdentity | undefined> {
    const current = Session.of(ctx).read(IDENTITY);
    return current instanceof Promise ? current.then((read) => this.accept(ctx, read)) : this.accept(ctx, current);
  }

  /** Signs somebody in: the session gets a new id. Values of a visitor stay, and those of another person do not. */
  async start(ctx: Context, identity: Identity, method: SignInMethod, signInId = createSignInId()): Promise<void> {
    const session = Session.of(ctx);
    const before = await session.get(IDENTITY);
    if (before !== undefined && before.userId !== identity.userId) session.flush();
    session.regenerate();
    const now = ctx.clock.now();
    const { userId, email, isVerified, stamp } = identity;
    const confirmedAt = method === "remember-me" ? 0 : now;
    session.setOwner(userId);
    session.put(DEVICE, readDevice(ctx));
    session.put(IDENTITY, {
      userId,
      email,
      isVerified,
      signInId,
      stamp,
      method,
      signedInAt: now,
      confirmedAt,
      checkedAt: 0,
    });
  }

  /** Changes the identity of the session, which gets a new id: a save of an earlier request cannot undo the change. */
  async change(ctx: Context, change: Partial<SessionIdentity>): Promise<void> {
    const session = Session.of(ctx);
    const current = await session.get(IDENTITY);
    if (current === undefined) return;
    session.regenerate();
    session.put(IDENTITY, { ...current, ...change });
  }

  /**
   * After a change of the credentials, which has given the identity a new stamp: the other sessions of the person end, and that of the
   * request goes on under a new id.
   */
  async renew(
    ctx: Context,
    identity: Pick<Identity, "userId" | "stamp">,
    change: Partial<SessionIdentity> = {},
  ): Promise<void> {
    await this.remember.renew(ctx, identity);
    await this.endAll(identity.userId, ctx);
    await this.change(ctx, { stamp: identity.stamp, ...change });
  }

  /** @throws ForbiddenError (403) unless the person has shown who they are in the last 15 minutes */
  async requireConfirmation(ctx: Context): Promise<void> {
    const current = await Session.of(ctx).get(IDENTITY);
    if (Math.abs(ctx.clock.now() - (current?.confirmedAt ?? 0)) < CONFIRMED_FOR_MS) return;
    const detail = "Confirm who you are first.";
    throw new ForbiddenError(detail, { code: "E_AUTH_UNCONFIRMED", slug: "confirmation" });
  }

  /**
   * Ends the sessions of a user in the store at once, in all processes, and forgets the devices; with a context all but that of the request.
   * Returns the number of sessions.
   */
  async endAll(userId: string, except?: Context): Promise<number> {
    const session = except && Session.of(except);
    const signInId = (await session?.get(IDENTITY))?.signInId;
    // A device that is remembered could open a session again.
    await this.remember.end(userId, { except: signInId });
    return this.store.endAll(userId, { except: ({ key }) => key === session?.key });
  }

  /** No promise where the stamp was compared within the last minute, as in most requests. */
  private accept(
    ctx: Context,
    current: SessionIdentity | undefined,
  ): SessionIdentity | undefined | Promise<SessionIdentity | undefined> {
    if (current === undefined) return this.resume(ctx);
    // A session that another device ended while a request changed it is back with that change alone: without its owner.
    if (Session.of(ctx).read(OWNER_NAME) !== current.userId) return this.end(ctx);
    const { checkedAt } = current;
    const isChecked = checkedAt === UNCHECKED || Math.abs(ctx.clock.now() - checkedAt) < CHECK_EVERY_MS;
    return isChecked ? current : this.check(ctx, current);
  }

  /** The session is read after it, because the request may have signed out since. */
  private async resume(ctx: Context): Promise<SessionIdentity | undefined> {
    const resumed = Resumed.find(ctx) ?? this.resumeDevice(ctx);
    Resumed.set(ctx, resumed);
    await resumed;
    return Session.of(ctx).get(IDENTITY);
  }

  private async resumeDevice(ctx: Context): Promise<void> {
    const { identity, signInId } = (await this.remember.find(ctx)) ?? {};
    if (identity === undefined || !(await this.users.canSignIn(identity.userId))) return;
    await this.start(ctx, identity, "remember-me", signInId);
    log.info("signed in", { user_id: identity.userId, method: "remember-me" });
  }

  private async check(ctx: Context, current: SessionIdentity): Promise<SessionIdentity | undefined> {
    const { userId, stamp } = current;
    const identity = await this.identities.find(userId);
    if (identity?.stamp !== stamp || !(await this.users.canSignIn(userId))) return this.end(ctx);
    // The device may have been signed out from elsewhere while it opened this session.
    const isFirst = current.method === "remember-me" && current.checkedAt === 0;
    if (isFirst && !(await this.remember.isKnown(ctx, current))) return this.end(ctx);
    const { email, isVerified } = identity;
    const checked = { ...current, email, isVerified, checkedAt: ctx.clock.now() };
    Session.of(ctx).put(IDENTITY, checked);
    return checked;
  }

  private end(ctx: Context): undefined {
    Session.of(ctx).flush();
  }
}

export function createSignInId(): string {
  return randomBytes(16).toString("hex");
}

/** A new stamp of an identity: 128 random bits. */
export function createStamp(): string {
  return randomBytes(16).toString("hex");
}
