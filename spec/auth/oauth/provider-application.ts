/** An application with sign-in at providers, whose handlers return the results of the flows as JSON. */
import {
  Controller,
  type ContextOf,
  Delete,
  Get,
  inject,
  Post,
  provide,
  type Binding,
  routes,
} from "@stagecraft/framework";
import { recentlyConfirmed, signedIn } from "@stagecraft/framework/auth/guards";
import {
  oauth,
  type OAuthOptions,
  provider,
  ProviderClients,
  ProviderLinks,
  ProviderSignIn,
  ProviderTokens,
} from "@stagecraft/framework/oauth";
import { FakeClock, ProviderDouble, type TestApp } from "@stagecraft/framework/testing";
import { type AccountOptions, startAccounts } from "../account-application.js";

export const providers = routes("providers", "/providers", {
  page: Get("/"),
  start: Get("/sign-in/{provider}"),
  callback: Get("/callback/{provider}"),
  list: Get("/accounts", { guards: [signedIn] }),
  link: Get("/link/{provider}", { guards: [signedIn, recentlyConfirmed] }),
  unlink: Delete("/accounts/{id}", { guards: [signedIn] }),
  token: Get("/token/{provider}", { guards: [signedIn] }),
  signOut: Post("/sign-out"),
});

@Controller(providers)
export class ProvidersController {
  private readonly signIns = inject(ProviderSignIn);
  private readonly links = inject(ProviderLinks);
  private readonly tokens = inject(ProviderTokens);

  @providers.page page() {
    return "a page";
  }

  @providers.start start(ctx: ContextOf<typeof providers.start>) {
    const query = new URL(ctx.originalUrl ?? "", "http://none").searchParams;
    return this.signIns.start(ctx, ctx.params.provider, { returnTo: query.get("to") ?? undefined });
  }

  @providers.callback finish(ctx: ContextOf<typeof providers.callback>) {
    return this.signIns.finish(ctx, ctx.params.provider);
  }

  @providers.list list(ctx: ContextOf<typeof providers.list>) {
    return this.links.list(ctx);
  }

  @providers.link link(ctx: ContextOf<typeof providers.link>) {
    return this.links.start(ctx, ctx.params.provider, { returnTo: "/providers/accounts" });
  }

  @providers.unlink unlink(ctx: ContextOf<typeof providers.unlink>) {
    return this.links.unlink(ctx, ctx.params.id);
  }

  @providers.token token(ctx: ContextOf<typeof providers.token>) {
    return this.tokens.getAccessToken(ctx.identity.userId, ctx.params.provider);
  }

  @providers.signOut async signOut(ctx: ContextOf<typeof providers.signOut>) {
    return { url: (await this.signIns.signOut(ctx)) ?? null };
  }
}

export const acme = provider({
  name: "acme",
  issuer: "https://acme.test",
  clientId: "shop",
  clientSecret: "canary4711clientsecret",
  keepTokens: true,
  signOut: true,
});
export const other = provider({ name: "other", issuer: "https://other.test", clientId: "shop" });

export interface ProviderAppOptions extends AccountOptions {
  readonly oauth?: Partial<OAuthOptions>;
  readonly double?: ProviderDouble;
}

export function startProviders({
  oauth: given,
  double,
  bindings = [],
  ...options
}: ProviderAppOptions = {}): Promise<TestApp> {
  const all: Binding[] = [
    ...oauth({ providers: [acme, other], callback: providers.callback, signedOut: providers.page, ...given }),
    ...(double === undefined ? [] : [provide(ProviderClients).useValue(double)]),
    ...bindings,
  ];
  return startAccounts({ clock: new FakeClock(), ...options, bindings: all, controllers: [ProvidersController] });
}
