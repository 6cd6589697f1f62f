/** The `error` event of `builder.koa`: the errors that middleware emits, and the events that error trackers get. */
import { Application, NotFoundError, Route, Routes, type Context, type KoaMiddleware } from "@stagecraft/framework";
import { expectLogLine, expectProblem, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";

const shared = new Error("the same object each time");

const routes = new Routes([
  Route.get("/panic", () => Promise.reject(new TypeError("boom"))),
  Route.get("/shared", () => Promise.reject(shared)),
  Route.get("/missing", () => Promise.reject(new NotFoundError("nothing here"))),
  // oxlint-disable-next-line prefer-promise-reject-errors -- hostile on purpose
  Route.get("/text", () => Promise.reject("only text")),
  Route.get("/begun", (ctx) => {
    ctx.res.write("begun");
    throw new TypeError("late");
  }),
]);

/** Like koa-error: it responds and emits the error. */
const answering: KoaMiddleware = async (ctx: Context, next) => {
  try {
    await next();
  } catch (error) {
    ctx.app.emit("error", error, ctx);
    ctx.status = error instanceof NotFoundError ? 404 : 500;
    ctx.body = "answered by middleware";
  }
};

/** Like many error handlers: the application still responds. */
const rethrowing: KoaMiddleware = async (ctx: Context, next) => {
  try {
    await next();
  } catch (error) {
    ctx.app.emit("error", error, ctx);
    throw error;
  }
};

interface Heard {
  readonly error: unknown;
  readonly path: string;
}

interface Options {
  readonly layer?: KoaMiddleware;
  readonly listen?: boolean;
  readonly catchPanic?: boolean;
}

async function served({ layer, listen = false, catchPanic = true }: Options): Promise<[TestApp, Heard[]]> {
  const builder = Application.create().routes(routes);
  if (catchPanic) builder.catchPanic();
  if (layer !== undefined) builder.layer(layer);
  const heard: Heard[] = [];
  if (listen) builder.koa.on("error", (error: unknown, ctx: Context) => heard.push({ error, path: ctx.path }));
  return [await testApp(builder), heard];
}

/** The events of failures: level, message and error. */
function failuresOf({ logs }: TestApp): readonly string[] {
  return logs
    .lines()
    .map(expectLogLine)
    .filter(({ target }) => target.startsWith("framework::http"))
    .map(({ level, message, fields }) => [level, message, fields?.["error"]].filter(Boolean).join(" "));
}

describe("an error that middleware emits", () => {
  it("is logged where it has no listener, and the response of the middleware stays", async () => {
    const [app] = await served({ layer: answering });
    await using _ = app;

    const response = await app.get("/panic");

    expect([response.status, await response.text()]).to.deep.equal([500, "answered by middleware"]);
    expect(failuresOf(app)).to.deep.equal(["ERROR error event TypeError: boom"]);
  });

  it("is not logged as an error where the client is at fault", async () => {
    const [app] = await served({ layer: answering });
    await using _ = app;

    const response = await app.get("/missing");

    expect(response.status).to.equal(404);
    expect(failuresOf(app)).to.deep.equal(["DEBUG request refused"]);
  });

  it("goes to the listener instead of the log", async () => {
    const [app, heard] = await served({ layer: answering, listen: true });
    await using _ = app;

    await app.get("/panic");

    expect(heard.map(({ error, path }) => `${String(error)} ${path}`)).to.deep.equal(["TypeError: boom /panic"]);
    expect(failuresOf(app)).to.deep.equal([]);
  });

  it("may be emitted without a request, and without an error", async () => {
    const [app] = await served({
      layer: (ctx) => {
        ctx.app.emit("error");
        return "fine";
      },
    });
    await using _ = app;

    expect(await (await app.get("/")).text()).to.equal("fine");
    expect(failuresOf(app)).to.deep.equal(["ERROR error event"]);
  });

  for (const listen of [false, true]) {
    it(`is reported once when it is thrown too, ${listen ? "with" : "without"} a listener`, async () => {
      const [app, heard] = await served({ layer: rethrowing, listen });
      await using _ = app;

      const response = await app.get("/panic");

      await expectProblem(response, { status: 500 });
      expect(failuresOf(app)).to.have.lengthOf(1);
      expect(heard).to.have.lengthOf(listen ? 1 : 0);
    });
  }

  it("is logged for every request that fails with the same object", async () => {
    const [app] = await served({ layer: rethrowing });
    await using _ = app;

    await app.get("/shared");
    await app.get("/shared");

    expect(failuresOf(app)).to.have.lengthOf(2);
  });
});

describe("an unhandled error", () => {
  for (const catchPanic of [true, false]) {
    it(`reaches a listener of koa.on("error") once, ${catchPanic ? "with" : "without"} the catchPanic stage`, async () => {
      const [app, heard] = await served({ listen: true, catchPanic });
      await using _ = app;

      await expectProblem(await app.get("/panic"), { status: 500 });
      await app.get("/shared");
      await app.get("/shared");

      expect(heard.map(({ error }) => String(error))).to.deep.equal([
        "TypeError: boom",
        "Error: the same object each time",
        "Error: the same object each time",
      ]);
      expect(failuresOf(app)).to.have.lengthOf(3);
    });
  }

  it("reaches the listener as an Error if the thrown value is not an Error", async () => {
    const [app, heard] = await served({ listen: true });
    await using _ = app;

    await app.get("/text");

    expect(heard[0]?.error).to.be.instanceOf(Error).with.property("cause", "only text");
  });

  it("reaches the listener after the head was sent", async () => {
    const [app, heard] = await served({ listen: true });
    await using _ = app;

    await app.get("/begun").catch(() => undefined);

    expect(heard.map(({ error }) => String(error))).to.deep.equal(["TypeError: late"]);
  });

  it("gets a response and a log line where a listener throws", async () => {
    const builder = Application.create().routes(routes).catchPanic();
    builder.koa.on("error", () => {
      throw new Error("tracker");
    });
    await using app = await testApp(builder);

    await expectProblem(await app.get("/panic"), { status: 500 });

    expect(failuresOf(app)).to.deep.equal([
      "ERROR panic TypeError: boom",
      "ERROR error listener failed Error: tracker",
    ]);
  });

  it("with a status below 500 does not reach the listener", async () => {
    const [app, heard] = await served({ listen: true });
    await using _ = app;

    await app.get("/missing");

    expect(heard).to.deep.equal([]);
  });
});
