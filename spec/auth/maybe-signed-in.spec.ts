/** What visitors see too: the guard `maybeSignedIn`, and requests that ask several times who has signed in. */
import { type Context, Controller, type ContextOf, Get, inject, routes } from "@stagecraft/framework";
import { RememberTokens, SignedInSession, SignIns } from "@stagecraft/framework/auth";
import { maybeSignedIn } from "@stagecraft/framework/auth/guards";
import { createOpenApi } from "@stagecraft/framework/openapi";
import type { TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { addPerson, signInAs, startAccounts } from "./account-application.js";
import { findToken, remember, toHeaders, visit } from "./remembered-devices.js";

const pages = routes("pages", "/pages", {
  home: Get("/", { guards: [maybeSignedIn] }),
  busy: Get("/busy", { guards: [maybeSignedIn] }),
  parallel: Get("/parallel"),
  leave: Get("/leave", { guards: [maybeSignedIn] }),
});

@Controller(pages)
class PagesController {
  private readonly sessions = inject(SignedInSession);
  private readonly devices = inject(SignIns);

  @pages.home home({ identity }: ContextOf<typeof pages.home>) {
    return { identity: identity ?? null };
  }

  @pages.busy async busy(ctx: ContextOf<typeof pages.busy>) {
    return [ctx.identity?.userId, await this.findUserId(ctx), await this.findUserId(ctx)];
  }

  @pages.parallel parallel(ctx: Context) {
    return Promise.all([1, 2, 3].map(() => this.findUserId(ctx)));
  }

  @pages.leave async leave(ctx: ContextOf<typeof pages.leave>) {
    await this.devices.end(ctx);
    return [ctx.identity?.userId, (await this.findUserId(ctx)) ?? "nobody"];
  }

  private async findUserId(ctx: Context) {
    return (await this.sessions.find(ctx))?.userId;
  }
}

async function startPages(): Promise<TestApp> {
  const app = await startAccounts({ controllers: [PagesController] });
  await addPerson(app, "ada");
  return app;
}

/** Counts the queries for a token of a device. */
function countFinds(app: TestApp): () => number {
  const tokens = app.resolve(RememberTokens);
  const find = tokens.find.bind(tokens);
  let finds = 0;
  tokens.find = (...args) => {
    finds++;
    return find(...args);
  };
  return () => finds;
}

describe("maybeSignedIn", () => {
  it("lets a visitor in, without a session", async () => {
    await using app = await startPages();

    const response = await app.get(pages.home.url());

    expect(await response.json()).to.deep.equal({ identity: null });
    expect(response.headers.getSetCookie()).to.deep.equal([]);
    expect(response.headers.get("cache-control")).to.equal(null);
  });

  it("adds the identity of a session, without its stamp, and lets no browser keep the page", async () => {
    await using app = await startPages();
    const client = await signInAs(app, "ada");

    const response = await client.get(pages.home.url());
    const { identity } = (await response.json()) as { identity: object };

    expect(response.headers.get("cache-control")).to.equal("no-store");

    expect(identity).to.include({ userId: "ada", email: "ada@shop.example", isVerified: true });
    expect(identity).to.have.all.keys("userId", "email", "isVerified", "signInId");
  });

  it("has an optional security scheme in an API document", async () => {
    await using app = await startPages();

    const operation: unknown = createOpenApi(app.application).paths[pages.home.url()]?.["get"];

    expect(operation)
      .to.have.property("security")
      .that.deep.equals([{ session: [] }, {}]);
    expect(operation).to.have.property("responses").that.does.not.have.any.keys("401", "403");
  });
});

describe("a request of a remembered device", () => {
  for (const endpoint of [pages.busy, pages.parallel])
    it(`opens one session, though it asks three times, at ${endpoint.url()}`, async () => {
      await using app = await startPages();
      const { token } = await remember(app, "ada");
      const finds = countFinds(app);

      const response = await app.get(endpoint.url(), { headers: toHeaders({ token }) });

      expect(await response.json()).to.deep.equal(["ada", "ada", "ada"]);
      expect(finds()).to.equal(1);
      expect((await visit(app, { session: findToken(response, "framework-id") })).status).to.equal(200);
    });

  it("is signed out after it has signed out", async () => {
    await using app = await startPages();
    const { token } = await remember(app, "ada");

    const response = await app.get(pages.leave.url(), { headers: toHeaders({ token }) });

    expect(await response.json()).to.deep.equal(["ada", "nobody"]);
    expect(findToken(response)).to.equal("");
  });
});
