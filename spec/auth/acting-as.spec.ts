/** `app.actingAs` of the tests, with the guards of an identity. */
import { Application } from "@stagecraft/framework";
import { Identities, SignIns } from "@stagecraft/framework/auth";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { SessionConfig } from "@stagecraft/framework/session";
import { expect } from "chai";
import { rejectionOf } from "../support/rejection-of.js";
import { account, addPerson, AppUsers, KEY, startAccounts } from "./account-application.js";

const HOUR_MS = 3_600_000;

describe("a client that acts as a user", () => {
  it("passes the guards without an identity and a password", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    app.resolve(AppUsers).roles.set("u1", ["admin"]);
    const client = await app.actingAs("u1");

    const identity = await (await client.get(account.show.url())).json();
    expect(identity).to.include({ userId: "u1", email: "u1@example.org", isVerified: true });
    for (const endpoint of [account.verified, account.confirmed, account.admin])
      expect((await client.get(endpoint.url())).status).to.equal(200);
    clock.advance(HOUR_MS);
    expect((await client.get(account.show.url())).status).to.equal(200);
    expect((await client.get(account.confirmed.url())).status).to.equal(403);
  });

  it("has the address of the identity or that of the test, and ends with a changed password", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    await addPerson(app, "ada", { isVerified: false });
    const [client, other] = [await app.actingAs("ada"), await app.actingAs({ userId: "ada", email: "a@b.example" })];

    const shown = await Promise.all([client, other].map(async (each) => (await each.get(account.show.url())).json()));
    expect(shown[0]).to.include({ email: "ada@shop.example", isVerified: false });
    expect(shown[1]).to.include({ email: "a@b.example" });
    await app.resolve(Identities).setPassword("ada", { from: "stamp of ada", password: "hash", stamp: "another" });
    clock.advance(HOUR_MS);
    expect((await client.get(account.show.url())).status).to.equal(401);
  });

  it("is signed out with the user", async () => {
    await using app = await startAccounts();
    const client = await app.actingAs("ada");

    await app.resolve(SignIns).endAll("ada");

    expect((await client.get(account.show.url())).status).to.equal(401);
  });

  it("needs identities", async () => {
    await using app = await testApp(Application.create().session(SessionConfig.dev(KEY)));

    expect((await rejectionOf(app.actingAs("ada"))).message).to.include("Identities");
  });
});
