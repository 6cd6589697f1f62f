/** Sign-in with a password, and sign-out: what they change, whom they refuse, and how often somebody may try. */
import { provide } from "@stagecraft/framework";
import { Identities, Passwords, SecondStep, SignIn, type PasswordSignIn } from "@stagecraft/framework/auth";
import type { Context } from "@stagecraft/framework";
import { expectProblem, FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import {
  account,
  addPerson,
  AppUsers,
  FAST,
  PASSWORD,
  signIn,
  signInAs,
  startAccounts,
} from "../account-application.js";

const show = account.show.url();

const cookieOf = (response: Response) => response.headers.getSetCookie().join().split(";", 1)[0] ?? "";

const fail = (app: TestApp, email: string) => signIn(app, email, "wrong");

/** Every part of a response that a client can tell from another. */
async function seen(response: Response) {
  const { status, headers } = response;
  const lines = [...headers].filter(([name]) => name !== "date");
  return { status, lines, body: await response.text(), retryAfter: headers.get("retry-after") };
}

class CountingPasswords extends Passwords {
  readonly calls: (readonly [string, string | undefined])[] = [];

  override verify(password: string, stored: string | undefined): Promise<boolean> {
    this.calls.push([password, stored === undefined ? "none" : "a hash"]);
    return super.verify(password, stored);
  }

  override hash(password: string): Promise<string> {
    this.calls.push([password, "hashed"]);
    return super.hash(password);
  }

  override needsRehash(): boolean {
    return true;
  }
}

describe("a sign-in", () => {
  it("signs a person in by address and password", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = app.withCookies();

    const response = await signIn(client, " Ada@Shop.Example ");

    expect(await response.json()).to.deep.equal({ kind: "signed-in", userId: "ada" });
    const identity = await (await client.get(show)).json<{ signInId: string }>();
    expect(identity).to.deep.equal({
      userId: "ada",
      email: "ada@shop.example",
      isVerified: true,
      signInId: identity.signInId,
    });
    expect(identity.signInId).to.match(/^[\da-f]{32}$/);
  });

  it("gives the session a new id, so that a planted id is worthless", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const victim = await app.withSession({ cart: 7 });
    const planted = cookieOf(await signIn(victim, "ada@shop.example"));
    const again = await signIn(victim, "ada@shop.example");

    expect(planted).to.not.equal("");
    expect(cookieOf(again)).to.not.equal(planted);
    expect((await app.get(show, { headers: { cookie: planted } })).status).to.equal(401);
  });

  it("of another person removes the values of the first one", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    await addPerson(app, "bob");
    const client = await signInAs(app, "ada");
    await client.get(account.show.url(), { headers: { accept: "text/html" } });

    await signIn(client, "bob@shop.example");

    expect(await (await client.get(show)).json()).to.include({ userId: "bob" });
  });

  const refusals: readonly (readonly [string, string, string])[] = [
    ["an unknown address", "nobody@shop.example", PASSWORD],
    ["a wrong password", "ada@shop.example", "wrong horse battery"],
    ["a text that is no address", "no address", PASSWORD],
    ["an address of 100 kB", `${"a".repeat(100_000)}@shop.example`, PASSWORD],
    ["a password of 100 kB", "ada@shop.example", "p".repeat(100_000)],
    ["an empty password", "ada@shop.example", ""],
  ];
  for (const [what, email, password] of refusals)
    it(`with ${what} has the response of a wrong password`, async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada");
      const wrong = await seen(await signIn(app, "ada@shop.example", "another wrong one"));

      const refused = await seen(await signIn(app, email, password));

      expect(refused).to.deep.equal(wrong);
      expect(refused).to.include({ status: 401 });
    });

  it("that is refused has verified one password, for an unknown address against a hash that fits none", async () => {
    const passwords = new CountingPasswords(FAST);
    await using app = await startAccounts({ bindings: [provide(Passwords).useValue(passwords)] });
    for (const name of ["ada", "bob"]) await addPerson(app, name);
    app.resolve(AppUsers).deactivated.add("bob");
    passwords.calls.length = 0;

    await signIn(app, "ada@shop.example", "wrong");
    await signIn(app, "nobody@shop.example", "wrong");
    // The hash of a deactivated user is not renewed: the time would tell that the password is right.
    await signIn(app, "bob@shop.example");

    expect(passwords.calls).to.deep.equal([
      ["wrong", "a hash"],
      ["wrong", "none"],
      [PASSWORD, "a hash"],
    ]);
  });

  it("of a deactivated user has the response of a wrong password, and open sessions end within a minute", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    await addPerson(app, "ada");
    const wrong = await seen(await signIn(app, "ada@shop.example", "wrong"));
    const client = await signInAs(app, "ada");
    await client.get(show);
    app.resolve(AppUsers).deactivated.add("ada");

    expect(await seen(await signIn(app, "ada@shop.example"))).to.deep.equal(wrong);
    clock.advance(60_000);
    expect((await client.get(show)).status).to.equal(401);
  });

  it("replaces a hash of an older kind, and keeps open sessions", async () => {
    class Renewing extends Passwords {
      override needsRehash(hash: string): boolean {
        return hash === old;
      }
    }
    await using app = await startAccounts({ bindings: [provide(Passwords).useFactory(() => new Renewing(FAST))] });
    await addPerson(app, "ada");
    const find = async () => (await app.resolve(Identities).find("ada"))?.password ?? "";
    const old = await find();

    const client = await signInAs(app, "ada");

    expect(await find()).to.not.equal(old);
    expect((await client.get(show)).status).to.equal(200);
    expect((await signIn(app, "ada@shop.example")).status).to.equal(200);
  });

  it("asks for the second step of a user who has one, before the user is signed in", async () => {
    class Always extends SecondStep {
      override isRequired(): Promise<boolean> {
        return Promise.resolve(true);
      }
    }
    await using app = await startAccounts({ bindings: [provide(SecondStep).useClass(Always)] });
    await addPerson(app, "ada");
    const client = app.withCookies();

    const response = await signIn(client, "ada@shop.example");

    expect(await response.json()).to.deep.equal({ kind: "second-step" });
    expect((await client.get(show)).status).to.equal(401);
  });

  it("runs the class that the application binds in its place", async () => {
    class CompanySignIn extends SignIn {
      override async withPassword(ctx: Context, input: PasswordSignIn) {
        return input.email.endsWith("@shop.example") ? super.withPassword(ctx, input) : ({ kind: "refused" } as const);
      }
    }
    await using app = await startAccounts({ bindings: [provide(SignIn).useClass(CompanySignIn)] });
    await addPerson(app, "ada");

    expect((await signIn(app, "ada@other.example")).status).to.equal(401);
    expect((await signIn(app, "ada@shop.example")).status).to.equal(200);
  });
});

