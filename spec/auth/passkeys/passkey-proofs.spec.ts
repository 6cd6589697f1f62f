/** Responses of passkeys that no browser would send, by a device in software: over the same routes, and on each engine for the rows. */
import { AppConfig } from "@stagecraft/framework";
import { PasskeyStore } from "@stagecraft/framework/auth";
import { FakeClock, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, PASSWORD, signIn, signInAs } from "../account-application.js";
import { keys, startDefaultPasskeys, startPasskeys, toLocalhost } from "./passkey-application.js";
import { type CeremonyOptions, type DeviceAnswers, SoftwareAuthenticator } from "./software-authenticator.js";

type Usage = "sign-in" | "second-step";

const MINUTE = 60_000;
const EXPIRED = { kind: "expired" };
const REFUSED = { kind: "refused" };

async function post<T = unknown>(client: TestClient, path: string, json: object = {}): Promise<T> {
  return (await client.post(path, { json })).json<T>();
}

const createDevice = (app: TestApp) => new SoftwareAuthenticator("localhost", toLocalhost(app));

async function register(
  client: TestClient,
  device: SoftwareAuthenticator,
  { usage = "sign-in", ...answers }: DeviceAnswers & { readonly usage?: Usage } = {},
) {
  const options = await post<CeremonyOptions>(client, keys.startRegistration.url(), { usage });
  return post(client, keys.finishRegistration.url(), { usage, response: device.create(options, answers) });
}

interface World extends AsyncDisposable {
  readonly app: TestApp;
  readonly clock: FakeClock;
  readonly ada: TestClient;
  readonly device: SoftwareAuthenticator;
}

