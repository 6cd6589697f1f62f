/** The person whose browser sends the request. */
import { sessionKey, Session } from "@stagecraft/framework/session";
import type { Context } from "@stagecraft/framework";

const NAME = sessionKey<string>("account");

/** The name of the account; `undefined` for a visitor who has not signed in. */
export function visitorOf(ctx: Context): Promise<string | undefined> {
  return Session.of(ctx).get(NAME);
}

/** A new id: one that an attacker planted before is worth nothing then. */
export function signIn(ctx: Context, name: string): void {
  const session = Session.of(ctx);
  session.regenerate();
  session.put(NAME, name);
}

export function signOut(ctx: Context): void {
  Session.of(ctx).flush();
}
