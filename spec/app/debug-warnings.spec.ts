/** Mistakes that do not stop an application. A debug build logs one warning for each when it starts; a release build logs none. */
import net from "node:net";
import { expect } from "chai";
import {
  Application,
  Controller,
  Get,
  Layer,
  Maintenance,
  Module,
  resource,
  Route,
  Routes,
  type ApplicationBuilder,
  type Run,
} from "@stagecraft/framework";
import { expectLogLine, testApp, type TestApp } from "@stagecraft/framework/testing";
import { eventsOf } from "../support/events-of.js";
import { freePort } from "../support/free-port.js";
import { listening } from "../support/listening.js";
import { runProgram, type Ended } from "../support/program.js";

const handler = (): string => "";
const forgetful = async (): Promise<void> => {};
const refusing = (ctx: { status: number }): void => void (ctx.status = 404);
const route = (path: string): Route => Route.get(path, handler);

function serving(...routes: readonly Route[]): ApplicationBuilder {
  return Application.create().routes(new Routes(routes));
}

/** The message and the fields of each warning. */
function warnings(app: TestApp): readonly unknown[] {
  const lines = app.logs.lines().map((line) => expectLogLine(line));
  return lines.filter(({ level }) => level === "WARN").map(({ message, fields }) => [message, fields]);
}

const COLONS = "a path has :name or *, which is literal text: write {name} for a segment and {*name} for the rest";

const SILENT = "a middleware neither responded nor called next(): the response is a 404";

class Passing extends Layer {
  override wrap(inner: Run): Run {
    return (ctx) => inner(ctx);
  }
}

class Forgetful extends Layer {
  override wrap(): Run {
    return () => undefined;
  }
}

const nothing = resource("nothing", "/nothing", { only: [] });

@Controller(nothing)
class Nothing {}

@Controller("/provided")
class Provided {
  @Get("/")
  index(): string {
    return "";
  }
}

@Module({ controllers: [Nothing], providers: [Provided] })
class Mistaken {}

describe("a debug build at its start", () => {
  it("warns of paths with :name or *", async () => {
    await using app = await testApp(
      serving(
        Route.get("/links/:id", handler),
        Route.get("/files/*", handler),
        Route.get("/files/{*rest}", handler),
        Route.post("/v1/links:batch", handler),
      ),
    );

    expect(warnings(app)).to.deep.equal([[COLONS, { routes: ["GET /links/:id", "GET /files/*"] }]]);
  });

  it("warns of a resource without an action, and of a controller under providers", async () => {
    await using app = await testApp(Mistaken);

    expect(warnings(app)).to.deep.equal([
      [
        'a resource keeps no action: it has no routes; list actions in "only", or leave it out',
        { resource: "nothing" },
      ],
      [
        "a class with endpoints is listed under providers: its routes do not exist; list it under controllers",
        { controllers: ["Provided"] },
      ],
    ]);
  });

  it("warns of a controller that the builder provides", async () => {
    await using app = await testApp(Application.create().provide(Provided));

    expect(JSON.stringify(warnings(app))).to.contain('{"controllers":["Provided"]}');
  });

  it("warns of calls after build(), which have no effect", async () => {
    const builder = serving();
    const early = builder.cors({ origins: "*" }).build();
    builder.requestId().port(81);

    const { server } = await listening(net.createServer());
    const events = await eventsOf(async () => (await early.serve(server)).stop());

    expect(events.filter((event) => event.startsWith("WARN"))).to.deep.equal([
      "WARN framework::lifecycle: the builder was called after build(): the calls have no effect calls=.requestId(),.port(n)",
    ]);
  });

  it("warns of a timeout that makes browsers repeat requests, unless its status is given", async () => {
    await using app = await testApp(Application.create().timeout(1000));
    await using chosen = await testApp(Application.create().timeout(1000, { status: 408 }));
    await using other = await testApp(Application.create().timeout(1000, { status: 503 }));

    expect(warnings(app)).to.deep.equal([
      [
        "a slow handler gets the status 408, and on a reused connection a browser then sends the request again, a POST too: use .timeout(ms, { status: 503 })",
        undefined,
      ],
    ]);
    expect([warnings(chosen), warnings(other)]).to.deep.equal([[], []]);
  });

  it("warns of templates among the paths that maintenance allows", async () => {
    const maintenance = new Maintenance().allow("/links/{id}").allow("/status").allow("/users/:id");
    await using app = await testApp(Application.create().maintenance(maintenance));

    expect(warnings(app)).to.deep.equal([
      [
        "Maintenance.allow() compares text and knows no {name}: allow the part of the path before it",
        { paths: ["/links/{id}", "/users/:id"] },
      ],
    ]);
  });
});

