import { Context, inject, Injectable, type Middleware, type Next } from "@stagecraft/framework";
import { SignedInSession } from "@stagecraft/framework/auth";
import { share } from "@stagecraft/framework/pages";
import { People } from "./people.js";
import { PROVIDER_NAME } from "./provider/provider-part.js";

/** Adds the account to every page, and the name of the provider. A layer of the application, because every page shows who has signed in. */
@Injectable()
export class Visitors implements Middleware {
  private readonly sessions = inject(SignedInSession);
  private readonly people = inject(People);
  private readonly provider = inject(PROVIDER_NAME);

  handle(ctx: Context, next: Next) {
    share(ctx, {
      provider: this.provider,
      account: async () => (await this.sessions.find(ctx))?.email ?? null,
      isAdmin: async () => this.people.isAdmin((await this.sessions.find(ctx))?.email ?? ""),
    });
    return next();
  }
}
