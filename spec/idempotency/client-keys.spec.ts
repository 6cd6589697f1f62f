/** The typed client and idempotent endpoints: one key for each call, the same in all its attempts. */
import {
  Application,
  type ContextOf,
  Controller,
  createManifest,
  Module,
  Post,
  provide,
  routes,
} from "@stagecraft/framework";
import { MemoryIdempotencyStore, Idempotency } from "@stagecraft/framework/idempotency";
import { client, ClientProblem, type RouteClientOptions } from "@stagecraft/framework/routes";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";

const Order = z.object({ order: z.int() });
const orders = routes("orders", "/orders", {
  create: Post("/", { body: z.object({ article: z.string() }), idempotent: true, responses: { 201: Order } }),
  plain: Post("/plain", { responses: { 201: Order } }),
});

let effects = 0;

@Controller(orders)
class OrdersController {
  @orders.create create({ input }: ContextOf<typeof orders.create>) {
    if (input.body.article === "") throw new Error("no article");
    return { order: ++effects };
  }
  @orders.plain plain() {
    return { order: ++effects };
  }
}

@Module({
  controllers: [OrdersController],
  providers: [
    provide(Idempotency).useFactory(() => new Idempotency(new MemoryIdempotencyStore(), { principal: () => "all" })),
  ],
})
class Shop {}

/** A proxy that passes each request on, and loses the first responses. */
class LossyProxy {
  readonly keys: (string | null)[] = [];

  constructor(
    private lost: number,
    private readonly status = 503,
  ) {}

  readonly fetch: NonNullable<RouteClientOptions["fetch"]> = async (url, init) => {
    this.keys.push(init.headers.get("idempotency-key"));
    const response = await fetch(url, init);
    if (this.lost-- <= 0) return response;
    await response.arrayBuffer();
    return new Response("lost", { status: this.status, headers: { "Retry-After": "0" } });
  };
}

describe("the typed client of an idempotent endpoint", () => {
  let app: TestApp;

  before(async () => {
    app = await testApp(Application.create(Shop));
  });
  after(() => app[Symbol.asyncDispose]());
  beforeEach(() => {
    effects = 0;
  });

  const connect = (proxy: LossyProxy, source: typeof orders | ReturnType<typeof createManifest> = orders) =>
    client<typeof orders>(source, { origin: app.url, fetch: proxy.fetch });
  const body = { article: "tea" };

  it("repeats a POST whose response was lost with the same key, and there is one effect", async () => {
    for (const status of [429, 503, 409]) {
      effects = 0;
      const proxy = new LossyProxy(2, status);

      expect(await connect(proxy).create({ body })).to.deep.equal({ order: 1 });
      expect(proxy.keys).to.have.lengthOf(3);
      expect(new Set(proxy.keys)).to.have.property("size", 1);
      expect(effects).to.equal(1);
    }
  });

  it("has another key for each call, also with a manifest", async () => {
    const proxy = new LossyProxy(0);
    const manifest = JSON.parse(JSON.stringify(createManifest(orders))) as ReturnType<typeof createManifest>;
    for (const source of [orders, manifest, manifest]) await connect(proxy, source).create({ body });

    expect(new Set(proxy.keys)).to.have.property("size", 3);
    for (const key of proxy.keys) expect(key).to.match(/^\d+-\d+-\d+-\d+$/);
    expect(effects).to.equal(3);
  });

  it("takes the key of the caller instead", async () => {
    const proxy = new LossyProxy(0);
    const headers = { "Idempotency-Key": "k-1" };

    expect(await connect(proxy).create({ body, headers })).to.deep.equal({ order: 1 });
    expect(await connect(proxy).create({ body, headers })).to.deep.equal({ order: 1 });
    expect(proxy.keys).to.deep.equal(["k-1", "k-1"]);
  });

  it("repeats no POST whose caller has removed the key", async () => {
    const proxy = new LossyProxy(1);
    const headers = { "idempotency-key": undefined };

    expect((await connect(proxy).create.result({ body, headers })).status).to.equal("unexpected");
    expect([proxy.keys, effects]).to.deep.equal([[null], 1]);
  });

  it("throws the problem of a key that another request has", async () => {
    const api = connect(new LossyProxy(0));
    const headers = { "Idempotency-Key": "k-2" };
    await api.create({ body, headers });
    const thrown: unknown = await api.create({ body: { article: "coffee" }, headers }).catch((error: unknown) => error);

    expect(thrown).to.be.instanceOf(ClientProblem);
    expect(thrown).to.have.nested.property("problem.type", "urn:framework:problem:idempotency-reused");
  });

  it("has no key for other endpoints, and does not repeat their POST", async () => {
    const proxy = new LossyProxy(1);

    expect((await connect(proxy).plain.result()).status).to.equal("unexpected");
    expect([proxy.keys, effects]).to.deep.equal([[null], 1]);
  });
});
