/** Sign-ins while keys change, and while the clock goes back. */
import { AppConfig, Clock, provide } from "@stagecraft/framework";
import { SessionConfig, MemorySessionStore } from "@stagecraft/framework/session";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { ENGINES, openDriver } from "../../idempotency/db/order-database.js";
import {
  account,
  addPerson,
  AppUsers,
  buildAccounts,
  KEY,
  mailsOf,
  PASSWORD,
  signIn,
  startAccounts,
} from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { DAY_MS, findToken, MINUTE_MS, remember, toHeaders, visit } from "../remembered-devices.js";

const NEXT = "a7".repeat(64);

describe("new keys", () => {
  it("leave sessions, devices and links valid as long as the old key is in the list, and sign with the new one", async () => {
    await using engine = await ENGINES[0]?.start();
    const sessions = new MemorySessionStore();
    const clock = new FakeClock();
    const launch = (keys: readonly string[]) => {
      const db = AppDatabase.on(openDriver(engine?.url ?? ""));
      const builder = buildAccounts({ db, keys, sessions, session: SessionConfig.dev(keys) });
      return testApp(builder.config(new AppConfig({ url: "https://shop.example" })), provide(Clock).useValue(clock));
    };
    const before = await launch([KEY]);
    await addPerson(before, "ada");
    const device = await remember(before, "ada");
    await before.post(account.forgot.url(), { json: { email: "ada@shop.example" } });
    const link = (await mailsOf(before, 1))[0]?.link ?? "";
    await before.stop();

    await using app = await launch([NEXT, KEY]);
    expect((await visit(app, { session: device.session })).status).to.equal(200);
    const renewed = findToken(await visit(app, { token: device.token }));
    expect(renewed).to.not.equal(device.token);
    await using after = await launch([NEXT]);
    expect((await visit(after, { token: device.token })).status).to.equal(401);
    expect((await visit(after, { token: renewed })).status).to.equal(200);
    expect((await visit(after, { session: device.session })).status).to.equal(401);
    expect([(await after.get(link)).status, (await app.get(link)).status]).to.deep.equal([404, 200]);
  });
});

async function startBefore() {
  const clock = new FakeClock();
  const app = await startAccounts({ clock });
  await addPerson(app, "ada");
  clock.advance(DAY_MS);
  const device = await remember(app, "ada");
  expect((await visit(app, { session: device.session })).status).to.equal(200);
  const headers = toHeaders(device);
  return { app, clock, device, headers };
}

describe("a clock that goes back by a day", () => {
  it("does not keep the session of a deactivated user open", async () => {
    const { app, clock, device } = await startBefore();
    await using _ = app;
    clock.setNow(clock.now() - DAY_MS);
    app.resolve(AppUsers).deactivated.add("ada");

    expect((await visit(app, { session: device.session })).status).to.equal(401);
  });

  it("does not make a confirmation count for a day", async () => {
    const { app, clock, headers } = await startBefore();
    await using _ = app;
    clock.setNow(clock.now() - DAY_MS);

    expect((await app.get(account.confirmed.url(), { headers })).status).to.equal(403);
  });

  it("does not sign anybody out", async () => {
    const { app, clock, device } = await startBefore();
    await using _ = app;
    clock.setNow(clock.now() - DAY_MS);

    expect((await visit(app, { session: device.session })).status).to.equal(200);
    const next = findToken(await visit(app, { token: device.token }));
    clock.advance(2 * MINUTE_MS);
    expect((await visit(app, { token: next })).status).to.equal(200);
    expect((await signIn(app, "ada@shop.example", PASSWORD)).status).to.equal(200);
  });
});
