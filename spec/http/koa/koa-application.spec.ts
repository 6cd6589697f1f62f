/** The Koa application serves: its list has the stages, its `callback()` makes the listener, its `use` adds a layer. */
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net, { type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import {
  Application,
  Injectable,
  Layer,
  NotFoundError,
  Route,
  Routes,
  STAGES,
  type ApplicationBuilder,
  type Context,
  type KoaMiddleware,
  type Middleware,
  type Next,
  type Run,
} from "@stagecraft/framework";
import { context, expectLogLine, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import * as fc from "fast-check";
import Koa from "koa";
import { EveryStage, GreetingModule } from "../../support/every-stage.js";
import { errorOf } from "../../support/error-of.js";
import { listening } from "../../support/listening.js";
import { startupErrorOf } from "../../support/startup-error-of.js";
import { until } from "../../support/until.js";

const hello = new Routes([
  Route.get("/", () => "hello"),
  Route.get("/missing", () => Promise.reject(new NotFoundError("nothing here"))),
  Route.get("/panic", () => Promise.reject(new TypeError("boom"))),
]);

/** Packages without types pass any value. */
const untyped = (value: unknown): never => value as never;

function ignore(): void {}

const namesOf = ({ middleware }: Koa): readonly string[] => middleware.map(({ name }) => name);

type Listener = (incoming: http.IncomingMessage, response: http.ServerResponse) => unknown;

async function get(listener: Listener, path = "/"): Promise<Response> {
  using server = await listening(http.createServer((incoming, response) => void listener(incoming, response)));
  const response = await fetch(server.url + path, { headers: { Connection: "close" } });
  return new Response(await response.text(), response);
}

/** Stages that need nothing else. */
const SWITCHES: readonly ((builder: ApplicationBuilder) => unknown)[] = [
  (builder) => builder.compression(),
  (builder) => builder.securityHeaders(),
  (builder) => builder.requestId(),
  (builder) => builder.accessLog(),
  (builder) => builder.catchPanic(),
  (builder) => builder.errorMapping(),
  (builder) => builder.bodyLimit(100),
  (builder) => builder.maintenance(),
  (builder) => builder.layer((_ctx, next) => next()),
];

/** Runs the functions one in the other, as koa-compose does. */
function runEach(functions: readonly KoaMiddleware[], ctx: Context): Promise<unknown> {
  const [first, ...rest] = functions;
  return Promise.resolve(first?.(ctx, async () => void (await runEach(rest, ctx))));
}

describe("koa.middleware", () => {
  it("has a function for each stage, in the order of the table, with every stage on", () => {
    const builder = new EveryStage().applyTo(Application.create(GreetingModule));

    builder.build();

    expect(namesOf(builder.koa)).to.deep.equal(STAGES.map(({ slot }) => slot));
  });

  it("has the functions of the stages that are on, and no other", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...SWITCHES]), (switches) => {
        const builder = Application.create();
        for (const each of switches) each(builder);

        const on = builder
          .build()
          .pipeline()
          .filter((row) => row.on);

        expect(namesOf(builder.koa)).to.deep.equal(on.map(({ slot }) => slot));
      }),
      { numRuns: 50 },
    );
  });

  it("is what runs: a function that was removed before the listener is made is a stage that is off", async () => {
    const builder = Application.create().routes(hello).requestId().securityHeaders();
    const application = builder.build();

    builder.koa.middleware = builder.koa.middleware.filter(({ name }) => name !== "requestId");
    const { headers } = await get(application.callback());

    expect([headers.get("x-request-id"), headers.get("x-frame-options")]).to.deep.equal([null, "DENY"]);
  });

  it("runs a function that was added before the listener is made in its place", async () => {
    const builder = Application.create().routes(hello);
    const application = builder.build();

    builder.koa.middleware.unshift(async (ctx, next) => {
      await next();
      ctx.set("X-Seen", String(ctx.status));
    });
    const response = await get(application.callback(), "/missing");

    expect([response.status, response.headers.get("x-seen")]).to.deep.equal([404, "404"]);
  });

  it("may be replaced before build(), and takes the layers that are added later", async () => {
    const builder = Application.create().routes(hello).layer(mark("1"));
    builder.koa.middleware = [mark("0"), ...builder.koa.middleware];
    builder.koa.use(mark("2"));

    const { headers } = await get(builder.layer(mark("3")).build().callback());

    expect(headers.get("x-marks")).to.equal("0, 1, 2, 3");
  });

  it("runs an object of .layer(…) inside a function that was put around it before build()", async () => {
    const builder = Application.create().routes(hello);
    builder.layer({ handle: mark("object") });
    builder.koa.middleware = builder.koa.middleware.map(
      (inner) => (ctx, next) => mark("around")(ctx, () => inner(ctx, next)),
    );

    const response = await get(builder.build().callback());

    expect([response.headers.get("x-marks"), await response.text()]).to.deep.equal(["around, object", "hello"]);
  });

  it("is refused at build() with a member that is not middleware", () => {
    const builder = Application.create();
    builder.koa.middleware.push(untyped(undefined));
    builder.koa.use(untyped(class Plain {}));

    const { diagnostics } = startupErrorOf(() => builder.build());

    expect(diagnostics.map(({ code, what }) => `${code} ${what}`)).to.deep.equal([
      "E_MIDDLEWARE_INVALID undefined is not middleware",
      "E_MIDDLEWARE_INVALID Plain is not middleware",
    ]);
  });

  it("is composed once for all listeners, and once for all requests where other code calls its functions", async () => {
    let wraps = 0;
    class Counting extends Layer {
      override wrap(inner: Run): Run {
        wraps += 1;
        return inner;
      }
    }
    const builder = Application.create().routes(hello).layer(new Counting());
    const application = builder.build();

    await get(application.callback());
    await get(application.callback());
    const afterListeners = wraps;
    builder.koa.middleware = builder.koa.middleware.map((each) => (ctx, next) => each(ctx, next));
    const listener = application.callback();
    await get(listener);
    const response = await get(listener);

    expect(await response.text()).to.equal("hello");
    expect([afterListeners, wraps]).to.deep.equal([1, 2]);
  });

  for (const [path, status, body] of [
    ["/", 200, "hello"],
    ["/missing", 404, undefined],
    ["/nowhere", 404, undefined],
    ["/up/live", 200, '{"state":"booting"}'],
  ] as const) {
    it(`is Koa middleware for code that composes it itself: ${path}`, async () => {
      const builder = Application.create()
        .routes(hello)
        .requestId()
        .bodyLimit(100)
        .layer((_ctx, next) => next());
      builder.build();
      const ctx = context({ url: path });

      await runEach(builder.koa.middleware, ctx);

      expect(ctx.status).to.equal(status);
      if (body !== undefined) expect(ctx.body).to.equal(body);
      expect(ctx.response.get("X-Request-Id")).not.to.equal("");
    });
  }
});

