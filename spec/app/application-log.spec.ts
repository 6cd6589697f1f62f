/** The log of an application, and the `LogSink` and `Filter` that its classes inject: its own or those of the process. */
import { AsyncResource } from "node:async_hooks";
import http from "node:http";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import {
  Application,
  AppConfig,
  Controller,
  Get,
  Injectable,
  Module,
  provide,
  Route,
  Routes,
  Subsystem,
  type ApplicationBuilder,
  type Binding,
  type Context,
} from "@stagecraft/framework";
import { CaptureSink, Filter, LogSink, StderrSink, tracing } from "@stagecraft/framework/observe";
import { expectLogLine, testApp } from "@stagecraft/framework/testing";
import { listening } from "../support/listening.js";
import { runProgram } from "../support/program.js";
import { TracingRecorder } from "../support/tracing-recorder.js";
import { until } from "../support/until.js";

const log = tracing.target("shop");

const routes = new Routes([
  Route.get("/logged", async () => {
    log.info("logged", { password: "hunter2" });
    await pause(1);
    setTimeout(() => log.warn("logged later"), 1);
    log.debug("logged in detail");
    return "logged";
  }),
]);

function shop(...bindings: readonly Binding[]): ApplicationBuilder {
  return Application.create()
    .routes(routes)
    .provide(...bindings)
    .lifecycle({ drainDelayMs: 0 });
}

/** Serves one request and stops. */
async function visit(builder: ApplicationBuilder, path = "/logged"): Promise<void> {
  const { server } = await listening(net.createServer());
  const running = await builder.build().serve(server);
  await (await fetch(running.url + path)).text();
  await pause(5);
  await running.stop();
}

function messages(sink: CaptureSink): readonly (string | undefined)[] {
  return sink.lines().map((line) => expectLogLine(line).message?.replace(/\d+ms$/, "0ms"));
}

const LAST = ["draining", "listener stopped", "stopped"];

