/** The sign-ins of a person on their devices, in two processes that share a database. */
import {
  Clock,
  Controller,
  type ContextOf,
  Delete,
  Get,
  inject,
  Post,
  provide,
  Reply,
  routes,
} from "@stagecraft/framework";
import { PasswordConfirmation, SignIns } from "@stagecraft/framework/auth";
import { signedIn } from "@stagecraft/framework/auth/guards";
import { DatabaseSessionStore } from "@stagecraft/framework/session/db";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { ENGINES, openDriver, type StartedEngine } from "../../idempotency/db/order-database.js";
import { Gate } from "../../support/gate.js";
import { needs } from "../../support/machine.js";
import { account, addPerson, buildAccounts, PASSWORD, startAccounts } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { DAY_MS, findToken, type Device, MINUTE_MS, remember, toHeaders, visit } from "../remembered-devices.js";

const devices = routes("devices", "/devices", {
  list: Get("/", { guards: [signedIn] }),
  endOthers: Delete("/others", { guards: [signedIn] }),
  endOne: Delete("/{id}", { guards: [signedIn] }),
  slow: Get("/slow", { guards: [signedIn] }),
  confirmSlowly: Post("/confirm", { guards: [signedIn] }),
});

/** The slow handlers of the next request wait here. */
let [reached, goOn] = [new Gate(), new Gate()];

@Controller(devices)
class DeviceController {
  private readonly signIns = inject(SignIns);
  private readonly confirmation = inject(PasswordConfirmation);

  @devices.list list(ctx: ContextOf<typeof devices.list>) {
    return this.signIns.list(ctx);
  }

  @devices.endOthers async endOthers(ctx: ContextOf<typeof devices.endOthers>) {
    await this.signIns.endOthers(ctx);
    return Reply.noContent();
  }

  @devices.endOne async endOne(ctx: ContextOf<typeof devices.endOne>) {
    return { ended: await this.signIns.endOne(ctx, ctx.params.id) };
  }

  @devices.slow async slow() {
    reached.open();
    await goOn.passed;
    return "done";
  }

  @devices.confirmSlowly async confirmSlowly(ctx: ContextOf<typeof devices.confirmSlowly>) {
    await this.confirmation.confirm(ctx, { password: PASSWORD });
    return this.slow();
  }
}

interface Listed {
  readonly signInId: string;
  readonly isCurrent: boolean;
  readonly isRemembered: boolean;
  readonly method: string;
  readonly signedInAt: number;
  readonly lastUsedAt: number;
  readonly userAgent: string;
  readonly address: string;
}

const json = { email: "ada@shop.example", password: PASSWORD };

async function signIn(app: TestApp, headers: Readonly<Record<string, string>> = {}): Promise<Device> {
  const response = await app.post(account.signIn.url(), { json, headers });
  expect(response.status).to.equal(200);
  return { session: findToken(response, "framework-id") };
}

async function list(app: TestApp, device: Device): Promise<readonly Listed[]> {
  return (await app.get(devices.list.url(), { headers: toHeaders(device) })).json<readonly Listed[]>();
}

async function isSignedIn(app: TestApp, device: Device): Promise<boolean> {
  return (await visit(app, device)).status === 200;
}

const end = (app: TestApp, id: string, device: Device, more = {}) =>
  app.delete(`/devices/${id}`, { headers: { ...toHeaders(device), ...more } });

