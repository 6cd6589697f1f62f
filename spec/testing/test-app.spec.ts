import { AssertionError } from "node:assert";
import { once } from "node:events";
import net from "node:net";
import { expect } from "chai";
import {
  Application,
  Clock,
  Controller,
  Get,
  Injectable,
  Module,
  provide,
  Route,
  Routes,
  StartupError,
  Subsystem,
  token,
  type Context,
} from "../../lib/entries/main.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { Gate } from "../support/gate.js";
import { rejectionOf } from "../support/rejection-of.js";

const log = tracing.target("shop::greetings");

abstract class Greetings {
  abstract for(name: string): string;
}

@Injectable()
class PlainGreetings extends Greetings {
  for(name: string): string {
    return `hello ${name}`;
  }
}

@Controller("/")
class GreetingController {
  constructor(private readonly greetings: Greetings) {}

  @Get("/greetings/{name}")
  async show({ params }: Context<"name">) {
    log.info("asked");
    await new Promise((resolve) => setImmediate(resolve));
    log.info("found", { name: params.name });
    return this.greetings.for(params.name);
  }
}

@Module({ controllers: [GreetingController], providers: [provide(Greetings).useClass(PlainGreetings)] })
class GreetingModule {}

const serving = (...routes: readonly Route[]) => Application.create().routes(new Routes(routes));
const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
const hanging = () => new Promise<never>(() => {});

function events(app: TestApp): unknown[] {
  return app.logs.lines().map((line) => (JSON.parse(line) as { message?: unknown }).message);
}

