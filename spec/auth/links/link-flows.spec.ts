/** Reset, magic link and change of the address: for known and unknown addresses alike, once, and only while the password is the same. */
import { Identities } from "@stagecraft/framework/auth";
import { MemorySessionStore } from "@stagecraft/framework/session";
import { expectProblem, FakeClock, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import {
  account,
  addPerson,
  AppUsers,
  mailsOf,
  PASSWORD,
  signIn,
  signInAs,
  startAccounts,
} from "../account-application.js";

const EMAIL = "ada@shop.example";
const OTHER = "another horse battery";
const MINUTE = 60_000;

interface Flow {
  readonly name: string;
  readonly path: string;
  readonly validMs: number;
  readonly isPublic: boolean;
  readonly body: object | undefined;
  readonly done: string;
}

const RESET: Flow = {
  name: "a reset",
  path: account.forgot.url(),
  validMs: 60 * MINUTE,
  isPublic: true,
  body: { password: OTHER },
  done: "changed",
};
const LINK: Flow = {
  name: "a magic link",
  path: account.link.url(),
  validMs: 10 * MINUTE,
  isPublic: true,
  body: undefined,
  done: "signed-in",
};
const CHANGE: Flow = {
  name: "a change of the address",
  path: account.changeEmail.url(),
  validMs: 1440 * MINUTE,
  isPublic: false,
  body: undefined,
  done: "changed",
};

const post = (client: TestClient, path: string, json?: object) => client.post(path, json === undefined ? {} : { json });
const kindOf = async (response: Promise<Response>) => ((await (await response).json()) as { kind?: string }).kind;

const change = (client: TestClient, current = PASSWORD) =>
  post(client, account.changePassword.url(), { current, password: OTHER });

/** Starts the flow, and returns the path of the link in the last mail. */
async function startFlow(app: TestApp, { path, isPublic }: Flow, count = 1): Promise<string> {
  const client = isPublic ? app : await signInAs(app, "ada");
  const email = isPublic ? EMAIL : "countess@shop.example";
  expect((await post(client, path, { email })).status).to.equal(202);
  return (await mailsOf(app, count)).at(-1)?.link ?? "";
}

for (const flow of [RESET, LINK, CHANGE]) {
  const finish = (client: TestClient, link: string) => post(client, link, flow.body);

  describe(flow.name, () => {
    it("shows its link to GET and HEAD, and is done by one POST", async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada");
      const link = await startFlow(app, flow);

      for (let opened = 0; opened < 3; opened++) {
        expect((await app.head(link)).status).to.equal(200);
        const page = await app.get(link);
        expect(page.headers.get("referrer-policy")).to.equal("no-referrer");
        expect(page.headers.get("cache-control")).to.equal("no-store");
        expect(await page.json()).to.have.all.keys("email", "expiresAt");
      }
      const kinds = await Promise.all([1, 2, 3].map(() => kindOf(finish(app, link))));

      expect(kinds).to.have.members([flow.done, "expired", "expired"]);
      expect((await app.get(link)).status).to.equal(404);
    });

    it("ends with its deadline", async () => {
      const clock = new FakeClock();
      await using app = await startAccounts({ clock });
      await addPerson(app, "ada");
      const link = await startFlow(app, flow);

      clock.advance(flow.validMs);
      expect((await app.get(link)).status).to.equal(200);
      clock.advance(1);
      expect((await app.get(link)).status).to.equal(404);
      expect(await kindOf(finish(app, link))).to.equal("expired");
    });

    it("needs the whole signed link of its flow", async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada");
      const link = await startFlow(app, flow);
      const last = link.endsWith("A") ? "B" : "A";
      const elsewhere = link.replace(/\/(?:reset|link|email)\//, (path) => (path === "/reset/" ? "/link/" : "/reset/"));

      for (const wrong of [
        link.split("?")[0] ?? "",
        link.slice(0, -1) + last,
        `${link}&a=1`,
        link.replace("expires=1", "expires=2"),
      ])
        expect(await kindOf(finish(app, wrong)), wrong).to.equal("expired");
      expect((await app.get(elsewhere)).status).to.equal(404);
      expect(await kindOf(finish(app, link))).to.equal(flow.done);
    });

    it("ends when the password changes", async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada");
      const link = await startFlow(app, flow);
      const replacement = { from: "stamp of ada", password: "hash", stamp: "another stamp" };
      await app.resolve(Identities).setPassword("ada", replacement);

      expect(await kindOf(finish(app, link))).to.equal("expired");
    });

    it("refuses requests of other sites", async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada");
      const link = await startFlow(app, flow);
      const headers = { "sec-fetch-site": "cross-site" };

      const response = await app.post(link, { ...(flow.body && { json: flow.body }), headers });

      await expectProblem(response, { status: 403, slug: "cross-site" });
      expect(await kindOf(finish(app, link))).to.equal(flow.done);
    });
  });
}

