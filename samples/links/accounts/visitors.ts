import { Context, inject, Injectable, type Middleware, type Next } from "@stagecraft/framework";
import { type SessionIdentity, SignedInSession } from "@stagecraft/framework/auth";
import { share } from "@stagecraft/framework/pages";
import { Session } from "@stagecraft/framework/session";
import { People } from "./people.js";

/** Who visits a page that everybody may see. A layer of the application, because every page shows who has signed in. */
@Injectable()
export class Visitors implements Middleware {
  private readonly sessions = inject(SignedInSession);
  private readonly people = inject(People);
  private readonly found = new WeakMap<Context, Promise<SessionIdentity | undefined>>();

  handle(ctx: Context, next: Next) {
    share(ctx, {
      account: async () => (await this.find(ctx))?.email ?? null,
      isAdmin: async () => this.people.isAdmin((await this.find(ctx))?.email ?? ""),
    });
    return next();
  }

  /** Once a request: it may open the session of a device that is remembered. */
  find(ctx: Context): Promise<SessionIdentity | undefined> {
    const found = this.found.get(ctx) ?? Promise.resolve(Session.find(ctx) && this.sessions.find(ctx));
    this.found.set(ctx, found);
    return found;
  }
}
