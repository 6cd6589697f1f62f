/** A sign-in that waits for its second step, in a browser where something else happens meanwhile. */
import { FakeClock, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, signIn } from "../account-application.js";
import { addPersonWithPhone, finish, showCode, startSecondSteps } from "../second-step/second-step-application.js";

const signOut = (client: TestClient) => client.post(account.signOut.url());

const rows: readonly (readonly [string, (client: TestClient) => Promise<unknown>])[] = [
  ["the sign-in of a person without a second step", (client) => signIn(client, "bob@shop.example")],
  ["a sign-out without a sign-in", signOut],
  [
    "a sign-in and a sign-out",
    async (client) => {
      await signIn(client, "bob@shop.example");
      await signOut(client);
    },
  ],
];

describe("a sign-in that waits for its second step", () => {
  for (const [what, act] of rows)
    it(`ends with ${what}`, async () => {
      const clock = new FakeClock();
      await using app = await startSecondSteps({ clock });
      const { secret } = await addPersonWithPhone(app, "ada", clock);
      await addPerson(app, "bob");
      clock.advance(30_000);
      const client = app.withCookies();
      expect(await (await signIn(client, "ada@shop.example")).json()).to.deep.equal({ kind: "second-step" });

      await act(client);

      const response = await finish(client, { code: showCode(secret, clock) });
      expect(await response.json()).to.deep.equal({ kind: "expired" });
    });

  it("goes on in one browser while another one signs out", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { secret } = await addPersonWithPhone(app, "ada", clock);
    clock.advance(30_000);
    const [one, two] = [app.withCookies(), app.withCookies()];
    for (const client of [one, two]) await signIn(client, "ada@shop.example");

    await signOut(two);

    const response = await finish(one, { code: showCode(secret, clock) });
    expect(await response.json()).to.deep.equal({ kind: "signed-in", userId: "ada" });
  });
});