/** Middleware that leaves its name in the response. */
function mark(name: string): KoaMiddleware {
  return (ctx: Context, next) => {
    ctx.append("X-Marks", name);
    return next();
  };
}

/** Koa's documentation calls the two methods private, and its types lack the option. */
class WatchedKoa extends (Koa as new (options: object) => Koa) {
  constructor() {
    super({ compose: composeWatched });
  }

  override createContext(...created: unknown[]): never {
    return untyped({ created });
  }

  handleRequest(...handled: unknown[]): unknown {
    return { handled };
  }
}

function composeWatched(this: unknown, functions: unknown): unknown {
  return { composedOn: this, functions };
}

describe("Koa itself", () => {
  it("calls its option compose on the application, then createContext, and handleRequest with both results", () => {
    const koa = new WatchedKoa();

    const result: unknown = koa.callback()(untyped("the request"), untyped("the response"));

    const ctx = { created: ["the request", "the response"] };
    expect(result).to.deep.equal({ handled: [ctx, { composedOn: koa, functions: koa.middleware }] });
  });
});

describe("koa.use()", () => {
  @Injectable()
  class FromContainer implements Middleware {
    handle(ctx: Context, next: Next): unknown {
      return mark("class")(ctx, next);
    }
  }

  it("adds a layer of stage 21, in one order with .layer(…)", async () => {
    const builder = Application.create().routes(hello);
    builder.layer(mark("1"));
    builder.koa.use(mark("2")).use(mark("3"));
    builder.layer({ handle: mark("object") }, FromContainer, mark("4"));
    builder.koa.use(mark("5"));
    await using app = await testApp(builder);

    const { headers } = await app.get("/");

    expect(headers.get("x-marks")).to.equal("1, 2, 3, object, class, 4, 5");
    expect(app.application.pipeline().find(({ slot }) => slot === "layers")).to.include({ on: true });
  });

  it("takes functions only, as in Koa", () => {
    const { koa } = Application.create();

    expect(() => koa.use(untyped({ handle: mark("object") }))).to.throw(TypeError, "middleware must be a function!");
  });

  it("is refused after build(), with the name of the function", () => {
    const builder = Application.create();
    builder.build();

    const error = errorOf(() =>
      builder.koa.use(async function late(_ctx, next) {
        await next();
      }),
    );

    expect(error).to.include({ code: "E_KOA_USE" });
    expect(error.message).to.include("koa.use(late) was called after build()");
  });

  it("and .layer(…) of the builder change nothing after build()", async () => {
    const builder = Application.create().routes(hello);
    const application = builder.build();

    builder.layer(() => "from the layer");

    expect(await (await get(application.callback())).text()).to.equal("hello");
  });
});