describe("a debug build that serves", () => {
  it("warns once of a middleware that neither responds nor calls next", async () => {
    const ofRoute = { handle: forgetful };
    await using app = await testApp(
      serving(route("/a").layer(forgetful), route("/b").layer(forgetful), route("/c").middleware(ofRoute)).layer(
        (_ctx, next) => next(),
      ),
    );
    await using silent = await testApp(serving(route("/").layer(refusing)));

    for (const path of ["/a", "/a", "/b", "/c"]) expect((await app.get(path)).status).to.equal(404);
    await silent.get("/");

    expect(warnings(app)).to.deep.equal([
      [SILENT, { middleware: "forgetful", route: "GET /a", fix: "write await next(), or return a value" }],
      [SILENT, { middleware: "Object", route: "GET /c", fix: "write await next(), or return a value" }],
    ]);
    expect(warnings(silent), "a middleware that sets the status").to.deep.equal([]);
  });

  it("warns of a layer that neither responds nor calls next, and not of a layer around a 404", async () => {
    await using forgotten = await testApp(serving().layer(new Forgetful()));
    await using passed = await testApp(serving().layer(new Passing()));

    const statuses = [await forgotten.get("/nowhere"), await passed.get("/nowhere")].map(({ status }) => status);

    expect(statuses).to.deep.equal([404, 404]);
    expect(warnings(forgotten).map(String)).to.deep.equal([`${SILENT},[object Object]`]);
    expect(warnings(passed)).to.deep.equal([]);
  });
});

describe("run() of a debug build", () => {
  it("warns of a controller that no module lists, and of telemetry without its layer", async () => {
    const { stderr } = await runOnce(
      `Application.create(Shop).provide(provide(Telemetry).useValue(telemetry))`,
      `${LISTS} ${TELEMETRY}`,
    );

    expect(stderr).to.contain("a class has @Controller and no module lists it: its routes do not exist");
    expect(stderr).to.match(/controllers: \[ 'Forgotten' \]/);
    expect(stderr).to.contain("Telemetry is provided and its layer is not installed: it exports no spans");
  });

  it("warns of the layer of telemetry without telemetry", async () => {
    const { stderr } = await runOnce(
      `Application.create()`,
      `${TELEMETRY} installLogging("info", telemetry.tracingLayer());`,
    );

    expect(stderr).to.contain("a layer that exports spans is installed and its exporter is not provided");
  });

  it("does not warn of telemetry with its layer", async () => {
    const { stderr } = await runOnce(
      `Application.create().provide(provide(Telemetry).useValue(telemetry))`,
      `${TELEMETRY} installLogging("warn", telemetry.tracingLayer());`,
    );

    expect(stderr).not.to.contain("provided");
  });
});

describe("a release build", () => {
  it("gives no warning of a debug build", async () => {
    const { stderr, stdout } = await runOnce(
      `Application.create(Shop)
        .provide(Forgotten, provide(Telemetry).useValue(telemetry))
        .maintenance(new Maintenance().allow("/{id}"))
        .routes(new Routes([Route.get("/:id", () => "").layer(() => {})]))`,
      `${LISTS} ${TELEMETRY}`,
      { NODE_ENV: "production" },
    );

    expect(stdout).to.equal("404");
    expect(stderr).to.match(/^app listening on [^\n]+\nno log is installed[^\n]+\n$/);
  });

  it("warns of sessions in memory", async () => {
    const { stderr } = await runOnce(
      `Application.create().session(new SessionConfig("5a".repeat(64)))`,
      `const { SessionConfig } = await load("entries/session.js");`,
      { NODE_ENV: "production" },
    );

    expect(stderr).to.contain(
      "sessions are stored in memory: they are lost at a restart, and each process has its own",
    );
  });
});

const LISTS = `
  class Forgotten {}
  Controller("/forgotten")(Forgotten);
  class Listed {}
  Controller("/listed")(Listed);
  class Shop {}
  Module({ controllers: [Listed] })(Shop);
`;

const TELEMETRY = `
  const { Telemetry } = await load("entries/observe-otel.js");
  const { installLogging } = await load("entries/observe.js");
  const telemetry = Telemetry.builder("shop").timeout(100).build();
`;

/** Runs the application that `builder` builds, sends it one request, and stops it. */
async function runOnce(builder: string, prelude: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const port = await freePort();
  const program = `
    const { Application, Controller, Maintenance, Module, provide, Route, Routes } = await load("entries/main.js");
    ${prelude}
    const running = ${builder}.lifecycle({ drainDelayMs: 0 }).port(${port}).build().run();
    const status = (path) => getFrom("http://127.0.0.1:${port}" + path).then(({ status }) => status, () => 0);
    while ((await status("/up/ready")) !== 200);
    process.stdout.write(String(await status("/:id")));
    process.kill(process.pid, "SIGTERM");
    await running;
  `;
  return runProgram(program, env);
}