describe("an application that provides a LogSink", () => {
  it("writes all its events to the sink, from start to stop, as JSON without secrets", async () => {
    const sink = new CaptureSink();

    await visit(shop(provide(LogSink).useValue(sink)).accessLog());

    const [warning, logged, access, later, ...last] = messages(sink);
    expect(warning).to.contain("request id is off");
    expect([logged, access, later]).to.deep.equal(["logged", "GET /logged 200 0ms", "logged later"]);
    expect(last).to.deep.equal(LAST);
    expect(sink.transcript()).to.contain('"password":"[redacted]"').and.not.to.contain("hunter2");
  });

  it("writes to the sink also without a stage that opens a span", async () => {
    const sink = new CaptureSink();

    await visit(shop(provide(LogSink).useValue(sink)));

    expect(messages(sink)).to.deep.equal(["logged", "logged later", ...LAST]);
  });

  it("writes the events of its subsystems to the sink", async () => {
    const sink = new CaptureSink();
    @Injectable()
    class Store extends Subsystem {
      readonly kind = "database";
      start = () => log.info("store starts");
      stop = () => log.info("store stops");
    }
    @Module({ providers: [Store, provide(LogSink).useValue(sink)] })
    class ShopModule {}

    await using app = await testApp(ShopModule);
    await app.stop();

    expect(messages(sink)).to.include.members(["store starts", "store stops"]);
  });

  it("writes the requests of callback() to the sink", async () => {
    const sink = new CaptureSink();
    using server = await listening(http.createServer(shop(provide(LogSink).useValue(sink)).build().callback()));

    await fetch(`${server.url}/logged`);
    await pause(5);

    expect(messages(sink)).to.deep.equal(["logged", "logged later"]);
  });

  it("writes to the sink the events that its own filter selects", async () => {
    const [wide, narrow] = [new CaptureSink(), new CaptureSink()];
    const shopOnly = new Filter(new Map([["shop", "DEBUG"]]));

    await visit(shop(provide(LogSink).useValue(wide), provide(Filter).useValue(shopOnly)));
    await visit(shop(provide(LogSink).useValue(narrow), provide(Filter).useValue(Filter.upTo("WARN"))));

    expect(messages(wide)).to.deep.equal(["logged", "logged in detail", "logged later"]);
    expect(messages(narrow)).to.deep.equal(["logged later"]);
  });

  it("does not share the sink with another application of the process", async () => {
    const [one, other] = [new CaptureSink(), new CaptureSink()];

    await Promise.all([
      visit(shop(provide(LogSink).useValue(one))),
      visit(shop(provide(LogSink).useValue(other)), "/elsewhere"),
      visit(shop()),
    ]);

    expect(messages(one)).to.deep.equal(["logged", "logged later", ...LAST]);
    expect(messages(other)).to.deep.equal(LAST);
  });

  it("keeps the other layers of the process", async () => {
    const sink = new CaptureSink();
    const witness = new TracingRecorder();

    await witness.run(() => visit(shop(provide(LogSink).useValue(sink)).requestId().accessLog()));

    expect(witness.spans.map(({ name, outcome }) => [name, outcome])).to.deep.equal([
      ["framework.request", { ok: true }],
    ]);
    expect(witness.events.map(({ message }) => message)).to.include.members(["logged", "logged in detail", "stopped"]);
    expect(messages(sink)).to.include.members(["logged", "stopped"]).and.not.to.include("logged in detail");
  });

  it("serves requests if the sink fails", async () => {
    class Full extends LogSink {
      override writeLine(): never {
        throw new Error("disk full");
      }
    }

    await using app = await testApp(shop(provide(LogSink).useClass(Full)));
    const response = await app.get("/logged");

    expect(response.status).to.equal(200);
  });

  it("ignores the failure of a closed sink", async () => {
    const tried: string[] = [];
    class Strict extends LogSink {
      private isOpen = true;
      override writeLine(line: string): void {
        tried.push(String(expectLogLine(line).message));
        if (!this.isOpen) throw new Error("closed");
      }
      dispose(): void {
        this.isOpen = false;
      }
    }
    const left: (() => void)[] = [];
    const late = new Routes([Route.get("/late", () => void left.push(AsyncResource.bind(() => log.info("too late"))))]);

    await visit(shop(provide(LogSink).useClass(Strict)).routes(late), "/late");
    for (const tell of left) tell();

    expect(tried).to.deep.equal([...LAST, "too late"]);
  });

  it("closes a sink that it created after the last line, and leaves a given sink open", async () => {
    const lines: string[] = [];
    class Closing extends LogSink {
      override writeLine(line: string): void {
        lines.push(expectLogLine(line).message ?? "");
      }
      dispose(): void {
        lines.push("closed");
      }
    }
    @Injectable()
    class Parting {
      dispose(): void {
        log.info("parting");
      }
    }
    @Module({ providers: [Parting] })
    class ShopModule {}

    for (const binding of [provide(LogSink).useClass(Closing), provide(LogSink).useValue(new Closing())]) {
      await visit(Application.create(ShopModule).provide(binding).lifecycle({ drainDelayMs: 0 }));
    }

    const ending = ["draining", "listener stopped", "parting", "stopped"];
    expect(lines).to.deep.equal([...ending, "closed", ...ending]);
  });

  it("closes the sink after the lines of the requests that the drain ends", async () => {
    const lines: string[] = [];
    class Closing extends LogSink {
      override writeLine(line: string): void {
        lines.push(expectLogLine(line).message?.replace(/ \d+ms$/, "") ?? "");
      }
      dispose(): void {
        lines.push("closed");
      }
    }
    let started = 0;
    const hanging = [
      Route.get("/never", () => (started++, new Promise(() => {}))),
      Route.get("/by-hand", (ctx: Context) => void (started++, (ctx.respond = false))),
    ];
    const application = Application.create()
      .routes(new Routes(hanging))
      .requestId()
      .accessLog()
      .provide(provide(LogSink).useClass(Closing))
      .lifecycle({ drainDelayMs: 0, drainDeadlineMs: 50 })
      .build();
    const { server } = await listening(net.createServer());
    const running = await application.serve(server);
    const results = ["/never", "/by-hand"].map((path) => fetch(running.url + path).catch(() => "cut"));
    await until(() => started === 2);
    await running.stop();

    expect(await Promise.all(results)).to.deep.equal(["cut", "cut"]);
    const ended = ["GET /never 499", "GET /by-hand 499"];
    const ending = ["draining", "listener stopped", "drain deadline reached", ...ended];
    expect(lines).to.have.members([...ending, "connections destroyed", "stopped", "closed"]);
    expect(lines.slice(-3)).to.deep.equal(["connections destroyed", "stopped", "closed"]);
  });
});

