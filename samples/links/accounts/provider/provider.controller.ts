import { type ContextOf, type Context, Controller, inject, Middleware, redirect } from "@stagecraft/framework";
import { Identities } from "@stagecraft/framework/auth";
import { ProviderLinks, ProviderSignIn, ProviderUnavailableError } from "@stagecraft/framework/oauth";
import { page } from "@stagecraft/framework/pages";
import { backTo } from "../../back-to.js";
import * as pages from "../../contracts.js";
import { say } from "../../languages.js";
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
    await this.say(ctx, result.kind === "signed-in" && result.isNew ? "signed-up" : result.kind);
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
    await this.say(ctx, kind);
    return redirect().route(providers.linked);
  }

  /** A provider that is down leads back to the page of the link. */
  private async reach<T>(ctx: Context, from: { readonly url: () => string }, start: () => Promise<T>) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      await this.say(ctx, "unavailable");
      return redirect().to(from.url());
    }
  }

  private say(ctx: Context, kind: keyof typeof MESSAGES): Promise<void> {
    const [level, message] = MESSAGES[kind];
    return say(ctx, level, message, { provider: this.name });
  }
}

/** For each result of the flows. */
const MESSAGES = {
  "signed-in": ["success", "flash-signed-in"],
  "signed-up": ["success", "flash-provider-signed-up"],
  linked: ["success", "flash-provider-linked"],
  unlinked: ["success", "flash-provider-unlinked"],
  "link-needed": ["info", "flash-provider-link-needed"],
  "email-needed": ["error", "flash-provider-email-needed"],
  "no-account": ["error", "flash-provider-no-account"],
  taken: ["error", "flash-provider-taken"],
  canceled: ["info", "flash-provider-canceled"],
  refused: ["error", "flash-provider-refused"],
  expired: ["error", "flash-provider-expired"],
  unavailable: ["error", "flash-provider-unavailable"],
  missing: ["info", "flash-provider-missing"],
  last: ["error", "flash-provider-last"],
} as const;
