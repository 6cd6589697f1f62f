/**
 * Keeps a device signed in when its session has ended, for 30 days after each use. The device has a token in a cookie, and a use replaces
 * it, at most once a minute.
 *
 * Requests at the same time get the same successor: the token before the current one counts for a minute. After that it is a copy, because
 * the device has the successor: the sign-in of the device ends then, for the device and for the copy.
 *
 * A response never deletes the cookie, except where the person signs out: the response to a request that lost the race could delete the
 * cookie that the winner has set.
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Context } from "../../http/request/context.js";
import { Sessions } from "../../stages/session/sessions.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthSettings } from "../auth-settings.js";
import { Identities } from "../identities.js";
import type { Identity } from "../identity.js";
import { endSignInSessions, type SessionIdentity } from "../session-identity.js";
import { readDevice } from "../sign-in/device.js";
import { RotatedTokens, type ReceivedToken, rotateToken } from "../rotated-token.js";
import { RememberCookie } from "./remember-cookie.js";
import { type RememberScope, type RememberToken, RememberTokens } from "./remember-tokens.js";

const log = tracing.target("framework::auth");

const LIFETIME_MS = 30 * 86_400_000;

/** The sign-in that a device remembers. */
export type RememberedBy = Pick<SessionIdentity, "signInId" | "method">;

export interface RememberedSignIn {
  readonly identity: Identity;
  readonly signInId: string;
}

export class RememberMe {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  protected readonly tokens = inject(RememberTokens);
  protected readonly identities = inject(Identities);
  protected readonly sessions = inject(Sessions);
  private readonly cookie = new RememberCookie(inject(AuthSettings).keys);

  /** Remembers the device of a sign-in, in the place of an earlier one. */
  async start(
    ctx: Context,
    { userId, stamp }: Pick<Identity, "userId" | "stamp">,
    { signInId, method }: RememberedBy,
  ): Promise<void> {
    const selector = RotatedTokens.createSelector();
    const now = ctx.clock.now();
    const times = { createdAt: now, rotatedAt: now, expiresAt: now + LIFETIME_MS };
    await this.tokens.insert({
      selector,
      userId,
      stamp,
      signInId,
      method,
      generation: 0,
      ...times,
      ...readDevice(ctx),
    });
    await this.forget(ctx);
    this.cookie.write(ctx, { selector, generation: 0 }, LIFETIME_MS);
  }

  /** The sign-in that the device remembers. The caller opens its session. */
  async find(ctx: Context): Promise<RememberedSignIn | undefined> {
    const received = this.cookie.read(ctx);
    if (received === undefined) return undefined;
    const token = await this.tokens.find(received.selector, ctx.clock.now());
    const identity = token && (await this.identities.find(token.userId));
    if (token === undefined || identity?.stamp !== token.stamp) return undefined;
    const generation = await this.rotate(token, received, ctx.clock.now());
    if (generation === undefined) return undefined;
    this.cookie.replace(ctx, { selector: token.selector, generation }, LIFETIME_MS);
    return { identity, signInId: token.signInId };
  }

  /** Forgets the device of the request, and deletes its cookie. */
  async forget(ctx: Context): Promise<void> {
    const received = this.cookie.read(ctx);
    if (received === undefined) return;
    await this.tokens.delete(received.selector);
    this.cookie.delete(ctx);
  }

  /**
   * After a change of the password: the device of the request gets a new token where it has one. A copy of the old one counts no more.
   *
   * @param identity with its new stamp
   */
  async renew(ctx: Context, identity: Pick<Identity, "userId" | "stamp">): Promise<void> {
    const received = this.cookie.read(ctx);
    const token = received && (await this.tokens.find(received.selector, ctx.clock.now()));
    if (token?.userId === identity.userId) await this.start(ctx, identity, token);
  }

  /** Forgets the devices of a user, of one sign-in or of all but one. Returns their number. */
  end(userId: string, scope?: RememberScope): Promise<number> {
    return this.tokens.deleteOfUser(userId, scope);
  }

  /** Whether a sign-in is remembered. */
  async isKnown(ctx: Context, { userId, signInId }: SessionIdentity): Promise<boolean> {
    return (await this.list(ctx, userId)).some((token) => token.signInId === signInId);
  }

  list(ctx: Context, userId: string): Promise<readonly RememberToken[]> {
    return this.tokens.listOfUser(userId, ctx.clock.now());
  }

  /** The generation that the device uses next; `undefined` for a token that counts no more. */
  private async rotate(token: RememberToken, received: ReceivedToken, now: number): Promise<number | undefined> {
    const next = await rotateToken(this.tokens, token, received, { now, lifetimeMs: LIFETIME_MS });
    if (next !== "copy") return next;
    await this.revoke(token);
    return undefined;
  }

  /** The token is deleted last: if the store of the sessions fails, the next use of the copy tries again. */
  private async revoke({ selector, userId, signInId }: RememberToken): Promise<void> {
    log.warn("token of remember-me used twice: its sign-in ends", { user_id: userId });
    await endSignInSessions(this.sessions, userId, signInId);
    await this.tokens.delete(selector);
  }
}