describe("koa.callback()", () => {
  for (const method of ["callback", "listen"] as const) {
    it(`is refused before build(): koa.${method}()`, () => {
      const { koa } = Application.create();

      const error = errorOf(() => koa[method]());

      expect(error).to.include({ code: "E_KOA_SERVE" });
      expect(error.message).to.include("call build() before koa.callback() and koa.listen()");
    });
  }

  it("makes a listener that serves the application", async () => {
    const builder = Application.create().routes(hello).requestId();
    builder.build();

    const response = await get(builder.koa.callback());

    expect([response.status, await response.text()]).to.deep.equal([200, "hello"]);
    expect(response.headers.get("x-request-id")).to.match(/^[\w-]+$/);
  });

  it("serves by koa.listen() too", async () => {
    const builder = Application.create().routes(hello);
    builder.build();
    const server = builder.koa.listen(0, "127.0.0.1");
    await once(server, "listening");
    // A TCP listener's address is an AddressInfo.
    const { port } = server.address() as AddressInfo;

    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: "close" } });
    server.close();

    expect(await response.text()).to.equal("hello");
  });

  it("serves HTTP/2", async () => {
    const builder = Application.create().routes(hello);
    builder.build();
    // Node's types have only the listener of HTTP/1.
    using server = await listening(http2.createServer(builder.koa.callback() as never));
    const session = http2.connect(server.url);

    const body = await text(session.request({ ":path": "/" }));
    session.destroy();

    expect(body).to.equal("hello");
  });

  it("keeps the errors in the log: Koa's listener, which writes them to the console, is not there", async () => {
    const builder = Application.create().routes(hello);
    await using app = await testApp(builder);

    builder.koa.callback();
    await app.get("/panic");

    expect(builder.koa.listenerCount("error")).to.equal(0);
    expect(app.logs.lines().filter((line) => line.includes("TypeError: boom"))).to.have.length(1);
  });

  it("keeps a listener that was there", () => {
    const builder = Application.create();
    const listener = builder.koa.onerror.bind(builder.koa);
    builder.koa.on("error", listener);
    builder.build();

    builder.koa.callback();

    expect(builder.koa.listeners("error")).to.deep.equal([listener]);
  });

  it("keeps a listener that a tracer adds in its own callback() of Koa", () => {
    const callback = Reflect.get(Koa.prototype, "callback");
    Koa.prototype.callback = function (this: Koa) {
      const made = callback.call(this);
      this.on("error", ignore);
      return made;
    };
    const builder = Application.create();
    builder.build();

    try {
      builder.koa.callback();
    } finally {
      Koa.prototype.callback = callback;
    }

    expect(builder.koa.listeners("error")).to.deep.equal([ignore]);
  });

  it("gives a context to a socket without a request in flight", async () => {
    const builder = Application.create().routes(hello);
    const seen: string[] = [];
    builder.attach((server) => {
      server.on("upgrade", (incoming, socket) => {
        // koa-websocket calls it like this.
        const ctx = builder.koa.createContext(incoming, untyped(undefined));
        seen.push(`${ctx.path} ${String(ctx.query["a"])} ${ctx.get("Host")} ${ctx.ip}`);
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      });
    });
    await using app = await testApp(builder);

    const socket = net.connect(Number(new URL(app.url).port), "127.0.0.1");
    socket.write("GET /chat?a=1 HTTP/1.1\r\nHost: shop\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    await once(socket, "data");
    const stopped = app.stop();
    const draining = (): string | undefined => app.logs.lines().find((line) => line.includes('"draining"'));
    await until(() => draining() !== undefined);
    socket.destroy();
    await stopped;

    expect(seen).to.deep.equal(["/chat 1 shop 127.0.0.1"]);
    expect(expectLogLine(draining() ?? "").fields).to.deep.equal({ in_flight: 0 });
  });
});

describe("build()", () => {
  it("is refused the second time, because one Koa application serves one application", () => {
    const builder = Application.create();
    builder.build();

    expect(startupErrorOf(() => builder.build()).diagnostics).to.deep.include({
      code: "E_BUILT_TWICE",
      what: "build() was called twice",
      where: "the application's builder",
      fix: "create another builder: its Koa application serves one application",
    });
  });

  it("may be called again after it has failed", () => {
    const builder = Application.create().bind("");

    expect(() => builder.build()).to.throw("E_BIND");
    builder.bind("127.0.0.1").build();
  });
});

describe("koa.listen, replaced by a package for sockets", () => {
  for (const isAttached of [false, true]) {
    it(`causes ${isAttached ? "no" : "a"} warning at the start ${isAttached ? "with" : "without"} .attach(…)`, async () => {
      const builder = Application.create().routes(hello);
      builder.koa.listen = () => new http.Server();
      if (isAttached) builder.attach(() => {});
      await using app = await testApp(builder);

      expect(app.logs.transcript().includes("koa.listen was replaced")).to.equal(!isAttached);
    });
  }
});