describe("the sign-ins of a person", function () {
  this.timeout(60_000);
  let app: TestApp;
  let clock: FakeClock;

  beforeEach(async () => {
    [reached, goOn] = [new Gate(), new Gate()];
    clock = new FakeClock();
    app = await startAccounts({ clock, controllers: [DeviceController] });
    await addPerson(app, "ada");
    await addPerson(app, "eve");
  });
  afterEach(() => app.stop());

  it("are listed with their times, device, address and method, that of the request first", async () => {
    const start = clock.now();
    const phone = await signIn(app, { "user-agent": `Phone\u00e9\t${"x".repeat(500)}` });
    clock.advance(5 * MINUTE_MS);
    const laptop = await signIn(app, { "user-agent": "Laptop" });
    clock.advance(5 * MINUTE_MS);
    await visit(app, phone);

    const [first, second] = await list(app, phone);

    expect(first).to.deep.include({ isCurrent: true, isRemembered: false, method: "password", address: "127.0.0.1" });
    expect(first).to.include({ signedInAt: start, lastUsedAt: start + 10 * MINUTE_MS });
    expect(first?.userAgent)
      .to.match(/^Phone\?.x{240,}$/)
      .and.have.lengthOf(256);
    expect(second).to.include({ isCurrent: false, userAgent: "Laptop", lastUsedAt: start + 5 * MINUTE_MS });
    await signIn(app, { "user-agent": "Tablet" });
    const agents = (await list(app, laptop)).map(({ userAgent, isCurrent }) => [userAgent.slice(0, 6), isCurrent]);
    expect(agents[0]).to.deep.equal(["Laptop", true]);
    expect(agents.slice(1)).to.have.deep.members([
      ["Tablet", false],
      ["Phone?", false],
    ]);
  });

  it("are one entry for a device with several sessions, and one for a device whose session has expired", async () => {
    const start = clock.now();
    const device = await remember(app, "ada", { "user-agent": "Phone" });
    clock.advance(20 * DAY_MS);
    const desk = await signIn(app);
    const [, forgotten] = await list(app, desk);
    expect(forgotten).to.include({
      isRemembered: true,
      method: "password",
      signedInAt: start,
      lastUsedAt: start,
      userAgent: "Phone",
    });

    const responses = await Promise.all([1, 2, 3].map(() => visit(app, { token: device.token })));
    const token = findToken(responses[0] as Response);
    const all = await list(app, desk);
    expect(all).to.have.lengthOf(2);
    expect(all.find(({ isCurrent }) => !isCurrent)).to.include({
      isRemembered: true,
      method: "password",
      signedInAt: start,
    });

    // A sign-out on the device ends all of its sessions.
    const session = findToken(responses[1] as Response, "framework-id");
    await app.post(account.signOut.url(), { headers: toHeaders({ token, session }) });
    for (const response of responses)
      expect(await isSignedIn(app, { session: findToken(response, "framework-id") })).to.equal(false);
    expect(await list(app, desk)).to.have.lengthOf(1);
  });

  it("end one by one, and none of another person does", async () => {
    const [desk, phone] = [await signIn(app), await remember(app, "ada")];
    const eve = { session: (await remember(app, "eve")).session };
    const [ofEve] = await list(app, eve);
    const ofPhone = (await list(app, desk)).find(({ isCurrent }) => !isCurrent);

    for (const id of [ofEve?.signInId ?? "", "x", "x".repeat(5000), "a%20b"])
      expect(await (await end(app, id, desk)).json()).to.deep.equal({ ended: false });
    expect(await isSignedIn(app, eve)).to.equal(true);
    expect((await end(app, ofPhone?.signInId ?? "", desk, { "sec-fetch-site": "cross-site" })).status).to.equal(403);
    expect(await (await end(app, ofPhone?.signInId ?? "", desk)).json()).to.deep.equal({ ended: true });
    clock.advance(2 * MINUTE_MS);
    expect([await isSignedIn(app, phone), await isSignedIn(app, { token: phone.token })]).to.deep.equal([false, false]);

    const [current] = await list(app, desk);
    await end(app, current?.signInId ?? "", desk);
    expect(await isSignedIn(app, desk)).to.equal(false);
  });

  it("end on all other devices, and for an administrator on all", async () => {
    const [desk, phone, tablet] = [await remember(app, "ada"), await remember(app, "ada"), await signIn(app)];

    expect((await end(app, "others", desk)).status).to.equal(204);
    clock.advance(2 * MINUTE_MS);
    const isOpen = await Promise.all(
      [desk, phone, { token: phone.token }, tablet].map((each) => isSignedIn(app, each)),
    );
    expect(isOpen).to.deep.equal([true, false, false, false]);
    expect(await isSignedIn(app, { token: desk.token })).to.equal(true);

    await app.resolve(SignIns).endAll("ada");
    clock.advance(2 * MINUTE_MS);
    expect([await isSignedIn(app, desk), await isSignedIn(app, { token: desk.token })]).to.deep.equal([false, false]);
  });

  it("end also for a device that opens its session in the same moment", async () => {
    const [desk, phone] = [await signIn(app), await remember(app, "ada")];
    clock.advance(2 * MINUTE_MS);
    const opening = app.get(devices.slow.url(), { headers: toHeaders({ token: phone.token }) });
    await reached.passed;

    await end(app, "others", desk);
    goOn.open();

    const session = findToken(await opening, "framework-id");
    expect(session).to.be.a("string");
    expect(await isSignedIn(app, { session })).to.equal(false);
  });

  it("end also for a device that confirms its password in the same moment", async () => {
    const [desk, phone] = [await signIn(app), await signIn(app)];
    await visit(app, phone);
    const confirming = app.post(devices.confirmSlowly.url(), { headers: toHeaders(phone) });
    await reached.passed;

    await end(app, "others", desk);
    goOn.open();

    const session = findToken(await confirming, "framework-id");
    expect([await isSignedIn(app, phone), await isSignedIn(app, { session })]).to.deep.equal([false, false]);
  });
});

for (const { name, program, start } of ENGINES) {
  describe(`the sign-ins of a person in two processes on ${name}`, function () {
    this.timeout(120_000);
    let server: StartedEngine;

    if (program !== undefined) before(needs(program));
    before(async () => {
      server = await start();
    });
    after(() => server?.[Symbol.asyncDispose]());

    it("end at their next request when the password changes in the other process", async () => {
      const clock = new FakeClock();
      const launch = () => {
        const db = AppDatabase.on(openDriver(server.url));
        const builder = buildAccounts({ db, sessions: new DatabaseSessionStore(db) });
        return testApp(builder, provide(Clock).useValue(clock));
      };
      await using one = await launch();
      await using two = await launch();
      await addPerson(one, "ada");
      const [desk, phone, tablet] = [await remember(one, "ada"), await remember(two, "ada"), await signIn(two)];
      for (const device of [desk, phone, tablet]) expect(await isSignedIn(two, device)).to.equal(true);

      const change = { current: PASSWORD, password: "another password" };
      const changed = await one.post(account.changePassword.url(), { json: change, headers: toHeaders(desk) });
      expect(changed.status).to.equal(200);

      for (const device of [phone, tablet, desk]) expect(await isSignedIn(two, device)).to.equal(false);
      const current = { token: findToken(changed), session: findToken(changed, "framework-id") };
      expect(await isSignedIn(two, { session: current.session })).to.equal(true);
      clock.advance(2 * MINUTE_MS);
      expect(await isSignedIn(two, { token: current.token })).to.equal(true);
    });
  });
}
