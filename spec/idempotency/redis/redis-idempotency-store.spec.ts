/** Idempotency keys in Redis: a handler runs at most once, and a lost lease is an unknown outcome. */
import { ConflictError, Reply } from "@stagecraft/framework";
import { MemoryCache } from "@stagecraft/framework/cache";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { RedisIdempotencyStore, type RedisIdempotencyStoreOptions } from "@stagecraft/framework/idempotency/redis";
import { expectProblem, FakeClock } from "@stagecraft/framework/testing";
import { obeysIdempotencyStore } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { Child } from "../../support/child.js";
import { errorOf } from "../../support/error-of.js";
import { Gate } from "../../support/gate.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { TcpProxy } from "../../support/tcp-proxy.js";
import { until } from "../../support/until.js";
import { order, type OrderHandler, type OrderSettings, see, type Seen, startOrders } from "../orders.js";

/** A busy machine may need longer than the default for a command. */
const PATIENT = { commandTimeoutMs: 15_000, client: { connectTimeout: 15_000 } };

const send = (child: Child) =>
  fetch(`${child.url}/shops/north/orders`, {
    method: "POST",
    body: '{"article":"dies"}',
    headers: { authorization: "ada", "idempotency-key": "k-1", "content-type": "application/json" },
  });
const launch = async ({ url }: RedisServer) => {
  const child = await Child.start("../idempotency/redis/order-application.js", { REDIS_URL: url });
  await child.serves();
  return child;
};

