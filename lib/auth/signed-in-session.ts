/**
 * The identity in a session: what a sign-in leaves there, and the check that it still holds. The stamp closes a race: a sign-in that has
 * verified the old password while it was changed leaves the old stamp, and its first request finds that.
 */
import { randomBytes } from "node:crypto";
import { inject } from "../di/construction/inject.js";
import type { Context } from "../http/request/context.js";
import { Session } from "../stages/session/session.js";
import { Sessions } from "../stages/session/sessions.js";
import { sessionKey } from "../stages/session/session-value.js";
import { AuthUsers } from "./auth-users.js";
import { Identities } from "./identities.js";
import type { Identity } from "./identity.js";

/** How somebody has signed in, for the list of sign-ins and for events. */
export type SignInMethod = "password" | "link" | "sign-up" | "remember-me" | "passkey" | "second-step";

/** The value of the session. It holds no secret. */
export interface SessionIdentity {
  readonly userId: string;
  readonly email: string;
  readonly isVerified: boolean;
  /** One sign-in on one device: sessions that remember-me opens share it. */
  readonly signInId: string;
  readonly stamp: string;
  readonly method: SignInMethod;
  /** Milliseconds since the Unix epoch, as all times. */
  readonly signedInAt: number;
  /** When the person has shown last who they are; 0 for never in this session. */
  readonly confirmedAt: number;
  /** When the stamp was compared last; 0 before the first request after the sign-in. */
  readonly checkedAt: number;
}

export const IDENTITY = sessionKey<SessionIdentity>("auth");

/** The stamp is compared at most once in this time: one minute. */
const CHECK_EVERY_MS = 60_000;

export class SignedInSession {
  private readonly identities = inject(Identities);
  private readonly users = inject(AuthUsers);
  private readonly store = inject(Sessions);

  /** The identity of the session, which has ended where its credentials have changed. */
  async find(ctx: Context): Promise<SessionIdentity | undefined> {
    const current = await Session.of(ctx).get(IDENTITY);
    if (current === undefined || ctx.clock.now() - current.checkedAt < CHECK_EVERY_MS) return current;
    return this.check(ctx, current);
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

  /** Ends the sessions of a user in the store at once, in all processes; with a context all but that of the request. */
  async endAll(userId: string, except?: Context): Promise<void> {
    const current = except && Session.of(except).key;
    await this.store.endAll(userId, { except: ({ key }) => key === current });
  }

  private async check(ctx: Context, current: SessionIdentity): Promise<SessionIdentity | undefined> {
    const { userId, stamp } = current;
    const identity = await this.identities.find(userId);
    const session = Session.of(ctx);
    if (identity?.stamp !== stamp || !(await this.users.canSignIn(userId))) {
      session.flush();
      return undefined;
    }
    const { email, isVerified } = identity;
    const checked = { ...current, email, isVerified, checkedAt: ctx.clock.now() };
    session.put(IDENTITY, checked);
    return checked;
  }
}

export function createSignInId(): string {
  return randomBytes(16).toString("hex");
}

/** A new stamp of an identity: 128 random bits. */
export function createStamp(): string {
  return randomBytes(16).toString("hex");
}
