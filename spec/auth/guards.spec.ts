/** The guards of an identity: whom each refuses and how, what it adds, and when a session ends. */
import { Application, Get, Module, provide, Route, Routes, routes } from "@stagecraft/framework";
import { authentication, Identities } from "@stagecraft/framework/auth";
import { authDatabase } from "@stagecraft/framework/auth/db";
import { signedIn } from "@stagecraft/framework/auth/guards";
import { SessionConfig } from "@stagecraft/framework/session";
import { expectProblem, FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, AppUsers, KEY, signInAs, startAccounts } from "./account-application.js";
import { AppDatabase } from "./auth-database.js";

const show = account.show.url();
const MINUTE = 60_000;

/** Counts the queries for an identity by its user. */
function countFinds(app: TestApp): () => number {
  const identities = app.resolve(Identities);
  const find = identities.find.bind(identities);
  let finds = 0;
  identities.find = (userId) => {
    finds++;
    return find(userId);
  };
  return () => finds;
}

describe("signedIn", () => {
  it("refuses a visitor with a challenge", async () => {
    await using app = await startAccounts();

    const response = await app.get(show);

    await expectProblem(response, { status: 401, slug: "authentication" });
    expect(response.headers.get("www-authenticate")).to.equal("Session");
  });

  it("compares the stamp at the first request, and then once a minute", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const finds = countFinds(app);

    const counts = [];
    for (const pause of [0, 1, MINUTE - 2, 1, MINUTE]) {
      clock.advance(pause);
      expect((await client.get(show)).status).to.equal(200);
      counts.push(finds());
    }

    expect(counts).to.deep.equal([1, 1, 1, 2, 3]);
  });

  it("ends a session that was opened while the password changed, at its first request", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const change = { from: "stamp of ada", password: "hash", stamp: "another stamp" };
    await app.resolve(Identities).setPassword("ada", change);

    expect((await client.get(show)).status).to.equal(401);
  });

  it("ends the session of an identity that is deleted", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    await app.resolve(Identities).delete("ada");

    expect((await client.get(show)).status).to.equal(401);
  });

  it("shows an address that has changed within a minute", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    await client.get(show);
    await app.resolve(Identities).setEmail("ada", "countess@shop.example", 2);
    clock.advance(MINUTE);

    expect(await (await client.get(show)).json()).to.include({ email: "countess@shop.example" });
  });
});

describe("the guards after signedIn", () => {
  const paths = [account.verified.url(), account.confirmed.url(), account.admin.url()];

  it("leave the 401 to it", async () => {
    await using app = await startAccounts();

    for (const path of paths) await expectProblem(await app.get(path), { status: 401, slug: "authentication" });
  });

  it("refuse with problems of different types, and let through what they ask for", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    await addPerson(app, "ada", { isVerified: false });
    const client = await signInAs(app, "ada");
    clock.advance(15 * MINUTE);

    for (const [at, slug] of ["unverified", "confirmation", "role"].entries())
      await expectProblem(await client.get(paths[at] ?? ""), { status: 403, slug });

    await app.resolve(Identities).setVerified("ada", 2);
    app.resolve(AppUsers).roles.set("ada", ["editor", "admin"]);
    clock.advance(MINUTE);
    const again = await signInAs(app, "ada");
    for (const path of paths) expect((await again.get(path)).status, path).to.equal(200);
  });

  it("count a sign-in as a confirmation for fifteen minutes", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");

    clock.advance(15 * MINUTE - 1);
    expect((await client.get(account.confirmed.url())).status).to.equal(200);
    clock.advance(1);
    expect((await client.get(account.confirmed.url())).status).to.equal(403);
  });
});

describe("an application that uses one of the guards", () => {
  it("starts without a warning about the others", async () => {
    const pages = routes("pages", "/", { home: Get("/", { guards: [signedIn] }) });
    @Module({
      providers: [
        AppUsers,
        provide(AppDatabase).useValue(AppDatabase.on()),
        ...authentication({ users: AppUsers, keys: KEY }),
        ...authDatabase(AppDatabase),
      ],
    })
    class Small {}
    const builder = Application.create(Small).session(SessionConfig.dev(KEY));
    await using app = await testApp(builder.routes(new Routes([Route.of(pages.home, () => "home")])));

    expect((await app.get("/")).status).to.equal(401);
    expect(app.logs.lines().join("\n")).to.not.include("protects nothing");
  });
});