/** A class that injects both, as an audit trail would. */
@Injectable()
class Audit {
  constructor(
    readonly sink: LogSink,
    readonly levels: Filter,
  ) {}

  note(what: string): void {
    this.sink.writeLine(JSON.stringify({ audit: what }));
  }
}

@Controller("/audit")
class AuditController {
  constructor(private readonly audit: Audit) {}

  @Get("/")
  note() {
    this.audit.note("seen");
  }
}

@Module({ controllers: [AuditController], providers: [Audit] })
class AuditModule {}

describe("a class that injects the LogSink and the Filter", () => {
  it("gets standard error and the levels up to INFO by default", () => {
    const { sink, levels } = Application.create(AuditModule).build().resolve(Audit);

    expect(sink).to.be.instanceOf(StderrSink);
    expect(levels.maxLevel("anything")).to.equal("INFO");
  });

  it("gets the installed log, with the filter of its variable", async () => {
    const { stdout, stderr } = await runProgram(
      `const { Application, provide } = await load("entries/main.js");
       const { Filter, installLogging, LogSink } = await load("entries/observe.js");
       installLogging("info");
       const application = Application.create().build();
       application.resolve(LogSink).writeLine("a line of its own");
       console.log(application.resolve(Filter).maxLevel("shop"), application.resolve(Filter).maxLevel("other"));`,
      { RUST_LOG: "shop=trace" },
    );

    expect(stdout).to.equal("TRACE OFF\n");
    expect(stderr).to.equal("a line of its own\n");
  });

  it("gets the instance that the application provides, the same one everywhere", async () => {
    @Injectable()
    class Named extends LogSink {
      readonly lines: string[] = [];
      constructor(private readonly config: AppConfig) {
        super();
      }
      override writeLine(line: string): void {
        this.lines.push(`${this.config.name} ${line}`);
      }
    }
    @Module({ imports: [AuditModule], providers: [provide(LogSink).useClass(Named)], exports: [LogSink] })
    class ShopModule {}
    await using app = await testApp(Application.create(ShopModule).provide(provide(LogSink).useClass(Named)));

    await app.get("/audit");

    const sink = app.resolve(LogSink);
    expect(app.resolve(Audit).sink).to.equal(sink);
    expect(sink).to.be.instanceOf(Named);
    expect((sink as Named).lines).to.include('app {"audit":"seen"}');
  });

  it("gets the test's log in a test, with all levels", async () => {
    await using app = await testApp(AuditModule);

    await app.get("/audit");

    expect(app.resolve(Audit).sink).to.equal(app.logs);
    expect(app.resolve(Audit).levels.maxLevel("anything")).to.equal("TRACE");
    expect(app.logs.lines()).to.include('{"audit":"seen"}');
  });

  it("gets a test's override, which receives the events of the test's log too", async () => {
    const override = new CaptureSink();
    await using app = await testApp(AuditModule, provide(LogSink).useValue(override));

    await app.get("/audit");
    await app.stop();

    expect(override.lines()).to.include('{"audit":"seen"}');
    expect(app.logs.lines()).not.to.include('{"audit":"seen"}');
    expect(messages(app.logs)).to.include.members(LAST);
    expect(override.lines().filter((line) => !line.includes("audit"))).to.deep.equal(app.logs.lines());
  });

  it("takes a sink through its constructor, without an application", () => {
    const override = new CaptureSink();

    new Audit(override, Filter.upTo("OFF")).note("seen");

    expect(override.lines()).to.deep.equal(['{"audit":"seen"}']);
  });
});

