/** Flows that meet: two requests of one person, or of two, in two processes that share a database. The time is real: a conflict waits. */
import { AppConfig, provide } from "@stagecraft/framework";
import { Identities, Passwords } from "@stagecraft/framework/auth";
import { MemoryMailer, Mailer } from "@stagecraft/framework/mail";
import { DatabaseSessionStore } from "@stagecraft/framework/session/db";
import { testApp, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { ENGINES, openDriver, type StartedEngine } from "../../idempotency/db/order-database.js";
import { Gate } from "../../support/gate.js";
import { needs } from "../../support/machine.js";
import { until } from "../../support/until.js";
import {
  account,
  addPerson,
  AppUsers,
  buildAccounts,
  FAST,
  PASSWORD,
  signIn,
  signInAs,
  type AccountOptions,
} from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { findToken, remember, toHeaders, visit } from "../remembered-devices.js";

const OTHER = "another horse battery";

const post = (client: TestClient, path: string, json?: object) => client.post(path, json === undefined ? {} : { json });
const kindOf = async (response: Promise<Response>) => ((await (await response).json()) as { kind?: string }).kind;

/** The link in the latest mail to an address. */
async function linkOf(app: TestApp, to: string, count = 1): Promise<string> {
  const mailer = app.resolve(Mailer) as MemoryMailer;
  const find = () => mailer.sent.filter(({ recipients, text }) => recipients[0] === to && text.includes("http"));
  await until(() => find().length >= count);
  const [url = ""] = /http\S+/.exec(find().at(-1)?.text ?? "") ?? [];
  const { pathname, search } = new URL(url);
  return pathname + search;
}

async function startSignUp(app: TestApp, client: TestClient, email: string, count = 1): Promise<string> {
  const response = await post(client, account.signUp.url(), { email, password: PASSWORD });
  expect(response.status).to.equal(202);
  return linkOf(app, email, count);
}

async function startReset(app: TestApp, email: string, count = 1): Promise<string> {
  await post(app, account.forgot.url(), { email });
  return linkOf(app, email, count);
}

for (const { name, program, start } of ENGINES) {
  describe(`flows that meet on ${name}`, function () {
    this.timeout(120_000);
    let server: StartedEngine;
    let [one, two] = [] as unknown as [TestApp, TestApp];
    let [reached, goOn] = [new Gate(), new Gate()];
    let isSlow = false;

    /** Waits after it has verified. */
    class SlowPasswords extends Passwords {
      override async verify(...args: Parameters<Passwords["verify"]>) {
        const isRight = await super.verify(...args);
        if (!isSlow) return isRight;
        reached.open();
        await goOn.passed;
        return isRight;
      }
    }

    function launch(options: AccountOptions = {}): Promise<TestApp> {
      const db = AppDatabase.on(openDriver(server.url));
      const bindings = [provide(Passwords).useFactory(() => new SlowPasswords(FAST))];
      const accounts = buildAccounts({ db, sessions: new DatabaseSessionStore(db), bindings, ...options });
      // The links of both processes have one origin.
      const builder = accounts.config(new AppConfig({ url: "https://shop.example" }));
      return testApp(builder, provide(AppUsers).useValue(new NumberedUsers()));
    }

    if (program !== undefined) before(needs(program));
    beforeEach(async () => {
      [reached, goOn] = [new Gate(), new Gate()];
      isSlow = false;
      server = await start();
      one = await launch();
      two = await launch();
    });
    afterEach(async () => {
      await one.stop();
      await two.stop();
      await server[Symbol.asyncDispose]();
    });

    it("create one user of a sign-up that two processes confirm at once", async () => {
      const client = one.withCookies();
      const link = await startSignUp(one, client, "ada@shop.example");

      const confirm = (app: TestApp) => kindOf(post(app, link, { password: PASSWORD }));
      const kinds = await Promise.all([one, two, one, two].map(confirm));

      expect(kinds).to.have.members(["signed-in", "expired", "expired", "expired"]);
      expect((await signIn(two, "ada@shop.example")).status).to.equal(200);
    });

    it("create one user of two sign-ups with one address", async () => {
      const [first, second] = [one.withCookies(), one.withCookies()];
      const links = [
        await startSignUp(one, first, "ada@shop.example"),
        await startSignUp(one, second, "ada@shop.example", 2),
      ];

      const kinds = await Promise.all([
        kindOf(post(first, links[0] ?? "", {})),
        kindOf(post(two, links[1] ?? "", { password: PASSWORD })),
      ]);

      expect(kinds).to.have.members(["signed-in", "expired"]);
    });

    it("set one password of two resets at once", async () => {
      const email = await addPerson(one, "ada");
      const links = [await startReset(one, email), await startReset(one, email, 2)];

      const kinds = await Promise.all([
        kindOf(post(one, links[0] ?? "", { password: OTHER })),
        kindOf(post(two, links[1] ?? "", { password: "a third horse battery" })),
      ]);

      expect(kinds).to.have.members(["changed", "expired"]);
      const right = kinds[0] === "changed" ? OTHER : "a third horse battery";
      expect((await signIn(two, email, right)).status).to.equal(200);
      expect((await signIn(two, email, PASSWORD)).status).to.equal(401);
    });

    it("leave no session and no device of a sign-in that has verified the old password during a reset", async () => {
      const email = await addPerson(one, "ada");
      const reset = await startReset(one, email);
      isSlow = true;
      const signingIn = two.post(account.signIn.url(), { json: { email, password: PASSWORD, remember: true } });
      await reached.passed;

      expect(await kindOf(post(one, reset, { password: OTHER }))).to.equal("changed");
      goOn.open();

      const response = await signingIn;
      expect((await visit(two, { session: findToken(response, "framework-id") })).status).to.equal(401);
      expect((await visit(two, { token: findToken(response) })).status).to.equal(401);
    });

    it("give an address to a sign-up or to a change of the address, of both at once", async () => {
      await addPerson(one, "bob");
      const client = one.withCookies();
      const signUp = await startSignUp(one, client, "new@shop.example");
      const bob = await signInAs(one, "bob");
      await post(bob, account.changeEmail.url(), { email: "new@shop.example" });
      const change = await linkOf(one, "new@shop.example", 2);

      const kinds = await Promise.all([kindOf(post(client, signUp, {})), kindOf(post(two, change))]);

      const isTaken = kinds[1] === "taken";
      expect(kinds).to.deep.equal(isTaken ? ["signed-in", "taken"] : ["expired", "changed"]);
      expect((await signIn(one, "bob@shop.example")).status).to.equal(isTaken ? 200 : 401);
    });

    it("end for a person who is deleted while signed in", async () => {
      await addPerson(one, "ada");
      const device = await remember(one, "ada");
      expect((await visit(two, { session: device.session })).status).to.equal(200);

      await one.resolve(Identities).delete("ada");

      const json = { current: PASSWORD, password: OTHER };
      const change = await two.post(account.changePassword.url(), { json, headers: toHeaders(device) });
      expect(change.status).to.equal(401);
      expect((await visit(two, { token: device.token })).status).to.equal(401);
      expect((await signIn(two, "ada@shop.example")).status).to.equal(401);
    });
  });
}

/** Ids that two processes do not share. */
class NumberedUsers extends AppUsers {
  override create(): Promise<string> {
    return Promise.resolve(crypto.randomUUID());
  }
}
