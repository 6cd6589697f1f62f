/** Events that a handler emits when its request has ended: after a timeout, after its client has left, after its response. */
import {
  Application,
  type Context,
  event,
  Events,
  Injectable,
  Module,
  On,
  provide,
  Route,
  Routes,
} from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../support/gate.js";
import { until } from "../support/until.js";

const LIMIT_MS = 50;

const warmed = event("cache.warmed");

class AnyDatabase extends Database<object> {}

@Injectable()
class Listener {
  heard = 0;

  @On(warmed, { afterResponse: true })
  hear(): void {
    this.heard++;
  }
}

describe("an event after the end of its request", () => {
  let app: TestApp;
  /** The handler emits when it opens. */
  let over: Gate;
  let began: Gate;
  /** The connection is closed, or the response is sent. */
  let closed: boolean;
  let emitted: Gate;

  beforeEach(async () => {
    closed = false;
    [over, began, emitted] = [new Gate(), new Gate(), new Gate()];
    const emits = async (ctx: Context) => {
      ctx.res.once("close", () => (closed = true));
      began.open();
      await over.passed;
      await app.resolve(Events).emit(warmed);
      emitted.open();
    };
    const beside = (ctx: Context) => void emits(ctx);

    // Without a subsystem that follows requests, no code has the scope of its request.
    @Module({ providers: [Listener, provide(AnyDatabase).useFactory(() => new AnyDatabase(sqlite(":memory:")))] })
    class Shop {}
    app = await testApp(
      Application.create(Shop)
        .routes(new Routes([Route.get("/waits", emits), Route.get("/beside", beside)]))
        .errorMapping()
        .timeout(LIMIT_MS),
    );
  });

  async function reachesItsListener(): Promise<void> {
    over.open();
    await emitted.passed;
    const listener = app.resolve(Listener);
    await app.stop();

    expect(listener.heard).to.equal(1);
    expect(app.logs.lines().join()).to.not.include("listeners did not end");
  }

  it("reaches a listener after the response where the request has timed out", async () => {
    expect((await app.get("/waits")).status).to.equal(408);
    await until(() => closed);

    await reachesItsListener();
  });

  it("reaches a listener after the response where the client has left", async () => {
    const leaving = new AbortController();
    const left = fetch(`${app.url}/waits`, { signal: leaving.signal }).catch(() => undefined);
    await began.passed;
    leaving.abort();
    await left;
    await until(() => closed);

    await reachesItsListener();
  });

  it("reaches a listener after the response where the handler continues after it has responded", async () => {
    expect((await app.get("/beside")).status).to.equal(204);
    await until(() => closed);

    await reachesItsListener();
  });
});