/** An application that sends itself a request when it listens, and then a signal to stop. */
const VISITED = `
  const { Application, provide, Route, Routes } = await load("entries/main.js");
  const { Filter, installLogging, LogSink, tracing } = await load("entries/observe.js");
  const log = tracing.target("shop");
  const fail = () => setTimeout(() => { throw new Error("boom"); });
  const routes = new Routes([
    Route.get("/", () => (log.debug("asked"), log.warn("logged"), "logged")),
    Route.get("/crash", () => void fail()),
  ]);
  const visit = async (url, path) => {
    await getFrom(url + path);
    if (path === "/") process.kill(process.pid, "SIGTERM");
  };
  const runs = (path, ...bindings) => {
    class Own extends LogSink {
      writeLine(line) {
        const { message, fields } = JSON.parse(line);
        console.log(message.replace(/\\d+ms$/, "0ms"));
        if (message === "listening") visit(fields.at, path);
      }
    }
    const own = bindings.length > 0 ? bindings : [provide(LogSink).useClass(Own)];
    const application = Application.create().routes(routes).requestId().accessLog().port(0).provide(...own);
    return application.lifecycle({ drainDelayMs: 0 }).build().run();
  };
  const layer = { onNewSpan: ({ name }) => console.log("span", name) };
`;

describe("a process whose application has its own log", () => {
  it("writes to the application's log from the first line to the last, not to the installed log, whose other layers stay", async () => {
    const { stdout, stderr } = await runProgram(`${VISITED} installLogging("info", layer); await runs("/");`);

    const visited = ["listening", "span framework.request", "logged", "GET / 200 0ms"];
    expect(stdout.trimEnd().split("\n")).to.deep.equal([...visited, "signal received", ...LAST]);
    expect(stderr).to.equal("");
  });

  it("uses the levels of the variable that logging was installed with", async () => {
    const env = { RUST_LOG: "shop=debug,framework::lifecycle=info" };

    const { stdout } = await runProgram(`${VISITED} installLogging("off"); await runs("/");`, env);

    expect(stdout.trimEnd().split("\n")).to.deep.equal(["listening", "asked", "logged", "signal received", ...LAST]);
  });

  it("needs no installed log and reads no variable", async () => {
    const { stdout, stderr } = await runProgram(`${VISITED} await runs("/");`, { RUST_LOG: "trace" });

    expect(stdout.trimEnd().split("\n")).to.include.members(["listening", "logged"]).and.not.to.include("asked");
    expect(stderr).to.equal("");
  });

  it("writes an uncaught error to the application's log", async () => {
    const { code, stdout, stderr } = await runProgram(`${VISITED} installLogging("info"); await runs("/crash");`);

    expect(stdout).to.contain("\nuncaught failure\ndraining\n");
    expect(stderr).to.equal("");
    expect(code).to.equal(1);
  });

  it("keeps the installed log with its own filter if it provides only a Filter", async () => {
    const own = `provide(Filter).useValue(Filter.parse("off,shop=warn,framework::lifecycle=info"))`;
    const program = `${VISITED}
      installLogging("trace", layer, { onEvent: ({ message, fields }) => message === "listening" && visit(fields.at, "/") });
      await runs("/", ${own});`;

    const { stdout, stderr } = await runProgram(program, { NODE_ENV: "production" });

    const written = stderr.trimEnd().split("\n").map((line) => expectLogLine(line).message); // prettier-ignore
    expect(written).to.deep.equal(["listening", "logged", "signal received", ...LAST]);
    expect(stdout).to.equal("span framework.request\n");
  });
});
