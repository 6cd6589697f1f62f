/** The scenario of a program with an API token, apart so that no other scenario loads identities. */

import { Application, Controller, Get, inject, Module, provide, routes } from "@stagecraft/framework";
import { ApiTokenStore, authentication, AuthUsers } from "@stagecraft/framework/auth";
import { authDatabase, authMigrations } from "@stagecraft/framework/auth/db";
import { apiToken } from "@stagecraft/framework/auth/guards";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { SessionConfig } from "@stagecraft/framework/session";
import { toTokenHash } from "../../../../lib/auth/tokens/token-text.js";
import { API_TOKEN, HELLO, SESSION_KEY } from "../fixtures.js";

class BenchDatabase extends Database<unknown> {}

class BenchUsers extends AuthUsers {
  override create(): Promise<string> {
    return Promise.reject(new Error("no scenario signs up"));
  }
}

const api = routes("api", "/", { show: Get("/", { guards: [apiToken("links:read")] }), begin: Get("/begin") });

@Controller(api)
class ApiController {
  private readonly store = inject(ApiTokenStore);

  @api.show show() {
    return HELLO;
  }

  /** `ApiTokens` chooses a text by chance, and the requests of the scenario have a constant one. */
  @api.begin async begin() {
    const values = { id: "a".repeat(32), userId: "ada", name: "bench", scopes: ["links:read"], createdAt: Date.now() };
    const token = { ...values, expiresAt: undefined, lastUsedAt: undefined };
    await this.store.insert({ token, hash: toTokenHash(API_TOKEN), max: 1 });
  }
}

@Module({
  controllers: [ApiController],
  providers: [
    provide(BenchDatabase).useFactory(
      () => new BenchDatabase(sqlite(":memory:"), { migrations: [authMigrations], migrate: true }),
    ),
    BenchUsers,
    ...authentication({ users: BenchUsers, keys: SESSION_KEY }),
    ...authDatabase(BenchDatabase),
  ],
})
class ApiModule {}

export function apiTokenApplication() {
  return Application.create(ApiModule).session(new SessionConfig(SESSION_KEY));
}