describe("a visitor of a page", () => {
  const page = { headers: { accept: "text/html,application/xhtml+xml" } };

  it("goes to the sign-in, and returns once to where they were", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = app.withCookies();

    const response = await client.get(`${show}?tab=2`, page);

    expect([response.status, response.headers.get("location")]).to.deep.equal([303, account.signInPage.url()]);
    expect(response.headers.get("cache-control")).to.equal("no-store");
    const back = async () => (await client.get(account.back.url())).json();
    expect(await back()).to.deep.equal({ path: `${show}?tab=2` });
    expect(await back()).to.deep.equal({ path: "/fallback" });
  });

  it("returns to the page that has sent a form by the page protocol", async () => {
    await using app = await startAccounts();
    const client = app.withCookies();
    const headers = { "x-inertia": "true", referer: `${app.url}/cart?a=1` };

    const response = await client.post(account.save.url(), { headers });

    expect([response.status, response.headers.get("location")]).to.deep.equal([303, account.signInPage.url()]);
    expect(await (await client.get(account.back.url())).json()).to.deep.equal({ path: "/cart?a=1" });
  });

  it("returns to the page that has sent a form without scripts", async () => {
    await using app = await startAccounts();
    const client = app.withCookies();
    const headers = { ...page.headers, referer: `${app.url}/cart?a=1` };

    const response = await client.post(account.save.url(), { headers });

    expect([response.status, response.headers.get("location")]).to.deep.equal([303, account.signInPage.url()]);
    expect(await (await client.get(account.back.url())).json()).to.deep.equal({ path: "/cart?a=1" });
  });

  it("who is a program gets the 401", async () => {
    await using app = await startAccounts();

    for (const accept of ["application/json", "*/*", ""])
      expect((await app.get(show, { headers: { accept } })).status).to.equal(401);
    expect((await app.post(account.signIn.url(), page)).status).to.equal(415);
  });

  const hostile = ["//evil.example", "/\\evil.example", "https://evil.example", "/a\u0000b", "javascript:alert(1)"];
  for (const path of hostile)
    it(`never returns to ${JSON.stringify(path)}`, async () => {
      await using app = await startAccounts();
      const client = await app.withSession({ "auth-return": path });

      expect(await (await client.get(account.back.url())).json()).to.deep.equal({ path: "/fallback" });
    });

  it("has no return path of more than 2,048 characters", async () => {
    await using app = await startAccounts();
    const client = app.withCookies();

    const response = await client.get(`${show}?${"a".repeat(2048)}`, page);

    expect(response.status).to.equal(303);
    expect(await (await client.get(account.back.url())).json()).to.deep.equal({ path: "/fallback" });
  });

  it("whose request has a target in absolute form returns to this site", async () => {
    await using app = await startAccounts();
    const bytes = `GET //evil.example${show} HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n`;

    expect(String(await app.raw(bytes))).to.not.include("evil.example");
  });
});

describe("authentication()", () => {
  const users = AppUsers;
  const rows: readonly (readonly [string, () => unknown, string])[] = [
    ["an unknown option", () => authentication({ users, keys: KEY, kyes: 1 } as never), "E_OPTION"],
    ["an unknown link", () => authentication({ users, keys: KEY, links: { signup: String } } as never), "E_OPTION"],
    [
      "a link that is no endpoint",
      () => authentication({ users, keys: KEY, links: { reset: "/x" } } as never),
      "E_AUTH_OPTION",
    ],
    ["a link of GET", () => authentication({ users, keys: KEY, links: { reset: account.resetPage } }), "E_AUTH_OPTION"],
    ["no class of users", () => authentication({ keys: KEY } as never), "E_AUTH_OPTION"],
    ["a short key", () => authentication({ users, keys: "abc123" }), "E_CRYPTO_KEY"],
    ["no key", () => authentication({ users, keys: [] }), "E_CRYPTO_KEY"],
  ];
  for (const [what, call, code] of rows)
    it(`refuses ${what}`, () => {
      expect(call).to.throw().with.property("code", code);
      expect(call).to.throw().with.property("message").that.does.not.include("abc123");
    });
});