/** Ada has signed in, and her device has a passkey. */
async function startWithPasskey(usage: Usage = "sign-in"): Promise<World> {
  const clock = new FakeClock();
  const app = await startPasskeys(clock);
  await addPerson(app, "ada");
  const ada = await signInAs(app, "ada");
  const device = createDevice(app);
  expect(await register(ada, device, { usage })).to.have.property("kind", "added");
  return { app, clock, ada, device, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

describe("a challenge of a passkey", () => {
  it("counts once for a device without a counter, also in two requests at the same time", async () => {
    await using world = await startWithPasskey();
    const visitor = world.app.withCookies();
    const finish = async (response: object) =>
      (await visitor.post(keys.finishSignIn.url(), { json: { response } })).status;
    const proof = world.device.get(await post<CeremonyOptions>(visitor, keys.startSignIn.url()));

    const statuses = await Promise.all([finish(proof), finish(proof)]);

    expect(statuses.toSorted((one, other) => one - other)).to.deep.equal([200, 401]);
    const next = world.device.get(await post<CeremonyOptions>(visitor, keys.startSignIn.url()));
    expect(await finish(next)).to.equal(200);
  });

  it("of one use registers no passkey of the other use", async () => {
    await using world = await startWithPasskey();
    const options = await post<CeremonyOptions>(world.ada, keys.startRegistration.url(), { usage: "second-step" });
    const response = createDevice(world.app).create(options);

    const finished = await post(world.ada, keys.finishRegistration.url(), { usage: "sign-in", response });

    expect(finished).to.deep.equal(EXPIRED);
    expect(await world.app.resolve(PasskeyStore).listOfUser("ada")).to.have.lengthOf(1);
  });

  it("of the second step belongs to the sign-in that waits", async () => {
    await using world = await startWithPasskey("second-step");
    const { app, device } = world;
    await addPerson(app, "bob");
    const [mine, theirs] = [app.withCookies(), app.withCookies()];
    for (const client of [mine, theirs]) await signIn(client, "ada@shop.example");
    const proof = device.get(await post<CeremonyOptions>(mine, keys.startSecondStep.url()));
    await post(theirs, keys.startSecondStep.url());
    const visitor = await post(app.withCookies(), keys.finishSecondStep.url(), { response: proof });
    const other = await theirs.post(keys.finishSecondStep.url(), { json: { response: proof } });

    expect(visitor).to.deep.equal(EXPIRED);
    expect(other.status).to.equal(401);
    expect(await post(mine, keys.finishSecondStep.url(), { response: proof })).to.include({ userId: "ada" });
  });
});

async function confirm(world: World, client: TestClient, answers: DeviceAnswers = {}): Promise<number> {
  const options = await post<CeremonyOptions>(client, keys.startConfirmation.url());
  const json = { response: world.device.get(options, answers) };
  return (await client.post(keys.finishConfirmation.url(), { json })).status;
}

const finishConfirmation = (client: TestClient, response: object) =>
  client.post(keys.finishConfirmation.url(), { json: { response } }).then((reply) => reply.text());

describe("a passkey in the place of the password", () => {
  it("confirms who a person is for fifteen minutes, also without the handle of the user", async () => {
    await using world = await startWithPasskey();
    const { ada, clock } = world;
    const confirmed = async () => (await ada.get(account.confirmed.url())).status;

    for (const hasUserHandle of [true, false]) {
      clock.advance(15 * MINUTE);
      expect(await confirmed()).to.equal(403);
      expect(await confirm(world, ada, { hasUserHandle })).to.equal(200);
      expect(await confirmed()).to.equal(200);
    }
  });

  it("confirms nothing for another person, without the check of its user, and with another ceremony", async () => {
    await using world = await startWithPasskey();
    const { app, ada, device, clock } = world;
    await addPerson(app, "bob");
    const bob = await signInAs(app, "bob");
    const other = createDevice(app);
    await register(bob, other);
    clock.advance(15 * MINUTE);
    const options = await post<CeremonyOptions>(bob, keys.startConfirmation.url());
    const refused = [await finishConfirmation(bob, device.get(options))];
    const ofSignIn = device.get(await post<CeremonyOptions>(ada, keys.startSignIn.url()));

    expect(await confirm(world, ada, { isVerified: false })).to.equal(401);
    expect(JSON.parse(await finishConfirmation(ada, ofSignIn))).to.deep.equal(EXPIRED);
    expect(refused[0]).to.include("401");
    for (const client of [ada, bob]) expect((await client.get(account.confirmed.url())).status).to.equal(403);
  });

  it("is none of the second step", async () => {
    await using world = await startWithPasskey("second-step");

    expect(await post(world.ada, keys.startConfirmation.url())).to.deep.equal(EXPIRED);
  });
});

describe("the registration of a passkey", () => {
  it("refuses one that exists, of the same person and of another one", async () => {
    await using world = await startWithPasskey();
    const { app, ada, device } = world;
    await addPerson(app, "bob");
    const bob = await signInAs(app, "bob");

    for (const client of [ada, bob]) expect(await register(client, device)).to.deep.equal(REFUSED);
    expect(await app.resolve(PasskeyStore).listOfUser("bob")).to.deep.equal([]);
  });

  it("of a sign-in refuses a device that does not check its user", async () => {
    await using world = await startWithPasskey();

    expect(await register(world.ada, createDevice(world.app), { isVerified: false })).to.deep.equal(REFUSED);
  });

  it("refuses bytes that are no attestation, in a moment", async () => {
    await using world = await startWithPasskey();
    const hostile: Readonly<Record<string, Uint8Array>> = {
      "no bytes": new Uint8Array(),
      "1 MB of zeros": new Uint8Array(1_000_000),
      "1 MB of nested lists": new Uint8Array(1_000_000).fill(0x81),
      "1 MB of nested maps": new Uint8Array(1_000_000).fill(0xa1),
      "a list of 2^64 entries": Buffer.from("9bffffffffffffffff", "hex"),
      "a map of 2^64 entries": Buffer.from("bbffffffffffffffff", "hex"),
      "a text of 2^32 bytes": Buffer.from("7affffffff", "hex"),
      "endless lists": new Uint8Array(1000).fill(0x9f),
      "a list in the place of the map": Buffer.from("80", "hex"),
    };
    const startedAt = performance.now();
    for (const [what, attestation] of Object.entries(hostile))
      expect(await register(world.ada, createDevice(world.app), { attestation }), what).to.deep.equal(REFUSED);

    expect(performance.now() - startedAt).to.be.below(20_000);
    expect(await register(world.ada, createDevice(world.app))).to.have.property("kind", "added");
  });

  it("refuses another origin and another domain", async () => {
    await using world = await startWithPasskey();

    for (const answers of [{ origin: "https://evil.example" }, { rpId: "evil.example" }, { origin: "null" }])
      expect(await register(world.ada, createDevice(world.app), answers)).to.deep.equal(REFUSED);
  });
});

describe("a sign-in by a passkey", () => {
  it("refuses a counter that goes back or stays, and one that is gone", async () => {
    await using world = await startWithPasskey();
    const { app, device, clock } = world;
    const statuses = [];
    for (const counter of [5, 4, 5, 0, 6]) {
      const visitor = app.withCookies();
      const response = device.get(await post<CeremonyOptions>(visitor, keys.startSignIn.url()), { counter });
      statuses.push((await visitor.post(keys.finishSignIn.url(), { json: { response } })).status);
      clock.advance(4 * MINUTE);
    }

    expect(statuses).to.deep.equal([200, 401, 401, 401, 200]);
  });

  it("says the same for an unknown passkey and a wrong signature", async () => {
    await using world = await startWithPasskey();
    const { app, device } = world;
    const texts = [];
    for (const other of [createDevice(app), device]) {
      const visitor = app.withCookies();
      const options = await post<CeremonyOptions>(visitor, keys.startSignIn.url());
      const response = other.get({ ...options, challenge: other === device ? "AAAA" : options.challenge });
      texts.push(await (await visitor.post(keys.finishSignIn.url(), { json: { response } })).text());
    }

    expect(texts[0]).to.include("401").and.to.equal(texts[1]);
  });
});

describe("passkeys without options of domain and origins", () => {
  it("have those of the configured URL, whatever the Host and the Origin of a request are", async () => {
    await using app = await startDefaultPasskeys();
    const { hostname, origin } = new URL(app.resolve(AppConfig).url);
    const bytes = `POST ${keys.startSignIn.url()} HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\nConnection: close\r\n`;

    const ofHost = String(await app.raw(`${bytes}\r\n`));
    const ofOrigin = String(await app.raw(`${bytes}Origin: https://other.example\r\n\r\n`));
    await addPerson(app, "ada");
    const ada = await signInAs(app, "ada");
    const answers = [origin, "http://evil.example"].map((from) => new SoftwareAuthenticator(hostname, from));
    const results = [];
    for (const device of answers) results.push(await register(ada, device));

    expect(ofHost).to.include(`"rpId":"${hostname}"`).and.to.not.include("evil");
    expect(ofOrigin).to.match(/^HTTP\/1.1 403/);
    expect(results[0]).to.have.property("kind", "added");
    expect(results[1]).to.deep.equal(REFUSED);
    expect((await signIn(app, "ada@shop.example", PASSWORD)).status).to.equal(200);
  });
});
