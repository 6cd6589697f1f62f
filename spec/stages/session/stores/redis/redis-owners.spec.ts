/** The owners of sessions in Redis: the sorted set of an owner, its memory, and a server without memory. */
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { Sessions } from "@stagecraft/framework/session";
import { RedisSessionStore } from "@stagecraft/framework/session/redis";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Redis } from "ioredis";
import { needRedis, RedisServer } from "../../../../support/redis-server.js";
import { rejectionOf } from "../../../../support/rejection-of.js";
import { endsWhileTheyMove, getUser, signIn, startOwned } from "../owned-sessions.js";

const PATIENT = { commandTimeoutMs: 15_000, client: { connectTimeout: 15_000 } };
const DAY_MS = 86_400_000;
const ADA = 'shop:session:owner:"ada"';

describe("the owners of sessions in Redis", function () {
  this.timeout(60_000);
  let server: RedisServer;
  let client: Redis;

  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
    client = new Redis(server.url);
  });

  after(() => {
    client?.disconnect();
    return server?.kill();
  });

  beforeEach(async () => {
    await client.config("SET", "maxmemory", "0");
    await client.flushall();
  });

  const createStore = () => new RedisSessionStore(new RedisCache({ url: server.url, namespace: "shop", ...PATIENT }));
  /** From now on the server is over its limit. */
  const exhaust = () => client.config("SET", "maxmemory", "1");
  const countMembers = () => client.zcard(ADA);

  it("end in another process while requests give them new ids", async () => {
    const caches = [1, 2].map(() => new RedisCache({ url: server.url, ...PATIENT }));
    const [used, other] = caches.map((cache) => new RedisSessionStore(cache)) as [RedisSessionStore, RedisSessionStore];
    await caches[0]?.start();
    await endsWhileTheyMove(used, other);
    await caches[0]?.stop();
  });

  it("have a set that loses a session which ends, moves or is released, and the last one removes it", async () => {
    await using app = await startOwned(createStore());
    const [phone, laptop, tablet] = [await signIn(app, "ada"), await signIn(app, "ada"), await signIn(app, "ada")];

    await phone.post("/regenerate");
    expect(await countMembers()).to.equal(3);
    await phone.post("/sign-out");
    await laptop.post("/release");
    expect(await countMembers()).to.equal(1);
    await tablet.post("/sign-in/eve");
    expect(await client.keys("shop:session:owner:*")).to.deep.equal(['shop:session:owner:"eve"']);
  });

  it("have a set that expires with the last session", async () => {
    const clock = new FakeClock();
    await using app = await startOwned(createStore(), clock);
    const phone = await signIn(app, "ada");
    await signIn(app, "ada");
    const inDays = async () => Math.ceil((await client.pttl(ADA)) / DAY_MS);

    expect(await inDays()).to.equal(14);
    clock.advance(DAY_MS);
    await getUser(phone);
    expect(await inDays()).to.equal(14);
    clock.advance(13 * DAY_MS);
    await getUser(phone);
    // The renewal has removed the other session, which has expired.
    expect(await countMembers()).to.equal(1);
    expect(await app.resolve(Sessions).list("ada")).to.have.lengthOf(1);
  });

  it("keep the time of the longest session where a shorter one joins", async () => {
    await using long = await startOwned(createStore());
    await using brief = await startOwned(createStore(), new FakeClock(), { idleMs: 60_000 });
    await signIn(long, "ada");
    await signIn(brief, "ada");

    expect(Math.ceil((await client.pttl(ADA)) / DAY_MS)).to.equal(14);
  });

  it("list no session whose record Redis has removed, and drop it from the set", async () => {
    await using app = await startOwned(createStore());
    await signIn(app, "ada");
    await signIn(app, "ada");
    const [key = ""] = await client.zrange(ADA, "0", "0");
    await client.del(`shop:session:${key}`);

    expect(await app.resolve(Sessions).list("ada")).to.have.lengthOf(1);
    expect(await countMembers()).to.equal(1);
  });

  it("are a 503 where another program has changed the set or a record, and such a session ends", async () => {
    await using app = await startOwned(createStore());
    const browser = await signIn(app, "ada");
    await client.set(ADA, "x");

    expect(await rejectionOf(app.resolve(Sessions).list("ada"))).to.include({ status: 503 });
    expect((await browser.post("/sign-out")).status).to.equal(204);
    await client.del(ADA);
    await signIn(app, "ada");
    const [key = ""] = await client.zrange(ADA, "0", "0");
    await client.hdel(`shop:session:${key}`, "r");
    expect(await rejectionOf(app.resolve(Sessions).list("ada"))).to.include({ status: 503 });
    expect(
      await app
        .resolve(Sessions)
        .end("ada", key)
        .catch(() => "failed"),
    ).to.equal("failed");
  });

  it("without memory refuse a sign-in whole, and renew, list and end their sessions", async () => {
    const clock = new FakeClock();
    await using app = await startOwned(createStore(), clock);
    const browser = await signIn(app, "ada");
    const visitor = app.withCookies();
    await exhaust();

    expect((await visitor.post("/sign-in/ada")).status).to.equal(503);
    expect((await browser.post("/sign-in/eve")).status).to.equal(503);
    expect(await client.keys("shop:session:owner:*")).to.deep.equal([ADA]);
    clock.advance(10 * DAY_MS);
    expect(await getUser(browser)).to.equal("ada");
    clock.advance(10 * DAY_MS);
    expect(await app.resolve(Sessions).list("ada")).to.have.lengthOf(1);
    expect(await app.resolve(Sessions).endAll("ada")).to.equal(1);
    expect([await getUser(browser), await countMembers()]).to.deep.equal(["nobody", 0]);
  });

  it("are at most a thousand in a list", async () => {
    await using app = await startOwned(createStore());
    await Promise.all(Array.from({ length: 1010 }, () => signIn(app, "ada")));

    expect(await app.resolve(Sessions).list("ada")).to.have.lengthOf(1000);
    expect(await app.resolve(Sessions).endAll("ada")).to.equal(1010);
  });
});