for (const flow of [RESET, LINK]) {
  describe(flow.name, () => {
    it("of an unknown address has the response of a known one, and sends no mail", async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada");
      const responses = [];
      for (const email of ["nobody@shop.example", EMAIL]) {
        const { status, headers, ...response } = await post(app, flow.path, { email });
        void response;
        responses.push([status, headers.get("content-length")]);
      }

      expect(responses[0]).to.deep.equal(responses[1]);
      expect((await mailsOf(app, 1)).map(({ to }) => to)).to.deep.equal([EMAIL]);
    });

    it("sends no mail to a deactivated user", async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada");
      await addPerson(app, "bob");
      app.resolve(AppUsers).deactivated.add("ada");

      await post(app, flow.path, { email: EMAIL });
      await post(app, flow.path, { email: "bob@shop.example" });

      expect((await mailsOf(app, 1)).map(({ to }) => to)).to.deep.equal(["bob@shop.example"]);
    });

    it("is limited for each address, known or not", async () => {
      await using app = await startAccounts();
      for (const email of ["nobody@shop.example", EMAIL]) {
        for (let attempt = 0; attempt < 5; attempt++)
          expect((await post(app, flow.path, { email })).status).to.equal(202);
        await expectProblem(await post(app, flow.path, { email }), { status: 429 });
      }
    });

    it("verifies the address", async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada", { isVerified: false });

      await post(app, await startFlow(app, flow), flow.body);

      expect((await app.resolve(Identities).find("ada"))?.isVerified).to.equal(true);
    });
  });
}

describe("a reset", () => {
  it("sets the password, ends sessions and other links, is no sign-in, and tells the person", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const device = await signInAs(app, "ada");
    await device.get(account.show.url());
    const link = await startFlow(app, LINK);
    const reset = await startFlow(app, RESET, 2);
    const client = app.withCookies();

    await post(client, reset, { password: OTHER });

    expect((await client.get(account.show.url())).status).to.equal(401);
    expect((await device.get(account.show.url())).status).to.equal(401);
    expect((await signIn(app, EMAIL)).status).to.equal(401);
    expect((await signIn(app, EMAIL, OTHER)).status).to.equal(200);
    expect(await kindOf(post(app, link))).to.equal("expired");
    expect((await mailsOf(app, 3)).at(-1)).to.include({ to: EMAIL, subject: "Your password has changed" });
  });

  it("takes effect also where the store of the sessions is down, whose sessions end within a minute", async () => {
    class Failing extends MemorySessionStore {
      isDown = false;
      override listOfOwner(...args: Parameters<MemorySessionStore["listOfOwner"]>) {
        if (this.isDown) throw new Error("down");
        return super.listOfOwner(...args);
      }
    }
    const [sessions, clock] = [new Failing(), new FakeClock()];
    await using app = await startAccounts({ sessions, clock });
    await addPerson(app, "ada");
    const device = await signInAs(app, "ada");
    const link = await startFlow(app, RESET);
    sessions.isDown = true;

    expect(await kindOf(post(app, link, { password: OTHER }))).to.equal("changed");
    expect(app.logs.transcript()).to.include("sessions not ended after a reset");
    clock.advance(MINUTE);
    expect((await device.get(account.show.url())).status).to.equal(401);
  });

  it("with a password that cannot be one leaves the link valid", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const link = await startFlow(app, RESET);

    await expectProblem(await post(app, link, { password: "short" }), { status: 422 });
    expect(await kindOf(post(app, link, { password: OTHER }))).to.equal("changed");
  });
});