describe("idempotency keys in Redis", function () {
  this.timeout(120_000);
  let server: RedisServer;
  let runs = 0;

  const count = () => Reply.json({ run: ++runs }, 201);
  const createStore = (options?: RedisIdempotencyStoreOptions) =>
    new RedisIdempotencyStore(new RedisCache({ url: server.url, namespace: "shop", ...PATIENT }), options);
  const start = (handler: OrderHandler = count, settings?: OrderSettings) =>
    startOrders(createStore(), handler, settings);

  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
  });
  after(() => server?.kill());
  beforeEach(async () => {
    runs = 0;
    await server.clear();
  });

  it("obey the contract of idempotency stores", async () => {
    const cache = new RedisCache({ url: server.url, namespace: "shop", ...PATIENT });
    await cache.start();
    try {
      await obeysIdempotencyStore(new RedisIdempotencyStore(cache));
    } finally {
      await cache.stop();
    }
  });

  it("are one effect and 50 equal responses of 50 equal requests to two processes", async () => {
    await using one = await start();
    await using two = await start();
    const responses = await Promise.all(Array.from({ length: 50 }, (_, at) => see(order(at % 2 === 0 ? one : two))));

    expect(runs).to.equal(1);
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`))).to.deep.equal(new Set(['201 {"run":1}']));
    expect(responses.filter(({ isReplayed }) => isReplayed)).to.have.lengthOf(49);
  });

  it("belong to a payload, a path and a caller", async () => {
    await using app = await start();
    await order(app);

    await expectProblem(await order(app, { article: "coffee" }), { status: 422, slug: "idempotency-reused" });
    await expectProblem(await order(app, { user: "" }), { status: 401 });
    expect(await see(order(app, { shop: "south" }))).to.include({ isReplayed: false });
    expect(await see(order(app, { user: "eve" }))).to.include({ isReplayed: false });
    expect(await see(order(app))).to.include({ text: '{"run":1}', isReplayed: true });
  });

  it("store text, bytes, errors and no body", async () => {
    const bytes = Buffer.from(Array.from({ length: 65_536 }, (_, at) => at % 256));
    const values: readonly unknown[] = ["grüße 🧺\u0000", bytes, Reply.empty(204), new ConflictError("verkauft: ж")];
    for (const [at, value] of values.entries()) {
      await using app = await start(() => {
        if (value instanceof Error) throw value;
        return value;
      });
      const [first, second] = [await order(app, { key: `k-${at}` }), await order(app, { key: `k-${at}` })];

      expect([second.status, second.headers.get("idempotency-replayed")]).to.deep.equal([first.status, "true"]);
      expect(Buffer.from(await second.arrayBuffer())).to.deep.equal(Buffer.from(await first.arrayBuffer()));
    }
  });

  it("record that a longer response was sent", async () => {
    await using app = await start(() => "x".repeat(65_537));
    await (await order(app)).text();

    await expectProblem(await order(app), { status: 409, slug: "idempotency-unstored" });
  });

  it("are free after a 429, and unknown after a failure", async () => {
    await using app = await start(() => Reply.empty(++runs === 1 ? 429 : 503));

    expect((await order(app)).status).to.equal(429);
    expect((await order(app)).status).to.equal(503);
    await expectProblem(await order(app), { status: 409, slug: "idempotency-unknown" });
    expect(runs).to.equal(2);
  });

  it("are running until the lease is lost, then unknown, and recorded when the handler ends", async () => {
    const clock = new FakeClock();
    const [entered, gate] = [new Gate(), new Gate()];
    await using one = await start(
      async () => {
        entered.open();
        await gate.passed;
        return count();
      },
      { clock },
    );
    await using two = await start(count, { clock });
    const first = order(one);
    await entered.passed;
    clock.advance(50_000);
    const timers = clock.pending;
    const second = order(two);
    let refused: Response | undefined;
    void second.then((response) => (refused = response));
    await until(() => {
      // It waits by polls of the store, for two seconds.
      if (clock.pending > timers) clock.advance(50);
      return refused !== undefined;
    });
    await expectProblem(await second, { status: 409, slug: "idempotency-running" });
    clock.advance(10_000);

    await expectProblem(await order(two), { status: 409, slug: "idempotency-unknown" });
    expect(runs).to.equal(0);
    gate.open();
    expect((await first).status).to.equal(201);
    expect(await see(order(two))).to.deep.equal({ status: 201, text: '{"run":1}', isReplayed: true });
  });

  it("are unknown after a process was killed in its handler", async () => {
    const doomed = await launch(server);
    expect(await send(doomed).catch(() => "no response")).to.equal("no response");
    await doomed[Symbol.asyncDispose]();
    await using again = await launch(server);
    // The lease of the dead process ends a second after its start.
    let refused: Response | undefined;
    await until(async () => {
      refused = await send(again);
      return !refused.headers.has("retry-after");
    });

    if (refused === undefined) throw new Error("no response");
    await expectProblem(refused, { status: 409, slug: "idempotency-unknown" });
  });

  it("expire by the clock of the application", async () => {
    const clock = new FakeClock();
    await using app = await start(count, { clock, options: { ttlMs: 90_000 } });
    await order(app);
    clock.advance(89_999);
    expect(await see(order(app))).to.include({ isReplayed: true });
    clock.advance(1);

    expect(await see(order(app))).to.include({ text: '{"run":2}', isReplayed: false });
  });

  it("are a 503 while Redis is down, and the handler does not run", async () => {
    const other = await RedisServer.start();
    await using app = await startOrders(new RedisIdempotencyStore(new RedisCache({ url: other.url })), count);
    await other.kill();

    await expectProblem(await order(app), { status: 503 });
    expect((await order(app, { key: "" })).status).to.equal(201);
    expect(runs).to.equal(1);
  });

  it("are free where the reply to a claim was lost, because no handler ran", async () => {
    await using proxy = await TcpProxy.start(server.url);
    await using app = await startOrders(
      new RedisIdempotencyStore(new RedisCache({ url: proxy.url, ...PATIENT })),
      count,
    );
    await order(app, { key: "first" });
    proxy.cutsAt = (bytes, from) => from === "client" && bytes.includes("claim");

    await expectProblem(await order(app), { status: 503 });
    let again: Seen | undefined;
    await until(async () => (again = await see(order(app))).status === 201);
    expect(again).to.deep.equal({ status: 201, text: '{"run":2}', isReplayed: false });
    expect(proxy.cuts).to.equal(1);
  });

  it("are recorded although the connection was lost when the handler ended", async () => {
    await using proxy = await TcpProxy.start(server.url);
    const [entered, gate] = [new Gate(), new Gate()];
    const cache = new RedisCache({ url: proxy.url, namespace: "shop", ...PATIENT });
    await using app = await startOrders(new RedisIdempotencyStore(cache), async () => {
      entered.open();
      await gate.passed;
      return count();
    });
    await using other = await start();
    const first = see(order(app));
    await entered.passed;
    proxy.become({ isDown: true });
    gate.open();

    expect(await first).to.deep.equal({ status: 201, text: '{"run":1}', isReplayed: false });
    proxy.become({});
    let again: Seen | undefined;
    await until(async () => (again = await see(order(other))).status === 201);
    expect(again).to.deep.equal({ status: 201, text: '{"run":1}', isReplayed: true });
  });

  it("need a cache with scripts, and a lease of at least a second", () => {
    expect(errorOf(() => new RedisIdempotencyStore(new MemoryCache()))).to.have.property("code", "E_CACHE_SCRIPT");
    expect(errorOf(() => createStore({ leaseMs: 1 }))).to.have.property("code", "E_IDEMPOTENCY_OPTION");
  });
});
