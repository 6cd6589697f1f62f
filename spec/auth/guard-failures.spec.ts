/** The guards of an identity when something behind them fails, and while a token ends: only those who may pass it. */
import { Controller, type ContextOf, Get, routes } from "@stagecraft/framework";
import { ApiTokens, Identities } from "@stagecraft/framework/auth";
import { apiToken } from "@stagecraft/framework/auth/guards";
import { expectProblem } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../support/gate.js";
import { account, addPerson, AppUsers, signInAs, startAccounts } from "./account-application.js";
import { createToken, sendToken, startTokens } from "./tokens/token-application.js";

const admin = account.admin.url();
const fail = () => Promise.reject(new Error("the database is down"));

describe("a guard whose store fails", () => {
  it("lets no request pass: role", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const users = app.resolve(AppUsers);
    users.getRoles = fail;

    await expectProblem(await client.get(admin), { status: 500 });
    users.getRoles = () => Promise.resolve(["admin"]);
    expect((await client.get(admin)).status).to.equal(200);
  });

  it("lets no request pass, and does not end the session: signedIn", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const identities = app.resolve(Identities);
    const find = identities.find.bind(identities);
    identities.find = fail;

    await expectProblem(await client.get(account.show.url()), { status: 500 });
    identities.find = find;
    expect((await client.get(account.show.url())).status).to.equal(200);
  });

  it("takes no part of the name of a role", async () => {
    await using app = await startAccounts();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    for (const roles of [["administrator"], ["Admin"], ["admin "], ["admi", "n"], []]) {
      app.resolve(AppUsers).roles.set("ada", roles);

      expect((await client.get(admin)).status, roles.join()).to.equal(403);
    }
  });
});

describe("a request with a token that is revoked meanwhile", () => {
  it("goes on where it has passed the guard, and the next one is refused", async () => {
    const [entered, released] = [new Gate(), new Gate()];
    const slow = routes("slow", "/slow", { show: Get("/", { guards: [apiToken] }) });
    @Controller(slow)
    class SlowController {
      @slow.show async show({ identity }: ContextOf<typeof slow.show>) {
        entered.open();
        await released.passed;
        return identity;
      }
    }
    await using app = await startTokens({ controllers: [SlowController] });
    const { text, token } = await createToken(app);
    const running = sendToken(app, text, slow.show.url());
    await entered.passed;
    const isRevoked = await app.resolve(ApiTokens).revoke("ada", token.id);
    released.open();

    expect([(await running).status, isRevoked]).to.deep.equal([200, true]);
    expect((await sendToken(app, text, slow.show.url())).status).to.equal(401);
  });
});
