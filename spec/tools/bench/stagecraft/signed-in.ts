/** The scenario of a person who has signed in, apart so that no other scenario loads identities. */

import { Application, type ContextOf, Controller, Get, inject, Module, provide, routes } from "@stagecraft/framework";
import { authentication, AuthUsers, Identities, SignIn } from "@stagecraft/framework/auth";
import { authDatabase, authMigrations } from "@stagecraft/framework/auth/db";
import { signedIn } from "@stagecraft/framework/auth/guards";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { SessionConfig } from "@stagecraft/framework/session";
import { HELLO, SESSION_KEY } from "../fixtures.js";

class BenchDatabase extends Database<unknown> {}

class BenchUsers extends AuthUsers {
  override create(): Promise<string> {
    return Promise.reject(new Error("no scenario signs up"));
  }
}

const pages = routes("pages", "/", { show: Get("/", { guards: [signedIn] }), begin: Get("/begin") });

@Controller(pages)
class PagesController {
  private readonly identities = inject(Identities);
  private readonly signIn = inject(SignIn);

  @pages.show show() {
    return HELLO;
  }

  @pages.begin async begin(ctx: ContextOf<typeof pages.begin>) {
    const person = { userId: "ada", email: "ada@shop.example", stamp: "1", verifiedAt: 1, createdAt: 1 };
    await this.identities.insert({ ...person, password: undefined });
    const identity = await this.identities.find(person.userId);
    if (identity !== undefined) await this.signIn.complete(ctx, identity, { method: "password" });
  }
}

@Module({
  controllers: [PagesController],
  providers: [
    provide(BenchDatabase).useFactory(
      () => new BenchDatabase(sqlite(":memory:"), { migrations: [authMigrations], migrate: true }),
    ),
    BenchUsers,
    ...authentication({ users: BenchUsers, keys: SESSION_KEY }),
    ...authDatabase(BenchDatabase),
  ],
})
class SignedInModule {}

export function signedInApplication() {
  return Application.create(SignedInModule).session(new SessionConfig(SESSION_KEY));
}