describe("a magic link", () => {
  it("signs the person in on the device that opens it", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = app.withCookies();

    const response = await post(client, await startFlow(app, LINK));

    expect(await response.json()).to.deep.equal({ kind: "signed-in", userId: "ada" });
    expect(await (await client.get(account.show.url())).json()).to.include({ userId: "ada" });
  });
});

describe("a change of the address", () => {
  it("takes effect when the new address confirms it, and tells the old one", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const reset = await startFlow(app, RESET);
    const link = await startFlow(app, CHANGE, 2);
    expect((await signIn(app, EMAIL)).status).to.equal(200);

    expect(await kindOf(post(app, link))).to.equal("changed");

    expect((await signIn(app, EMAIL)).status).to.equal(401);
    expect((await signIn(app, "countess@shop.example")).status).to.equal(200);
    const mails = await mailsOf(app, 3);
    expect(mails.map(({ to }) => to)).to.deep.equal([EMAIL, "countess@shop.example", EMAIL]);
    // A link to the old address must not take the account back.
    expect(await kindOf(post(app, reset, { password: OTHER }))).to.equal("expired");
  });

  it("to the address of another account changes nothing, and the other person gets a mail without a link", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    await addPerson(app, "bob");
    const client = await signInAs(app, "ada");

    const response = await post(client, account.changeEmail.url(), { email: "bob@shop.example" });

    expect(response.status).to.equal(202);
    expect(await mailsOf(app, 1)).to.have.nested.property("[0].link", "");
  });

  it("to an address that another account takes meanwhile changes nothing", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const link = await startFlow(app, CHANGE);
    await addPerson(app, "countess");

    expect(await kindOf(post(app, link))).to.equal("taken");
    expect((await signIn(app, EMAIL)).status).to.equal(200);
  });

  it("needs a recent confirmation, also without the guard", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    clock.advance(15 * MINUTE);
    const changeEmail = () => post(client, account.changeEmail.url(), { email: "countess@shop.example" });

    await expectProblem(await changeEmail(), { status: 403, slug: "confirmation" });
    expect(await kindOf(post(client, account.confirm.url(), { password: PASSWORD }))).to.equal("confirmed");
    expect((await changeEmail()).status).to.equal(202);
  });
});

describe("a confirmation of the password", () => {
  it("refuses a wrong one, and counts as an attempt to sign in", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");

    for (let attempt = 0; attempt < 4; attempt++)
      expect((await post(client, account.confirm.url(), { password: "wrong" })).status).to.equal(401);
    await expectProblem(await post(client, account.confirm.url(), { password: PASSWORD }), { status: 429 });
    expect((await signIn(app, EMAIL)).status).to.equal(429);
  });
});

describe("a change of the password", () => {
  it("needs the password until now", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");

    expect((await change(client, "wrong horse battery")).status).to.equal(401);
    expect((await signIn(app, EMAIL)).status).to.equal(200);
  });

  it("leaves this session open, ends links, and tells the person", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const link = await startFlow(app, RESET);

    expect(await kindOf(change(client))).to.equal("changed");

    expect((await client.get(account.confirmed.url())).status).to.equal(200);
    expect((await signIn(app, EMAIL, OTHER)).status).to.equal(200);
    expect(await kindOf(post(app, link, { password: PASSWORD }))).to.equal("expired");
    expect((await mailsOf(app, 2)).at(-1)).to.include({ subject: "Your password has changed" });
  });

  it("ends the other sessions at once", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const [client, other] = [await signInAs(app, "ada"), await signInAs(app, "ada")];
    expect((await other.get(account.show.url())).status).to.equal(200);

    await change(client);

    expect((await other.get(account.show.url())).status).to.equal(401);
    expect((await client.get(account.show.url())).status).to.equal(200);
  });
});
