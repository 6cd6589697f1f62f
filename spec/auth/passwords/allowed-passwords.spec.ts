/** Passwords that an application refuses, such as common ones, in each flow that sets one. */
import { provide } from "@stagecraft/framework";
import { AuthUsers } from "@stagecraft/framework/auth";
import { expectProblem, type TestApp, type TestClient } from "@stagecraft/framework/testing";
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
const COMMON = "password123";

class CarefulUsers extends AppUsers {
  readonly asked: string[] = [];

  override isPasswordAllowed(password: string, email: string): Promise<boolean> {
    this.asked.push(email);
    return Promise.resolve(password !== COMMON);
  }
}

async function startCareful() {
  const users = new CarefulUsers();
  const app = await startAccounts({ bindings: [provide(AuthUsers).useValue(users)] });
  return { app, users };
}

async function expectRefused(response: Promise<Response>): Promise<void> {
  const problem = await expectProblem(await response, { status: 422 });
  expect(problem["errors"]).to.have.nested.property("password[0].code", "not-allowed");
}

const post = (client: TestClient, path: string, json: object) => client.post(path, { json });

describe("a password that the application does not allow", () => {
  it("is refused in a sign-up, before a hash and a mail", async () => {
    const { app, users } = await startCareful();
    await using _ = app;

    await expectRefused(post(app, account.signUp.url(), { email: "Ada@Shop.example", password: COMMON }));

    expect(users.asked).to.deep.equal([EMAIL]);
    expect(await mailsOf(app, 0)).to.deep.equal([]);
    expect((await post(app, account.signUp.url(), { email: EMAIL, password: PASSWORD })).status).to.equal(202);
  });

  it("is refused in a change of the password, after the password until now", async () => {
    const { app, users } = await startCareful();
    await using _ = app;
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const change = (current: string) => post(client, account.changePassword.url(), { current, password: COMMON });

    expect((await change("wrong horse battery")).status).to.equal(401);
    expect(users.asked).to.deep.equal([]);
    await expectRefused(change(PASSWORD));
    expect((await signIn(app, EMAIL)).status).to.equal(200);
  });

  it("is refused in a reset, whose link stays valid, and asked about with a valid link alone", async () => {
    const { app, users } = await startCareful();
    await using _ = app;
    await addPerson(app, "ada");
    await post(app, account.forgot.url(), { email: EMAIL });
    const link = await findLink(app);

    expect(await (await post(app, `${link}0`, { password: COMMON })).json()).to.deep.equal({ kind: "expired" });
    expect(users.asked).to.deep.equal([]);
    await expectRefused(post(app, link, { password: COMMON }));
    expect(await (await post(app, link, { password: "another horse battery" })).json()).to.include({ kind: "changed" });
  });
});

async function findLink(app: TestApp): Promise<string> {
  return (await mailsOf(app, 1))[0]?.link ?? "";
}
