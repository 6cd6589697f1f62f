/** A process of an application that refreshes tokens, with a clock that a request moves. */
import { Controller, type ContextOf, Get, inject, provide, routes, SystemClock, Clock } from "@stagecraft/framework";
import { signedIn } from "@stagecraft/framework/auth/guards";
import { oauth, provider, ProviderTokens } from "@stagecraft/framework/oauth";
import { testApp } from "@stagecraft/framework/testing";
import { openDriver } from "../../idempotency/db/order-database.js";
import { buildAccounts } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { providers, ProvidersController } from "./provider-application.js";

export const refreshes = routes("refreshes", "/refreshes", {
  token: Get("/token"),
  advance: Get("/advance/{ms}"),
  me: Get("/me", { guards: [signedIn] }),
});

class ShiftedClock extends SystemClock {
  shift = 0;

  override now(): number {
    return super.now() + this.shift;
  }
}

const clock = new ShiftedClock();

@Controller(refreshes)
class RefreshController {
  private readonly tokens = inject(ProviderTokens);

  @refreshes.token token() {
    return this.tokens.getAccessToken("user-1", "liar");
  }

  @refreshes.advance advance({ params }: ContextOf<typeof refreshes.advance>) {
    clock.shift += Number(params.ms);
    return clock.shift;
  }

  @refreshes.me me({ identity }: ContextOf<typeof refreshes.me>) {
    return identity.userId;
  }
}

const { DATABASE = "", ISSUER = "" } = process.env;
const liar = provider({ name: "liar", issuer: ISSUER, clientId: "shop", clientSecret: "secret", keepTokens: true });
const app = await testApp(
  buildAccounts({
    db: AppDatabase.on(openDriver(DATABASE)),
    controllers: [ProvidersController, RefreshController],
    bindings: oauth({ providers: [liar], callback: providers.callback, timeoutMs: 2_000 }),
  }),
  provide(Clock).useValue(clock),
);
console.log(`url ${app.url};`);
