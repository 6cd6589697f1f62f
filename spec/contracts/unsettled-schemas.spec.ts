/** Schemas whose promise never settles: the timeout, a client that leaves and the drain end the request, and nothing of it stays. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { Application, Clock, Get, Post, provide, Route, Routes, type Schema } from "@stagecraft/framework";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { until } from "../support/until.js";

/** The values that a schema was given. */
class Waiting {
  count = 0;
  private readonly values: WeakRef<object>[] = [];
  readonly schema: Schema<unknown, object> = {
    "~standard": {
      version: 1,
      vendor: "spec",
      validate: (value) => {
        this.count += 1;
        this.values.push(new WeakRef(Object(value) as object));
        return new Promise(() => {});
      },
    },
  };

  get kept(): number {
    return this.values.filter((value) => value.deref() !== undefined).length;
  }
}

type Place = (schema: Schema<unknown, object>) => Route;

const PLACES: Readonly<Record<string, Place>> = {
  "the body": (body) => Route.of(Post("/x", { body }), () => "handled"),
  "the query": (query) => Route.of(Post("/x", { query }), () => "handled"),
  "the headers": (headers) => Route.of(Post("/x", { headers }), () => "handled"),
  "the body beside a query": (schema) => Route.of(Post("/x", { body: schema, query: schema }), () => "handled"),
  "the response": (schema) => Route.of(Post("/x", { responses: { 200: schema } }), () => ({ id: 1 })),
};

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  await new Promise((resolve) => setImmediate(resolve));
}

function send(app: TestApp, signal?: AbortSignal): Promise<Response> {
  // Some versions of Node hold the last request of a connection until the next one.
  const headers = { connection: "close" };
  return app.post("/x?name=a", { json: { name: "a" }, headers, ...(signal && { signal }) });
}

describe("a schema that never settles", () => {
  for (const [what, place] of Object.entries(PLACES)) {
    it(`of ${what} is ended by the timeout, with its status`, async () => {
      const clock = new FakeClock();
      const waiting = new Waiting();
      const routes = new Routes([place(waiting.schema)]);
      const builder = Application.create().provide(provide(Clock).useValue(clock)).accessLog().routes(routes);
      await using app = await testApp(builder.timeout(1000, { status: 503 }));

      const responding = send(app);
      await until(() => waiting.count === (what.includes("beside") ? 2 : 1));
      clock.advance(1000);

      expect((await responding).status).to.equal(503);
      await until(async () => (await collectGarbage(), waiting.kept === 0));
    });

    it(`of ${what} is left by a client that leaves`, async () => {
      const waiting = new Waiting();
      const routes = new Routes([place(waiting.schema)]);
      await using app = await testApp(Application.create().accessLog().routes(routes));
      const leaving = new AbortController();

      const failure = send(app, leaving.signal).catch((error: unknown) => error);
      await until(() => waiting.count >= 1);
      leaving.abort();

      expect(await failure).to.be.an("error");
      await until(() => app.logs.lines().some((line) => line.includes('"status":499')));
      await until(async () => (await collectGarbage(), waiting.kept === 0));
    });
  }

  it("does not hold a drain after its deadline", async () => {
    const clock = new FakeClock();
    const waiting = new Waiting();
    const application = Application.create()
      .port(0)
      .lifecycle({ drainDelayMs: 0, drainDeadlineMs: 10_000 })
      .provide(provide(Clock).useValue(clock))
      .routes(new Routes([Route.of(Get("/x", { query: waiting.schema }), () => "handled")]))
      .build();
    const running = await application.start();
    const response = fetch(`${running.url}/x`).then(
      ({ status }) => status,
      () => "cut",
    );
    await until(() => waiting.count === 1);

    let hasStopped = false;
    void running.stop().then(() => (hasStopped = true));
    await until(async () => (await clock.advanceAsync(1000), hasStopped));

    expect(await response).to.equal("cut");
    expect(clock.monotonic()).to.be.at.least(10_000).and.below(60_000);
  });
});
