/** The failures that the listeners of `builder.koa.on("error")` get, as error trackers add them: each once. */
import { Readable } from "node:stream";
import { expect } from "chai";
import {
  Application,
  Clock,
  ErrorMapping,
  NotFoundError,
  provide,
  redirect,
  Route,
  Routes,
  UnavailableError,
  type ApplicationBuilder,
  type Context,
} from "@stagecraft/framework";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { Gate } from "../../support/gate.js";
import { until } from "../../support/until.js";

/** A stream that fails when it is read. */
function failing(): Readable {
  return new Readable({
    read() {
      this.push("begun");
      setImmediate(() => this.destroy(new TypeError("in the stream")));
    },
  });
}

async function* slowly(): AsyncGenerator<string> {
  yield "begun";
  await new Promise((resolve) => setImmediate(resolve));
  throw new TypeError("in the iterable");
}

const routes = new Routes([
  Route.get("/iterable", () => slowly()),
  Route.get("/stream", failing),
  Route.get("/short", (ctx) => {
    ctx.set("Content-Length", "9");
    return Readable.from(["only"]);
  }),
  Route.get("/down", () => Promise.reject(new UnavailableError("not now"))),
  Route.get("/upstream", (ctx) => ctx.throw(502, "upstream")),
  Route.get("/lost", () => redirect().route("no.such.route")),
  Route.get("/mapped", (ctx) => ctx.throw(418, "teapot")),
  Route.get("/conflict", (ctx) => ctx.throw(409)),
]);

interface ReportedError {
  readonly error: unknown;
  readonly path: string;
}

function withListener(builder: ApplicationBuilder, errors: ReportedError[]): ApplicationBuilder {
  builder.koa.on("error", (error: unknown, { path }: Context) => errors.push({ error, path }));
  return builder;
}

/** An error mapper that fails. */
function failingMapper(error: unknown): undefined {
  if (String(error).includes("teapot")) throw new TypeError("in the mapper");
}

describe('a listener of koa.on("error")', () => {
  const rows: readonly (readonly [what: string, path: string, error: string])[] = [
    ["an iterable that fails after the head", "/iterable", "TypeError: in the iterable"],
    ["a stream that fails after the head", "/stream", "TypeError: in the stream"],
    ["a body that is shorter than its length", "/short", "FrameworkError: "],
    ["an error with status 503", "/down", "UnavailableError: not now"],
    ["an error of ctx.throw with status 502", "/upstream", "BadGatewayError: upstream"],
    ["a redirect to no route", "/lost", "FrameworkError: "],
    ["an error mapper that fails", "/mapped", "TypeError: in the mapper"],
  ];
  for (const [what, path, error] of rows) {
    it(`gets one error for ${what}`, async () => {
      const errors: ReportedError[] = [];
      const mapping = new ErrorMapping().using(failingMapper);
      const builder = Application.create().routes(routes).catchPanic().errorMapping(mapping);
      await using app = await testApp(withListener(builder, errors));

      await (await app.get(path).catch(() => undefined))?.text().catch(() => undefined);
      await until(() => errors.length > 0);
      await app.stop();

      expect(errors.map((each) => [each.path, String(each.error).slice(0, error.length)])).to.deep.equal([
        [path, error],
      ]);
    });
  }

  it("gets the timeout and an unhandled error after it, and no refusal after it", async () => {
    const errors: ReportedError[] = [];
    const clock = new FakeClock();
    const gate = new Gate();
    let waiting = 0;
    const late = (error: Error) => async (): Promise<void> => {
      waiting++;
      await gate.passed;
      throw error;
    };
    const slow = new Routes([
      Route.get("/refusal", late(new NotFoundError("too late"))),
      Route.get("/late", late(new TypeError("too late"))),
    ]);
    const builder = Application.create().routes(slow).timeout(1000).provide(provide(Clock).useValue(clock));
    await using app = await testApp(withListener(builder, errors));

    const responses = [app.get("/refusal"), app.get("/late")];
    await until(() => waiting === 2);
    clock.advance(1000);
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    gate.open();
    await until(() => errors.length > 2);

    expect(statuses).to.deep.equal([408, 408]);
    expect(errors.map(({ error, path }) => `${path} ${String(error)}`)).to.deep.equal([
      "/refusal DeadlineError: The request took too long.",
      "/late DeadlineError: The request took too long.",
      "/late TypeError: too late",
    ]);
  });
});

describe('a listener of koa.on("error")', () => {
  it("gets no error with a status below 500", async () => {
    const errors: ReportedError[] = [];
    await using app = await testApp(withListener(Application.create().routes(routes), errors));

    await app.get("/conflict");
    await app.get("/nowhere");

    expect(errors).to.deep.equal([]);
  });
});