describe("testApp", () => {
  it("serves a module on a socket of 127.0.0.1", async () => {
    await using app = await testApp(GreetingModule);

    const response = await app.get("/greetings/ada");

    expect(await response.text()).to.equal("hello ada");
    expect(app.url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${app.url}/greetings/ada`)).status).to.equal(200);
  });

  it("serves the application of a builder", async () => {
    await using app = await testApp(serving(Route.get("/", () => "built")));

    const response = await app.get("/");

    expect(await response.text()).to.equal("built");
  });

  it("replaces providers with doubles", async () => {
    await using app = await testApp(
      GreetingModule,
      provide(Greetings).useValue({ for: (name) => `double of ${name}` }),
    );

    const response = await app.get("/greetings/ada");

    expect(await response.text()).to.equal("double of ada");
    expect(app.resolve(Greetings).for("x")).to.equal("double of x");
  });

  it("refuses a double that no class injects", async () => {
    const Unused = token<string>("unused");

    const error = await rejectionOf(testApp(GreetingModule, provide(Unused).useValue("x")));

    expect(error).to.be.instanceOf(StartupError);
    expect(error.message).to.include("unused");
  });

  it("captures the log of handlers, before and after an await, and keeps it from other subscribers", async () => {
    const outside: string[] = [];
    const watcher = { onEvent: ({ message }: { message: string | undefined }) => void outside.push(String(message)) };

    const seen = await tracing.withSubscriber(tracing.registry().with(watcher), async () => {
      await using app = await testApp(GreetingModule);
      await app.get("/greetings/ada");
      return events(app);
    });

    expect(seen).to.include.members(["asked", "found"]);
    expect(outside).to.deep.equal([]);
  });

  it("keeps the logs of two applications apart", async () => {
    await using one = await testApp(GreetingModule);
    await using two = await testApp(GreetingModule);

    await one.get("/greetings/ada");

    expect(events(one)).to.include("found");
    expect(events(two)).not.to.include("found");
  });

  it("stamps the log lines by a fake clock, those of the start included", async () => {
    const clock = new FakeClock(Date.UTC(2030, 1, 2, 3, 4, 5));
    const builder = serving(Route.get("/", () => log.info("asked"))).accessLog();
    await using app = await testApp(builder, provide(Clock).useValue(clock));
    await app.get("/");
    clock.advance(1500);
    await app.get("/");

    const stamps = app.logs.lines().map((line) => (JSON.parse(line) as { timestamp: string }).timestamp);

    expect([...new Set(stamps)]).to.deep.equal(["2030-02-02T03:04:05.000Z", "2030-02-02T03:04:06.500Z"]);
  });

  it("starts and stops subsystems, and captures their log", async () => {
    const journal: string[] = [];
    @Injectable()
    class Store extends Subsystem {
      readonly kind = "database";
      start() {
        log.info("store starts");
        journal.push("start");
      }
      stop() {
        journal.push("stop");
      }
    }
    @Module({ providers: [Store] })
    class StoreModule {}

    const app = await testApp(StoreModule);
    const ready = await app.get("/up/ready");
    await app.stop();

    expect(ready.status).to.equal(200);
    expect(journal).to.deep.equal(["start", "stop"]);
    expect(events(app)).to.include("store starts");
  });

  it("adds no listener to the process", async () => {
    const before = process.eventNames().map((name) => [name, process.listenerCount(name)]);

    await using app = await testApp(GreetingModule);

    expect(process.eventNames().map((name) => [name, process.listenerCount(name)])).to.deep.equal(before);
    expect(app.url).not.to.equal("");
  });
});

describe("app.stop", () => {
  it("refuses later connections, and may be called twice", async () => {
    const app = await testApp(GreetingModule);
    await app.get("/greetings/ada");

    await Promise.all([app.stop(), app.stop()]);

    const error = await rejectionOf(app.get("/greetings/ada"));
    expect(error).to.have.property("code", "ECONNREFUSED");
  });

  it("lets a request in flight finish", async () => {
    const [asked, reply] = [new Gate(), new Gate<string>()];
    const builder = serving(
      Route.get("/", () => {
        asked.open();
        return reply.passed;
      }),
    );
    const app = await testApp(builder);
    const response = app.get("/");
    await asked.passed;

    const stopping = app.stop();
    reply.open("late");

    expect(await (await response).text()).to.equal("late");
    await stopping;
  });

  it("does not wait for a response that the test has not read", async () => {
    const clock = new FakeClock();
    const app = await testApp(serving(Route.get("/", endless)), provide(Clock).useValue(clock));
    const response = await app.get("/");

    await app.stop();

    expect(response.status).to.equal(200);
    // The deadline is two seconds of this clock.
    expect(clock.monotonic()).to.be.lessThan(1500);
  });

  it("fails naming the request that it cut, without a wait if the test advances a fake clock", async () => {
    const clock = new FakeClock();
    const builder = serving(Route.get("/slow", hanging)).provide(provide(Clock).useValue(clock));
    const app = await testApp(builder);
    const response = rejectionOf(app.get("/slow?page=2"));
    await app.get("/up");

    const stopping = rejectionOf(app.stop());
    await clock.advanceAsync(4000);
    const error = await stopping;

    expect(error).to.be.instanceOf(AssertionError);
    expect(error.message).to.include("GET /slow?page=2");
    expect(await response).to.have.property("code", "ECONNRESET");
  });

  it("ends also with a fake clock that the test does not advance", async () => {
    const signals: unknown[] = [];
    const untilAborted = ({ signal }: Context) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          signals.push(signal.reason);
          reject(signal.reason as Error);
        });
      });
    const builder = serving(Route.get("/slow", untilAborted)).provide(provide(Clock).useValue(new FakeClock()));
    const app = await testApp(builder);
    const response = app.get("/slow");
    await app.get("/up");

    await app.stop();

    expect((await response).status).to.equal(503);
    expect(signals).to.have.nested.property("[0].code", "E_DRAIN");
  });

  it("does not throw the error of an earlier stop() again on disposal", async () => {
    const clock = new FakeClock();
    const app = await testApp(serving(Route.get("/", hanging)).provide(provide(Clock).useValue(clock)));
    const socket = net.connect(Number(new URL(app.url).port), "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await app.get("/up");

    const stopping = rejectionOf(app.stop());
    await clock.advanceAsync(4000);

    expect((await stopping).message).to.include("GET /");
    await app[Symbol.asyncDispose]();
  });
});
