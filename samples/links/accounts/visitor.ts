/** The person whose browser sends the request. */
import { sessionKey, Session } from "@stagecraft/framework/session";
import type { Context } from "@stagecraft/framework";

const NAME = sessionKey<string>("account");
const ADMIN = sessionKey<boolean>("admin");

/** The name of the account; `undefined` for a visitor who has not signed in. */
export function findVisitor(ctx: Context<string>): Promise<string | undefined> {
  return Session.of(ctx).get(NAME);
}

/** A new id, so that an id that an attacker planted before is useless. */
export function signIn(ctx: Context<string>, name: string): void {
  const session = Session.of(ctx);
  session.regenerate();
  session.put(NAME, name);
}

export function signOut(ctx: Context<string>): void {
  Session.of(ctx).flush();
}

/** Whether the visitor has entered the admin key. */
export async function isAdmin(ctx: Context<string>): Promise<boolean> {
  return (await Session.of(ctx).get(ADMIN)) === true;
}

export function enterAsAdmin(ctx: Context<string>): void {
  const session = Session.of(ctx);
  session.regenerate();
  session.put(ADMIN, true);
}
