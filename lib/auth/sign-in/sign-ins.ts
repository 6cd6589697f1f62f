/**
 * The sign-ins of a person on their devices: where they are signed in, and how to sign out there. A sign-in is one entry, also if it has
 * several sessions, or none while its device is remembered.
 *
 * Each method ends sessions in the store at once, and forgets the devices that could open them again.
 *
 * @example
 * @account.devices
 * devices(ctx: ContextOf<typeof account.devices>) {
 *   return this.signIns.list(ctx);
 * }
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Context } from "../../http/request/context.js";
import { Session } from "../../stages/session/session.js";
import { type OwnedSession, Sessions } from "../../stages/session/sessions.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthSettings } from "../auth-settings.js";
import { refuseCrossSite } from "../cross-site.js";
import type { WithIdentity } from "../guards.js";
import { Identities } from "../identities.js";
import { RememberMe } from "../remember/remember-me.js";
import { endSignInSessions, IDENTITY, type SignInMethod } from "../session-identity.js";
import { SignedInSession } from "../signed-in-session.js";
import { DEVICE, type SignInDevice } from "./device.js";
import { PENDING } from "./second-step.js";

const log = tracing.target("framework::auth");

/** A sign-in in the list of a person. */
export interface ListedSignIn extends SignInDevice {
  readonly signInId: string;
  /** Whether it is that of the request. */
  readonly isCurrent: boolean;
  readonly method: SignInMethod;
  /** Milliseconds since the Unix epoch. */
  readonly signedInAt: number;
  /** The time of the last use, to the minute. */
  readonly lastUsedAt: number;
  /** Whether the device stays signed in when its session has ended. */
  readonly isRemembered: boolean;
}

export class SignIns {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  protected readonly settings = inject(AuthSettings);
  protected readonly identities = inject(Identities);
  protected readonly remember = inject(RememberMe);
  protected readonly store = inject(Sessions);
  protected readonly sessions = inject(SignedInSession);

  /** The sign-ins of the person: that of the request, and then the one used last. */
  async list(ctx: Context & WithIdentity): Promise<readonly ListedSignIn[]> {
    const { userId, signInId } = ctx.identity;
    const found = new Map<string, ListedSignIn>();
    // The entry of a device that is remembered comes last: it knows how the person signed in.
    for (const each of [...(await this.listSessions(userId)), ...(await this.listDevices(ctx))])
      found.set(each.signInId, mergeSignIns(found.get(each.signInId), each));
    const current = found.get(signInId);
    found.delete(signInId);
    const others = [...found.values()].toSorted((one, other) => other.lastUsedAt - one.lastUsedAt);
    return current === undefined ? others : [{ ...current, isCurrent: true, lastUsedAt: ctx.clock.now() }, ...others];
  }

  /** Signs out here: the session ends, with all its values, and the device is forgotten. Without a sign-in it does nothing. */
  async end(ctx: Context): Promise<void> {
    this.refuseCrossSite(ctx);
    const session = Session.of(ctx);
    const current = await session.get(IDENTITY);
    await this.remember.forget(ctx);
    // A sign-in that waits for its second step ends too.
    if ((await session.get(PENDING)) !== undefined) session.forget(PENDING);
    if (current === undefined) return;
    const { userId, signInId } = current;
    // Requests at the same time may have opened several sessions of the device.
    await endSignInSessions(this.store, userId, signInId);
    session.flush();
    log.info("signed out", { user_id: userId });
  }

  /** Signs out on one device. False if the person has no such sign-in: one of another person does not end. */
  async endOne(ctx: Context & WithIdentity, signInId: string): Promise<boolean> {
    if (signInId === ctx.identity.signInId) return this.end(ctx).then(() => true);
    this.refuseCrossSite(ctx);
    // A form may send any text, and not every database takes any.
    if (!isSignInId(signInId)) return false;
    const { userId } = ctx.identity;
    const devices = await this.remember.end(userId, { only: signInId });
    const ended = devices + (await endSignInSessions(this.store, userId, signInId));
    if (ended > 0) log.info("signed out elsewhere", { user_id: userId });
    return ended > 0;
  }

  /** Signs out on all other devices. */
  async endOthers(ctx: Context & WithIdentity): Promise<void> {
    this.refuseCrossSite(ctx);
    const { userId } = ctx.identity;
    await this.sessions.endAll(userId, ctx);
    log.info("signed out elsewhere", { user_id: userId });
  }

  /** Signs a user out everywhere, for example one who is deactivated: `AuthUsers.canSignIn` keeps them out. Outside of a transaction. */
  async endAll(userId: string): Promise<void> {
    await this.sessions.endAll(userId);
    log.info("signed out everywhere", { user_id: userId });
  }

  private refuseCrossSite(ctx: Context): void {
    refuseCrossSite(ctx, this.settings.config.url);
  }

  private async listSessions(userId: string): Promise<readonly ListedSignIn[]> {
    const all = await Promise.all((await this.store.list(userId)).map(toListed));
    return all.filter((each) => each !== undefined);
  }

  /** Without those whose password has changed since. */
  private async listDevices(ctx: Context & WithIdentity): Promise<readonly ListedSignIn[]> {
    const { userId } = ctx.identity;
    const stamp = (await this.identities.find(userId))?.stamp;
    const tokens = (await this.remember.list(ctx, userId)).filter((token) => token.stamp === stamp);
    return tokens.map(({ signInId, method, userAgent, address, createdAt, rotatedAt }) => {
      const times = { signedInAt: createdAt, lastUsedAt: rotatedAt };
      return { signInId, method, userAgent, address, ...times, isCurrent: false, isRemembered: true };
    });
  }
}

function isSignInId(text: string): boolean {
  return /^[\da-f]{32}$/.test(text);
}

async function toListed(session: OwnedSession): Promise<ListedSignIn | undefined> {
  const identity = await session.get(IDENTITY);
  if (identity === undefined) return undefined;
  const { signInId, method, signedInAt } = identity;
  const { userAgent = "", address = "" } = (await session.get(DEVICE)) ?? {};
  const lastUsedAt = session.renewedAt;
  return { signInId, method, signedInAt, lastUsedAt, userAgent, address, isCurrent: false, isRemembered: false };
}

/** The device is that of the last use. */
function mergeSignIns(before: ListedSignIn | undefined, next: ListedSignIn): ListedSignIn {
  if (before === undefined) return next;
  const latest = before.lastUsedAt >= next.lastUsedAt ? before : next;
  return {
    ...latest,
    method: before.method === "remember-me" ? next.method : before.method,
    signedInAt: Math.min(before.signedInAt, next.signedInAt),
    isRemembered: before.isRemembered || next.isRemembered,
  };
}
