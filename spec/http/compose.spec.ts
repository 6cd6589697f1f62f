/**
 * A middleware that ends before its `next()` does, on purpose or because an `await` is missing. Each case runs over a socket, in each place
 * of a middleware.
 */
import {
  Application,
  type Context,
  type KoaMiddleware,
  Layer,
  type Next,
  NotFoundError,
  Route,
  RouteGroup,
  Routes,
  type Run,
  TimeoutLayer,
} from "@stagecraft/framework";
import { type TestApp, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { MiddlewareInput } from "../../lib/routing/middleware.js";
import { Gate } from "../support/gate.js";
import { until } from "../support/until.js";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function turns(): Promise<void> {
  for (let each = 0; each < 5; each++) await turn();
}

/** Starts the rest of the chain and ends before it. */
function forgetful(_ctx: Context, next: Next): void {
  void next();
}

async function forgetfulAsync(_ctx: Context, next: Next): Promise<void> {
  void next();
}

/** Ends after the rest of the chain has ended. */
async function forgetfulAndSlow(_ctx: Context, next: Next): Promise<void> {
  void next();
  await turns();
}

class Forgetful {
  handle(_ctx: Context, next: Next): void {
    void next();
  }
}

/** Forgets the promise of its inner run. */
class ForgetfulLayer extends Layer {
  override wrap(inner: Run): Run {
    return (ctx) => {
      void inner(ctx);
    };
  }
}

class ForgetfulAsyncLayer extends Layer {
  override wrap(inner: Run): Run {
    return async (ctx) => {
      await turn();
      void inner(ctx);
    };
  }
}

const NAMED: readonly (readonly [title: string, name: string, middleware: MiddlewareInput])[] = [
  ["a function", "forgetful", forgetful],
  ["an asynchronous function", "forgetfulAsync", forgetfulAsync],
  ["a class", "Forgetful", Forgetful],
  ["an instance", "Forgetful", new Forgetful()],
  ["a layer of its own", "ForgetfulLayer", new ForgetfulLayer()],
  ["an asynchronous layer of its own", "ForgetfulAsyncLayer", new ForgetfulAsyncLayer()],
];

type Handler = (ctx: Context) => unknown;

const PLACES: Readonly<Record<string, (middleware: MiddlewareInput, handler: Handler) => Promise<TestApp>>> = {
  "a layer": (middleware, handler) => startApp(new Routes([Route.get("/", handler)]), middleware),
  "the middleware of a route": (middleware, handler) =>
    startApp(new Routes([Route.get("/", handler).middleware(middleware)])),
  "the middleware of a group": (middleware, handler) =>
    startApp(new Routes([new RouteGroup("/", [Route.get("/", handler)]).middleware(middleware)])),
  "the middleware of a collection": (middleware, handler) =>
    startApp(new Routes([Route.get("/", handler)]).middleware(middleware)),
};

function startApp(routes: Routes, ...layers: readonly MiddlewareInput[]): Promise<TestApp> {
  const builder = Application.create().routes(routes).catchPanic();
  for (const layer of layers) builder.layer(layer);
  return testApp(builder);
}

function layered(middleware: MiddlewareInput, handler: Handler): Promise<TestApp> {
  return startApp(new Routes([Route.get("/", handler)]), middleware);
}

/** Level, message and middleware of the events above INFO, in order. */
function getReports(app: TestApp): string[] {
  return app.logs
    .lines()
    .map((line) => JSON.parse(line) as { level: string; message: string; fields: { middleware?: string } })
    .filter(({ level }) => level === "WARN" || level === "ERROR")
    .map(({ level, message, fields }) => [level, message, fields.middleware ?? ""].join(" ").trimEnd());
}

const panic = (): never => {
  throw new Error("boom");
};
const laterPanic = async (): Promise<never> => turns().then(panic);

describe("a middleware that ends before its next()", () => {
  for (const [place, of] of Object.entries(PLACES)) {
    for (const [title, name, middleware] of NAMED) {
      it(`makes the chain wait, as ${place}: ${title}`, async () => {
        await using app = await of(middleware, async () => turns().then(() => "responded"));

        const response = await app.get("/");

        expect([response.status, await response.text()]).to.deep.equal([200, "responded"]);
        expect(getReports(app)).to.deep.equal([`WARN next() was not awaited ${name}`]);
      });

      it(`loses no unhandled error, as ${place}: ${title}`, async () => {
        await using app = await of(middleware, laterPanic);

        const response = await app.get("/");

        expect(response.status).to.equal(500);
        expect(getReports(app)).to.deep.equal([`WARN next() was not awaited ${name}`, "ERROR panic"]);
      });
    }
  }

  for (const [title, handler] of [
    ["at once", panic],
    ["in an asynchronous handler", async () => panic()],
  ] as const) {
    for (const middleware of [forgetful, forgetfulAsync, forgetfulAndSlow]) {
      it(`loses no unhandled error that is thrown ${title}: ${middleware.name}`, async () => {
        await using app = await layered(middleware, handler);

        const response = await app.get("/");

        expect(response.status).to.equal(500);
        expect(getReports(app)).to.deep.equal([`WARN next() was not awaited ${middleware.name}`, "ERROR panic"]);
      });
    }
  }

  it("loses no error with a status of the rest", async () => {
    await using app = await layered(forgetfulAndSlow, () => Promise.reject(new NotFoundError("no such thing")));

    const response = await app.get("/");

    expect(await response.json()).to.include({ status: 404, detail: "no such thing" });
    expect(getReports(app)).to.deep.equal(["WARN next() was not awaited forgetfulAndSlow"]);
  });

  it("is not reported as unawaited if the rest is synchronous", async () => {
    await using app = await layered(forgetful, () => "responded");

    expect(await (await app.get("/")).text()).to.equal("responded");
    expect(getReports(app)).to.deep.equal([]);
  });

  it("is reported once as unawaited if an outer middleware waits", async () => {
    const routes = new Routes([Route.get("/", laterPanic)]);
    await using app = await startApp(routes, (_ctx: Context, next: Next) => next(), forgetful);

    expect((await app.get("/")).status).to.equal(500);
    expect(getReports(app)).to.deep.equal(["WARN next() was not awaited forgetful", "ERROR panic"]);
  });
});

/** The ways in which a middleware waits for the rest. */
const WAITING: Readonly<Record<string, KoaMiddleware>> = {
  "returns it": (_ctx, next) => next(),
  "awaits it": async (_ctx, next) => {
    await next();
  },
  "returns it from an asynchronous function": async (_ctx, next) => next(),
  "chains to it": (_ctx, next) => next().then(() => undefined),
  "finishes it": (_ctx, next) => next().finally(() => {}),
  "awaits it together with others": async (_ctx, next) => {
    await Promise.all([next(), turn()]);
  },
  "keeps it and awaits it later": async (_ctx, next) => {
    const rest = next();
    await turns();
    await rest;
  },
  "returns it through another thenable": (_ctx, next) => ({
    // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
    then: (done: () => void, failed: (error: unknown) => void) => void next().then(done, failed),
  }),
};

describe("a middleware that waits for its next()", () => {
  for (const [title, middleware] of Object.entries(WAITING)) {
    for (const [when, handler] of [
      ["at once", () => "responded"],
      ["later", async () => turns().then(() => "responded")],
    ] as const) {
      it(`is not reported: it ${title}, and the rest ends ${when}`, async () => {
        await using app = await layered(middleware, handler);

        expect(await (await app.get("/")).text()).to.equal("responded");
        expect(getReports(app)).to.deep.equal([]);
      });
    }

    for (const [when, handler] of [
      ["at once", panic],
      ["later", laterPanic],
    ] as const) {
      it(`passes an unhandled error once: it ${title}, and the rest fails ${when}`, async () => {
        await using app = await layered(middleware, handler);

        expect((await app.get("/")).status).to.equal(500);
        expect(getReports(app)).to.deep.equal(["ERROR panic"]);
      });
    }
  }

  it("may catch a failure of the rest", async () => {
    await using app = await layered(async (_ctx: Context, next: Next) => next().catch(() => {}), laterPanic);

    expect((await app.get("/")).status).to.equal(404);
    expect(getReports(app)).to.deep.equal([]);
  });

  it("gets a promise, from which `then` makes plain promises", async () => {
    const seen: unknown[] = [];
    await using app = await layered(
      async (_ctx: Context, next: Next) => {
        const rest = next();
        seen.push(rest instanceof Promise, Object.getPrototypeOf(rest.then()) === Promise.prototype);
        await rest;
      },
      () => "responded",
    );

    await app.get("/");

    expect(seen).to.deep.equal([true, true]);
  });
});

/** Responds in place of a rest that takes too long. */
const racing: (isTooLate: Promise<void>) => KoaMiddleware = (isTooLate) =>
  async function hurried(ctx: Context, next) {
    const isMissed = await Promise.race([next(), isTooLate.then(() => true)]);
    if (isMissed === true) ctx.status = 503;
  };

const RESPONDING: readonly (readonly [title: string, of: (isTooLate: Promise<void>) => KoaMiddleware])[] = [
  ["after a race that it lost", racing],
  [
    "without waiting",
    () => (_ctx, next) => {
      void next();
      return new Response(null, { status: 503 });
    },
  ],
];

const responding = async (ctx: Context, next: Next): Promise<void> => {
  void next();
  await turns();
  ctx.body = "responded";
};

const failing = (_ctx: Context, next: Next): never => {
  void next();
  throw new NotFoundError();
};

async function patient(_ctx: Context, next: Next): Promise<void> {
  await Promise.race([next(), turn()]);
}

describe("a middleware that has responded before its next() ends", () => {
  for (const [title, of] of RESPONDING) {
    const ends: readonly (readonly [title: string, work: Handler, reports: readonly string[]])[] = [
      ["is followed by no event if the rest returns late", () => "late", []],
      ["is followed by an error event if the rest throws late", panic, ["ERROR late failure"]],
      [
        "is followed by a warning if the rest fails late with a status",
        () => Promise.reject(new NotFoundError()),
        ["WARN late failure"],
      ],
    ];
    for (const [what, work, reports] of ends) {
      it(`${what}: ${title}`, async () => {
        const [tooLate, goOn, done] = [new Gate(), new Gate(), new Gate()];
        const handler = async (ctx: Context): Promise<unknown> => {
          await goOn.passed;
          setImmediate(() => done.open());
          return work(ctx);
        };
        await using app = await layered(of(tooLate.passed), handler);

        tooLate.open();
        const response = await app.get("/");
        goOn.open();
        await done.passed;
        await until(() => getReports(app).length === reports.length);

        expect(response.status).to.equal(503);
        expect(getReports(app)).to.deep.equal(reports);
      });
    }
  }

  it("does not hide an unhandled error that was thrown before its response", async () => {
    await using app = await layered(responding, panic);

    expect(await (await app.get("/")).text()).to.equal("responded");
    expect(getReports(app)).to.deep.equal(["ERROR late failure"]);
  });

  it("does not hide a late unhandled error if it failed itself", async () => {
    await using app = await layered(failing, laterPanic);

    expect((await app.get("/")).status).to.equal(404);
    await until(() => getReports(app).length > 0);
    expect(getReports(app)).to.deep.equal(["ERROR late failure"]);
  });

  it("makes the chain wait if it lost the race and has no response", async () => {
    await using app = await layered(patient, async () => turns().then(() => "responded"));

    expect(await (await app.get("/")).text()).to.equal("responded");
    expect(getReports(app)).to.deep.equal(["WARN next() was not awaited patient"]);
  });
});

/** A layer that runs `call` for each request. */
class OwnLayer extends Layer {
  constructor(private readonly call: (ctx: Context, inner: Run) => void | Promise<void>) {
    super();
  }

  override wrap(inner: Run): Run {
    return (ctx) => this.call(ctx, inner);
  }
}

const WAITING_LAYERS: Readonly<Record<string, OwnLayer>> = {
  "returns it": new OwnLayer((ctx, inner) => inner(ctx)),
  "awaits it": new OwnLayer(async (ctx, inner) => {
    await inner(ctx);
  }),
  "chains to it": new OwnLayer((ctx, inner) => inner(ctx)?.then(() => undefined)),
  "keeps it and awaits it later": new OwnLayer(async (ctx, inner) => {
    const rest = inner(ctx);
    await turns();
    await rest;
  }),
};

describe("a layer of the application that waits for its inner run", () => {
  for (const [title, layer] of Object.entries(WAITING_LAYERS)) {
    it(`is not reported: it ${title}`, async () => {
      await using app = await layered(layer, async () => turns().then(() => "responded"));

      expect(await (await app.get("/")).text()).to.equal("responded");
      expect(getReports(app)).to.deep.equal([]);
    });

    for (const [when, handler] of [
      ["at once", panic],
      ["later", laterPanic],
    ] as const) {
      it(`passes an unhandled error once: it ${title}, and the inner run fails ${when}`, async () => {
        await using app = await layered(layer, handler);

        expect((await app.get("/")).status).to.equal(500);
        expect(getReports(app)).to.deep.equal(["ERROR panic"]);
      });
    }
  }

  it("may catch a failure of its inner run, also a synchronous one", async () => {
    const catching = new OwnLayer((ctx, inner) => {
      try {
        return inner(ctx);
      } catch {
        ctx.body = "caught";
        return undefined;
      }
    });
    const routes = new Routes([Route.get("/", () => "not reached")]);
    await using app = await startApp(routes, catching, new OwnLayer(panic));

    expect(await (await app.get("/")).text()).to.equal("caught");
    expect(getReports(app)).to.deep.equal([]);
  });
});

describe("a layer of the application that ends before its inner run", () => {
  it("does not hide a late unhandled error if it failed itself", async () => {
    const failingLayer = new OwnLayer((ctx, inner) => {
      void inner(ctx);
      throw new NotFoundError();
    });
    await using app = await layered(failingLayer, laterPanic);

    expect((await app.get("/")).status).to.equal(404);
    await until(() => getReports(app).length > 0);
    expect(getReports(app)).to.deep.equal(["ERROR late failure"]);
  });

  it("is followed by an error event if it has responded, and the inner run fails late", async () => {
    const goOn = new Gate();
    const respondingLayer = new OwnLayer((ctx, inner) => {
      void inner(ctx);
      ctx.status = 503;
    });
    await using app = await layered(respondingLayer, async () => goOn.passed.then(panic));

    expect((await app.get("/")).status).to.equal(503);
    goOn.open();
    await until(() => getReports(app).length > 0);
    expect(getReports(app)).to.deep.equal(["ERROR late failure"]);
  });

  it("is followed by an error event if it starts its inner run later, and that fails at once", async () => {
    const lateLayer = new OwnLayer((ctx, inner) => {
      ctx.status = 503;
      setImmediate(() => void inner(ctx));
    });
    await using app = await layered(lateLayer, panic);

    expect((await app.get("/")).status).to.equal(503);
    await until(() => getReports(app).length > 0);
    expect(getReports(app)).to.deep.equal(["ERROR late failure"]);
  });

  it("is refused a second inner run", async () => {
    const twice = new OwnLayer(async (ctx, inner) => {
      await inner(ctx);
      await inner(ctx);
    });
    await using app = await layered(twice, async () => turns());

    expect((await app.get("/")).status).to.equal(500);
    expect(getReports(app)).to.deep.equal(["ERROR panic"]);
  });
});

describe("a stage's layer on a route", () => {
  it("reports a late failure once", async () => {
    const goOn = new Gate();
    const route = Route.get("/", async () => goOn.passed.then(panic)).middleware(new TimeoutLayer(1));
    await using app = await startApp(new Routes([route]));

    expect((await app.get("/")).status).to.equal(408);
    goOn.open();
    await until(() => getReports(app).length > 0);
    await turns();
    expect(getReports(app)).to.have.lengthOf(1);
  });
});
