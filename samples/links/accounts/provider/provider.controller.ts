import { type ContextOf, type Context, Controller, inject, Middleware, redirect } from "@stagecraft/framework";
import { Identities } from "@stagecraft/framework/auth";
import { ProviderLinks, ProviderSignIn, ProviderUnavailableError } from "@stagecraft/framework/oauth";
import { page } from "@stagecraft/framework/pages";
import { Flash } from "@stagecraft/framework/session";
import { backTo } from "../../back-to.js";
import * as pages from "../../contracts.js";
import { account } from "../account.routes.js";
import { PROVIDER_NAME } from "./provider-part.js";
import { providers } from "./provider.routes.js";

/** Signing in at the provider, and the accounts there that belong to a person. The flows decide, and these handlers lead on with a message. */
@Controller(providers)
@Middleware(backTo(providers.linked))
export class ProviderController {
  private readonly signIns = inject(ProviderSignIn);
  private readonly links = inject(ProviderLinks);
  private readonly identities = inject(Identities);
  private readonly name = inject(PROVIDER_NAME) ?? "";

  @providers.start
  start(ctx: ContextOf<typeof providers.start>) {
    return this.reach(ctx, account.signIn, () => this.signIns.start(ctx, ctx.params.provider));
  }

  @providers.callback
  async finish(ctx: ContextOf<typeof providers.callback>) {
    const result = await this.signIns.finish(ctx, ctx.params.provider);
    if (result.kind === "second-step") return redirect().route(account.secondStep);
    this.say(ctx, result.kind === "signed-in" && result.isNew ? "signed-up" : result.kind);
    if (result.kind === "signed-in" || result.kind === "linked") return redirect().to(result.returnTo);
    // The page of the linked accounts asks for the sign-in, and leads back to itself.
    const isForLinks = ctx.identity !== undefined || result.kind === "link-needed";
    return redirect().to(isForLinks ? providers.linked.url() : account.signIn.url());
  }

  @providers.linked
  async linked(ctx: ContextOf<typeof providers.linked>) {
    const identity = await this.identities.find(ctx.identity.userId);
    const accounts = (await this.links.list(ctx)).map(({ id, email, createdAt, lastUsedAt }) => {
      return { id, email, createdAt, lastUsedAt };
    });
    return page(pages.linked, { accounts, hasPassword: identity?.password !== undefined }).encryptHistory();
  }

  @providers.link
  link(ctx: ContextOf<typeof providers.link>) {
    const returnTo = providers.linked.url();
    return this.reach(ctx, providers.linked, () => this.links.start(ctx, ctx.params.provider, { returnTo }));
  }

  @providers.unlink
  async unlink(ctx: ContextOf<typeof providers.unlink>) {
    const { kind } = await this.links.unlink(ctx, ctx.params.id);
    this.say(ctx, kind);
    return redirect().route(providers.linked);
  }

  /** A provider that is down leads back to the page of the link. */
  private async reach<T>(ctx: Context, from: { readonly url: () => string }, start: () => Promise<T>) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      this.say(ctx, "unavailable");
      return redirect().to(from.url());
    }
  }

  private say(ctx: Context, kind: keyof typeof MESSAGES): void {
    const [level, message] = MESSAGES[kind];
    Flash.of(ctx)[level](message.replace("{provider}", () => this.name));
  }
}

/** For each result of the flows. */
const MESSAGES = {
  "signed-in": ["success", "You have signed in."],
  "signed-up": ["success", "Welcome. You have an account now."],
  linked: ["success", "The account is linked. Your other devices are signed out."],
  unlinked: ["success", "The account is unlinked. Your other devices are signed out."],
  "link-needed": ["info", "An account here has that address already. Sign in to it, and link it to {provider} then."],
  "email-needed": ["error", "{provider} has not confirmed your address. Confirm it there, or sign up here."],
  "no-account": ["error", "You have no account here."],
  taken: ["error", "That account at {provider} belongs to somebody else here."],
  canceled: ["info", "You have canceled, and nothing has changed."],
  refused: ["error", "{provider} has refused the sign-in."],
  expired: ["error", "That took too long, or was done already. Start again."],
  unavailable: ["error", "{provider} does not respond. Try again in a few minutes."],
  missing: ["info", "That account was not linked any more."],
  last: ["error", "This account is your only way to sign in. Set a password first."],
} as const;
