/** Endpoints with `idempotent` over a real socket, with the store in memory. */
import {
  Any,
  Application,
  Clock,
  ConflictError,
  content,
  type Context,
  Controller,
  type Endpoint,
  type EndpointOptions,
  ErrorMapping,
  Get,
  Head,
  Middleware,
  Module,
  type Next,
  Options,
  Post,
  prefix,
  provide,
  Put,
  Query,
  redirect,
  Reply,
  Route,
  Routes,
  routes,
  TooManyRequestsError,
} from "@stagecraft/framework";
import { Idempotency, MemoryIdempotencyStore } from "@stagecraft/framework/idempotency";
import { expectProblem, FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { errorOf } from "../support/error-of.js";
import { Gate } from "../support/gate.js";
import { startupErrorOf } from "../support/startup-error-of.js";
import { until } from "../support/until.js";
import { Accounts, bindIdempotency, order, see, signedIn, startOrders } from "./orders.js";

/** The request of `order`, which its client may leave. */
const postOrder = (url: string, signal: AbortSignal) =>
  fetch(`${url}/shops/north/orders`, {
    method: "POST",
    body: '{"article":"tea"}',
    headers: { authorization: "ada", "idempotency-key": "k-1", "content-type": "application/json" },
    signal,
  });

async function* stream() {
  yield "a";
}

const memory = () => new MemoryIdempotencyStore();

describe("an idempotent endpoint", () => {
  let runs = 0;
  const count = () => Reply.created("/orders/1", { run: ++runs });

  beforeEach(() => {
    runs = 0;
  });

  it("runs its handler once for a key, and sends the same response again, marked", async () => {
    await using app = await startOrders(memory(), count);
    const [first, second] = [await order(app), await order(app, { key: '"k-1"' })];

    expect([first.status, second.status]).to.deep.equal([201, 201]);
    expect(await second.text()).to.equal(await first.text());
    expect(second.headers.get("location")).to.equal("/orders/1");
    expect(second.headers.get("content-type")).to.equal(first.headers.get("content-type"));
    expect([first, second].map(({ headers }) => headers.get("idempotency-replayed"))).to.deep.equal([null, "true"]);
  });

  it("runs it for each request without a key, unless it requires one", async () => {
    await using app = await startOrders(memory(), count);
    await using strict = await startOrders(memory(), count, { options: { required: true } });

    await order(app, { key: "" });
    expect(await see(order(app, { key: "" }))).to.deep.equal({ status: 201, text: '{"run":2}', isReplayed: false });
    await expectProblem(await order(strict, { key: "" }), { status: 400, detail: /needs the header Idempotency-Key/ });
    expect(runs).to.equal(2);
  });

  it("refuses a header that is no key", async () => {
    await using app = await startOrders(memory(), count);

    await expectProblem(await order(app, { key: "a, b" }), { status: 400, detail: /one key of 1 to 255/ });
    expect(runs).to.equal(0);
  });

  it("runs for another caller, another path and another key", async () => {
    await using app = await startOrders(memory(), count);
    await order(app);
    const others = [{ user: "eve" }, { shop: "south" }, { key: "k-2" }];

    for (const other of others) expect(await see(order(app, other))).to.include({ status: 201, isReplayed: false });
    expect(runs).to.equal(4);
  });

  it("refuses the key of another payload, query or media type with 422", async () => {
    await using app = await startOrders(memory(), count);
    await order(app);
    const type = { "content-type": "application/vnd.shop+json" };

    for (const other of [{ article: "coffee" }, { query: "?rush=1" }, { headers: type }]) {
      const problem = await expectProblem(await order(app, other), { status: 422, detail: /used for another request/ });
      expect(problem.type).to.equal("urn:framework:problem:idempotency-reused");
    }
    expect(runs).to.equal(1);
  });

  it("refuses before a replay what guards and validation refuse, and stores no refusal", async () => {
    await using app = await startOrders(memory(), count);

    await expectProblem(await order(app, { article: 7 }), { status: 422 });
    expect(await see(order(app))).to.include({ status: 201, isReplayed: false });
    await expectProblem(await order(app, { user: "" }), { status: 401 });
    expect(await see(order(app))).to.include({ status: 201, isReplayed: true });
  });

  it("runs the middleware of its route before a replay", async () => {
    const passed: string[] = [];
    class Step implements Middleware {
      handle(_ctx: Context, next: Next) {
        passed.push("middleware");
        return next();
      }
    }
    const add = Post("/orders", { guards: [signedIn], idempotent: true });
    const stepped = new Routes([Route.of(add, count).middleware(new Step())]);
    await using app = await testApp(Application.create().provide(Accounts, bindIdempotency(memory())).routes(stepped));
    const headers = { authorization: "ada", "idempotency-key": "k" };

    await app.post("/orders", { headers });
    expect(await see(app.post("/orders", { headers }))).to.include({ status: 201, isReplayed: true });
    expect(passed).to.deep.equal(["middleware", "middleware"]);
  });

  it("refuses a key where the request has no caller, and a caller that is no text and no number", async () => {
    const add = Post("/", { idempotent: true });
    const start = (principal: () => unknown) =>
      testApp(
        Application.create()
          .provide(bind(new Idempotency(memory(), { principal: principal as () => string })))
          .routes(new Routes([Route.of(add, count)])),
      );
    await using nobody = await start(() => undefined);
    await using object = await start(() => ({ id: 7 }));
    const headers = { "idempotency-key": "k" };

    await expectProblem(await nobody.post("/", { headers }), { status: 403, detail: /belongs to a caller/ });
    await expectProblem(await object.post("/", { headers }), { status: 500 });
    expect(await see(nobody.post("/"))).to.include({ status: 201 });
    expect(runs).to.equal(1);
  });

  it("sends 50 equal requests at the same time one response, and one effect", async () => {
    await using app = await startOrders(memory(), async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return count();
    });
    const responses = await Promise.all(Array.from({ length: 50 }, () => see(order(app))));

    expect(runs).to.equal(1);
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`))).to.deep.equal(new Set(['201 {"run":1}']));
    expect(responses.filter(({ isReplayed }) => isReplayed)).to.have.lengthOf(49);
  });

  it("responds with 409 and Retry-After while another request with the key runs for too long", async () => {
    const clock = new FakeClock();
    const [entered, gate] = [new Gate(), new Gate()];
    await using app = await startOrders(
      memory(),
      async () => {
        entered.open();
        await gate.passed;
        return count();
      },
      { clock },
    );
    const first = order(app);
    await entered.passed;
    const timers = clock.pending;
    const second = order(app);
    await until(() => clock.pending > timers);
    clock.advance(2000);
    const refused = await second;
    gate.open();

    expect(refused.headers.get("retry-after")).to.equal("2");
    await expectProblem(refused, { status: 409, detail: /is running/ });
    expect((await first).status).to.equal(201);
    expect(await see(order(app))).to.include({ status: 201, isReplayed: true });
  });

  it("sends a thrown error below 500 again, also through the mapper of the application", async () => {
    const add = Post("/", { idempotent: true });
    const mapping = new ErrorMapping().using((error, ctx) => Reply.json({ shop: String(error) }, ctx.status as 409));
    await using app = await testApp(
      Application.create()
        .errorMapping(mapping)
        .provide(bind(new Idempotency(memory(), { principal: () => 1 })))
        .routes(
          new Routes([
            Route.of(add, () => {
              runs++;
              throw new ConflictError("taken", { extensions: { by: "eve" }, headers: { "X-Taken": "1" } });
            }),
          ]),
        ),
    );
    const send = () => app.post("/", { headers: { "idempotency-key": "k" } });
    const [first, second] = [await send(), await send()];

    expect([first.status, second.status, runs]).to.deep.equal([409, 409, 1]);
    expect(second.headers.get("x-taken")).to.equal("1");
    expect(second.headers.get("idempotency-replayed")).to.equal("true");
    expect([await first.text(), await second.text()]).to.deep.equal([
      '{"shop":"ConflictError: taken"}',
      '{"shop":"FrameworkError: taken"}',
    ]);
  });

  it("sends the problem of a thrown error again, with all its members", async () => {
    await using app = await startOrders(memory(), () => {
      throw new ConflictError("taken", { extensions: { by: "eve", at: 7 } });
    });
    const [first, second] = [await see(order(app)), await see(order(app))];

    expect(second).to.deep.equal({ ...first, isReplayed: true });
    expect(first.text).to.include('"detail":"taken","at":7,"by":"eve"');
  });

  it("sends the headers again that its handler had set before it threw", async () => {
    await using app = await startOrders(memory(), (ctx) => {
      ctx.set({ "X-Left": "7", Link: ["</a>", "</b>"], "Set-Cookie": "a=1", ETag: '"1"' });
      throw new ConflictError("taken", { headers: { "X-Taken": "1" } });
    });
    const names = ["x-left", "x-taken", "link", "etag", "set-cookie"];
    const [first, second] = [await order(app), await order(app)].map(({ headers }) =>
      names.map((name) => headers.get(name)),
    );

    expect(first).to.deep.equal(["7", "1", "</a>, </b>", null, "a=1"]);
    expect(second).to.deep.equal(["7", "1", "</a>, </b>", null, null]);
  });

  it("runs again after a 429 of its handler, which says that nothing was done", async () => {
    await using app = await startOrders(memory(), () => {
      if (++runs === 1) throw new TooManyRequestsError("slow down");
      return { runs };
    });

    await expectProblem(await order(app), { status: 429 });
    expect(await see(order(app))).to.deep.equal({ status: 200, text: '{"runs":2}', isReplayed: false });
  });

  it("does not run again after a failure in memory, whose effects may stand", async () => {
    for (const fail of [() => Reply.empty(503), () => Promise.reject(new Error("canary"))]) {
      await using app = await startOrders(memory(), () => {
        runs++;
        return fail();
      });

      expect((await order(app)).status).to.be.oneOf([500, 503]);
      const problem = await expectProblem(await order(app), { status: 409, detail: /outcome is not known/ });
      expect(problem.type).to.equal("urn:framework:problem:idempotency-unknown");
      await expectProblem(await order(app, { article: "coffee" }), { status: 422 });
    }
    expect(runs).to.equal(2);
  });

  it("replays no cookie, no date and no id of a request, and the headers of the stages are new", async () => {
    const add = Post("/", { idempotent: true });
    await using app = await testApp(
      Application.create()
        .requestId()
        .provide(bind(new Idempotency(memory(), { principal: () => "all" })))
        .routes(
          new Routes([
            Route.of(add, (ctx) => {
              ctx.set({ "Set-Cookie": ["a=1", "b=2"], "X-Correlation-Id": "7", Link: ["</a>", "</b>"], Date: "then" });
              return "text";
            }),
          ]),
        ),
    );
    const send = () => app.post("/", { headers: { "idempotency-key": "k" } });
    const [first, second] = [await send(), await send()];

    expect(first.headers.getSetCookie()).to.deep.equal(["a=1", "b=2"]);
    expect(second.headers.getSetCookie()).to.deep.equal([]);
    expect(second.headers.get("x-correlation-id")).to.equal(null);
    expect(second.headers.get("date")).to.not.equal("then");
    expect(second.headers.get("link")).to.equal("</a>, </b>");
    expect(second.headers.get("x-request-id")).to.be.a("string").and.not.equal(first.headers.get("x-request-id"));
    expect(await second.text()).to.equal("text");
  });

  it("replays text, bytes, JSON and no body, up to 64 KiB", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    const values: readonly unknown[] = ["grüße 🧺", bytes, { a: [null, "ж"] }, undefined, null, "x".repeat(65_536), 7];
    for (const value of values) {
      await using app = await startOrders(memory(), () => value);
      const [first, second] = [await order(app), await order(app)];

      expect(second.headers.get("idempotency-replayed")).to.equal("true");
      expect(second.status).to.equal(first.status);
      expect(second.headers.get("content-type")).to.equal(first.headers.get("content-type"));
      expect(Buffer.from(await second.arrayBuffer())).to.deep.equal(Buffer.from(await first.arrayBuffer()));
    }
  });

  it("sends a longer response, a stream and a redirect once, and says afterwards that it was carried out", async () => {
    for (const value of ["x".repeat(65_537), stream, () => redirect().to("/")]) {
      await using app = await startOrders(memory(), () => (typeof value === "function" ? value() : value));
      const first = await order(app);
      await first.arrayBuffer();

      expect(first.status).to.be.oneOf([200, 302, 303]);
      const problem = await expectProblem(await order(app), { status: 409, detail: /was carried out/ });
      expect(problem.type).to.equal("urn:framework:problem:idempotency-unstored");
    }
  });

  it("does not run for a client that has left while it waited for another request", async () => {
    const clock = new FakeClock();
    const [entered, gate] = [new Gate(), new Gate()];
    let left = 0;
    const principal = ({ signal }: Context) => {
      signal.addEventListener("abort", () => left++);
      return "all";
    };
    const handler = async () => {
      runs++;
      entered.open();
      await gate.passed;
      return Reply.empty(429);
    };
    await using app = await testApp(
      Application.create()
        .provide(bind(new Idempotency(memory(), { principal })))
        .routes(new Routes([Route.of(Post("/", { idempotent: true }), handler)])),
      provide(Clock).useValue(clock),
    );
    const headers = { "idempotency-key": "k" };
    const first = app.post("/", { headers });
    await entered.passed;
    const timers = clock.pending;
    const leaving = new AbortController();
    const second = fetch(app.url, { method: "POST", headers, signal: leaving.signal }).catch(() => "left");
    await until(() => clock.pending > timers);
    leaving.abort();
    await until(() => left === 1);
    gate.open();

    expect([(await first).status, await second]).to.deep.equal([429, "left"]);
    expect((await app.post("/", { headers })).status).to.equal(429);
    expect(runs).to.equal(2);
  });

  it("ends both requests of a key in a drain", async () => {
    const clock = new FakeClock();
    const [entered, gate] = [new Gate(), new Gate()];
    const app = await startOrders(
      memory(),
      async () => {
        entered.open();
        await gate.passed;
        return count();
      },
      { clock },
    );
    const first = see(order(app));
    await entered.passed;
    const timers = clock.pending;
    const second = see(order(app));
    await until(() => clock.pending > timers);
    const stopped = app[Symbol.asyncDispose]();
    gate.open();

    expect(await first).to.deep.equal({ status: 201, text: '{"run":1}', isReplayed: false });
    expect(await second).to.deep.equal({ status: 201, text: '{"run":1}', isReplayed: true });
    await stopped;
  });

  it("has separate keys under each prefix of its table", async () => {
    const orders = routes("orders", "/orders", { add: Post("/", { idempotent: true }) });
    @Controller(prefix("/v1", orders), prefix("/v2", orders))
    class Orders {
      @orders.add add() {
        return count();
      }
    }
    @Module({ controllers: [Orders], providers: [bind(new Idempotency(memory(), { principal: () => "all" }))] })
    class Shop {}
    await using app = await testApp(Application.create(Shop));
    const send = (path: string) => see(app.post(path, { headers: { "idempotency-key": "k" } }));

    expect(await send("/v1/orders")).to.include({ text: '{"run":1}', isReplayed: false });
    expect(await send("/v2/orders")).to.include({ text: '{"run":2}', isReplayed: false });
    expect(await send("/v1/orders")).to.include({ text: '{"run":1}', isReplayed: true });
  });

  it("stores the response although its client has left", async () => {
    const [entered, gate] = [new Gate(), new Gate()];
    let hasLeft = false;
    await using app = await startOrders(memory(), async (ctx) => {
      ctx.signal.addEventListener("abort", () => (hasLeft = true));
      entered.open();
      await gate.passed;
      return count();
    });
    const leaving = new AbortController();
    const sent = postOrder(app.url, leaving.signal).catch(() => "left");
    await entered.passed;
    leaving.abort();
    await until(() => hasLeft);
    gate.open();

    expect(await sent).to.equal("left");
    expect(await see(order(app))).to.deep.equal({ status: 201, text: '{"run":1}', isReplayed: true });
  });

  it("stores the error that its handler throws although its client has left", async () => {
    const [entered, left] = [new Gate(), new Gate()];
    await using app = await startOrders(memory(), async (ctx) => {
      runs++;
      ctx.signal.addEventListener("abort", () => left.open());
      entered.open();
      await left.passed;
      throw new ConflictError("taken");
    });
    const leaving = new AbortController();
    const sent = postOrder(app.url, leaving.signal).catch(() => "left");
    await entered.passed;
    leaving.abort();

    expect(await sent).to.equal("left");
    const again = await order(app);
    await expectProblem(again, { status: 409, detail: "taken" });
    expect([runs, again.headers.get("idempotency-replayed")]).to.deep.equal([1, "true"]);
  });

  it("does not know the outcome of a handler that a timeout has cut off", async () => {
    const gate = new Gate();
    const add = Post("/", { idempotent: true });
    await using app = await testApp(
      Application.create()
        .timeout(20)
        .provide(bind(new Idempotency(memory(), { principal: () => "all" })))
        .routes(new Routes([Route.of(add, async () => (await gate.passed, count()))])),
    );
    const send = () => app.post("/", { headers: { "idempotency-key": "k" } });
    const first = await send();
    gate.open();

    expect(first.status).to.be.oneOf([408, 503]);
    let later = await send();
    await until(async () => (later = await send()).headers.get("retry-after") === null);
    await expectProblem(later, { status: 409, slug: "idempotency-unknown" });
    expect(runs).to.equal(1);
  });

  it("forgets a key after its time to live", async () => {
    const clock = new FakeClock();
    await using app = await startOrders(memory(), count, { clock, options: { ttlMs: 60_000 } });
    await order(app);
    clock.advance(59_999);

    expect(await see(order(app))).to.include({ isReplayed: true });
    clock.advance(1);
    expect(await see(order(app))).to.deep.equal({ status: 201, text: '{"run":2}', isReplayed: false });
  });

  it("forgets a key after a day where no time is set", async () => {
    const clock = new FakeClock();
    await using app = await startOrders(memory(), count, { clock });
    await order(app);
    clock.advance(86_399_999);

    expect(await see(order(app))).to.include({ isReplayed: true });
    clock.advance(1);
    expect(await see(order(app))).to.include({ isReplayed: false });
  });

  it("logs no key", async () => {
    await using app = await startOrders(memory(), count);
    for (const each of [{}, {}, { article: "coffee" }, { key: "k-canary, x" }])
      await order(app, { key: "k-canary", ...each });
    const lines = app.logs.lines().join();

    expect(lines).to.include("response replayed").and.not.include("canary");
  });

  it("removes the keys that ended first where the store in memory is full", async () => {
    await using app = await startOrders(new MemoryIdempotencyStore({ maxBytes: 2048 }), count);
    for (const key of ["a", "b", "c", "d"]) await order(app, { key });

    expect(await see(order(app, { key: "d" }))).to.include({ isReplayed: true });
    expect(await see(order(app, { key: "a" }))).to.include({ isReplayed: false });
  });

  it("refuses a multipart form, which has another boundary in each attempt", async () => {
    const add = Post("/", { idempotent: true });
    await using app = await testApp(
      Application.create()
        .provide(bind(new Idempotency(memory(), { principal: () => "all" })))
        .routes(new Routes([Route.of(add, count)])),
    );
    const body = new FormData();
    body.append("name", "tea");

    const response = await fetch(`${app.url}/`, { method: "POST", body, headers: { "idempotency-key": "k" } });

    expect(response.status).to.equal(415);
    expect(runs).to.equal(0);
  });
});

const bind = (idempotency: Idempotency) => provide(Idempotency).useValue(idempotency);

const faultsOf = (
  method: (path: "/x", options: EndpointOptions) => Endpoint<"/x">,
  options: EndpointOptions,
  ...stores: readonly Idempotency[]
) => {
  const route = Route.of(method("/x", options), () => "x");
  const builder = Application.create()
    .provide(...stores.map(bind))
    .routes(new Routes([route]));
  return startupErrorOf(() => builder.build()).diagnostics.map(({ code, what }) => `${code} ${what}`);
};

const wrong = (idempotent: unknown) => errorOf(() => Put("/", { idempotent: idempotent as true }));

describe("the start of an application", () => {
  const provided = new Idempotency(memory(), { principal: () => "all" });

  it("needs a store for an idempotent endpoint", () => {
    expect(faultsOf(Post, { idempotent: true })).to.deep.equal([
      "E_IDEMPOTENCY_MISSING the endpoint is idempotent by a key, and no Idempotency is provided",
    ]);
  });

  it("refuses methods that write nothing, forms with files, and responses that are not stored", () => {
    const none = { 204: content.none() };
    const form = content.multipart(z.object({ name: z.string() }), {});

    for (const method of [Get, Head, Options, Query, Any])
      expect(faultsOf(method, { idempotent: true }, provided)).to.deep.equal([
        `E_CONTRACT idempotent of ${method.name.toUpperCase()} /x: a key has no meaning for this method`,
      ]);
    expect(faultsOf(Post, { idempotent: true, body: form, responses: none }, provided).join()).to.include("boundary");
    for (const each of [content.events(z.string()), content.file(), content.redirect()])
      expect(faultsOf(Post, { idempotent: true, responses: { 200: each } }, provided).join()).to.include("not stored");
  });

  it("refuses options without a meaning", () => {
    for (const each of ["yes", false, null, { ttl: 1 }, { ttlMs: 1 }, { ttlMs: 1e12 }, { required: "yes" }])
      expect(wrong(each)).to.have.property("code", "E_OPTION");
    expect(errorOf(() => new Idempotency(memory(), {} as { principal(): string }))).to.have.property(
      "code",
      "E_IDEMPOTENCY_OPTION",
    );
  });
});