describe("a sign-out", () => {
  it("ends the session with all its values", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const cookie = cookieOf(await signIn(client, "ada@shop.example"));

    const response = await client.post(account.signOut.url());

    expect(response.status).to.equal(204);
    expect((await client.get(show)).status).to.equal(401);
    expect((await app.get(show, { headers: { cookie } })).status).to.equal(401);
  });

  it("without a sign-in changes nothing", async () => {
    await using app = await startAccounts();

    expect((await app.post(account.signOut.url())).status).to.equal(204);
  });
});

describe("requests of other sites", () => {
  const rows: readonly (readonly [Record<string, string>, number])[] = [
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ "sec-fetch-site": "none" }, 200],
    [{ "sec-fetch-site": "same-origin", origin: "https://evil.example" }, 200],
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://localhost.evil.example" }, 403],
    [{}, 200],
  ];
  for (const [headers, status] of rows)
    it(`get ${status} for a sign-in with ${JSON.stringify(headers)}`, async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada");

      const response = await signIn(app, "ada@shop.example", PASSWORD, headers);

      expect(response.status).to.equal(status);
      expect(response.headers.getSetCookie()).to.have.lengthOf(status === 200 ? 1 : 0);
      if (status === 403) await expectProblem(response, { status, slug: "cross-site" });
    });

  it("pass with the origin of the application", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");

    expect((await signIn(app, "ada@shop.example", PASSWORD, { origin: app.url })).status).to.equal(200);
  });

  it("get 403 for a sign-out", async () => {
    await using app = await startAccounts();

    const response = await app.post(account.signOut.url(), { headers: { "sec-fetch-site": "cross-site" } });

    await expectProblem(response, { status: 403, slug: "cross-site" });
  });
});

describe("the attempts of a client", () => {
  it("are five for an address in fifteen minutes, known or not, and the password is not verified after them", async () => {
    const passwords = new CountingPasswords(FAST);
    await using app = await startAccounts({ bindings: [provide(Passwords).useValue(passwords)] });
    await addPerson(app, "ada");
    const refused = [];
    for (const email of ["ada@shop.example", "nobody@shop.example"]) {
      for (let attempt = 0; attempt < 5; attempt++) expect((await fail(app, email)).status).to.equal(401);
      refused.push(await seen(await signIn(app, email)));
    }

    expect(refused[0]).to.deep.include({ status: 429, retryAfter: "180" });
    expect(refused[1]).to.deep.equal(refused[0]);
    expect(passwords.calls).to.have.lengthOf(10 + 1);
  });

  it("on one address do not stop its person on another client, or the client on another address", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    await addPerson(app, "bob");
    for (let attempt = 0; attempt < 6; attempt++) await fail(app, "ada@shop.example");

    expect((await signIn(app, "bob@shop.example")).status).to.equal(200);
  });

  it("count one address in all its spellings", async () => {
    await using app = await startAccounts();
    for (const email of [
      "ada@shop.example",
      "ADA@shop.example",
      " ada@Shop.example",
      "ada@shop.example",
      "Ada@shop.example",
    ])
      expect((await fail(app, email)).status).to.equal(401);

    expect((await fail(app, "ada@SHOP.example ")).status).to.equal(429);
  });

  it("are fifty in all", async () => {
    await using app = await startAccounts();
    for (let attempt = 0; attempt < 50; attempt++)
      expect((await fail(app, `user${attempt}@shop.example`)).status).to.equal(401);

    await expectProblem(await fail(app, "new@shop.example"), { status: 429, slug: "rate-limit" });
  });

  it("return one by one", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    await addPerson(app, "ada");
    for (let attempt = 0; attempt < 6; attempt++) await fail(app, "ada@shop.example");

    clock.advance(180_000);

    expect((await signIn(app, "ada@shop.example")).status).to.equal(200);
    expect((await signIn(app, "ada@shop.example")).status).to.equal(429);
  });
});
