/** The application as a request listener of the caller's servers: one or several, alone or beside `run()` and `serve()`. */
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { Application, Module, provide, Route, Routes, Subsystem } from "@stagecraft/framework";
import { CaptureSink, LogSink } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { Conversation } from "../support/conversation.js";
import { Gate } from "../support/gate.js";
import { listening } from "../support/listening.js";
import { until } from "../support/until.js";

class SlowDatabase extends Subsystem {
  readonly kind = "database";
  readonly starting = new Gate();
  readonly mayStart = new Gate();

  async start(): Promise<void> {
    this.starting.open();
    await this.mayStart.passed;
  }

  stop(): void {}
}

function application(database = new SlowDatabase()): Application {
  const log = new CaptureSink();
  @Module({ providers: [provide(SlowDatabase).useValue(database), provide(LogSink).useValue(log)] })
  class Root {}

  const routes = new Routes([Route.get("/", () => "hello"), Route.post("/", (ctx) => ctx.text())]);
  return Application.create(Root).routes(routes).bodyLimit(10).port(0).lifecycle({ drainDelayMs: 0 }).build();
}

const expecting = (length: number): string =>
  `POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;

describe("callback()", () => {
  it("serves a server of the caller, while health reports booting", async () => {
    using own = await listening(http.createServer(application().callback()));

    const live = await fetch(`${own.url}/up/live`);
    const page = await fetch(own.url);

    expect(await live.json()).to.deep.equal({ state: "booting" });
    expect(await page.text()).to.equal("hello");
  });

  it("may be called again for another server", async () => {
    const app = application();
    using one = await listening(http.createServer(app.callback()));
    using other = await listening(http.createServer(app.callback()));

    const pages = await Promise.all([one, other].map(({ url }) => fetch(url)));

    expect(await Promise.all(pages.map((page) => page.text()))).to.deep.equal(["hello", "hello"]);
  });

  for (const [when, before] of [
    ["before", true],
    ["after", false],
  ] as const) {
    it(`refuses requests until the start has ended if it is called ${when} run()`, async () => {
      const database = new SlowDatabase();
      const app = application(database);
      const early = before ? app.callback() : undefined;
      const running = app.run();
      await database.starting.passed;
      using own = await listening(http.createServer(early ?? app.callback()));

      const refused = await fetch(own.url);
      database.mayStart.open();
      await until(async () => (await fetch(`${own.url}/up/ready`)).ok);
      const page = await fetch(own.url);
      process.emit("SIGTERM", "SIGTERM");
      await running;

      expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([503, "1"]);
      expect(await page.text()).to.equal("hello");
    });
  }

  it("closes the connections of its clients from the drain of serve() on", async () => {
    const app = application();
    using own = await listening(http.createServer(app.callback()));
    const running = await app.serve((await listening(net.createServer())).server);

    const before = await fetch(own.url);
    await running.stop();
    const after = await fetch(own.url);

    expect([before, after].map(({ status, headers }) => [status, headers.get("connection")])).to.deep.equal([
      [200, "keep-alive"],
      [200, "close"],
    ]);
  });

  describe("if the client asks for 100 Continue", () => {
    const CONTINUED = /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 413 /;
    type Listen = (server: http.Server, listener: http.RequestListener) => void;
    const rows: readonly (readonly [title: string, listen: Listen, refused: RegExp])[] = [
      ["leaves the 100 to a server without a listener for checkContinue", () => {}, CONTINUED],
      [
        "leaves the 100 to another listener for checkContinue",
        (server) =>
          server.on("checkContinue", (request, response: http.ServerResponse) => {
            response.writeContinue();
            server.emit("request", request, response);
          }),
        CONTINUED,
      ],
      [
        "refuses a body without the 100 as a listener for checkContinue",
        (server, listener) => server.on("checkContinue", listener),
        /^HTTP\/1\.1 413 /,
      ],
    ];
    for (const [title, listen, refused] of rows) {
      it(title, async () => {
        const listener = application().callback();
        const server = http.createServer(listener);
        listen(server, listener);
        using own = await listening(server);

        await using large = await Conversation.with(own.port);
        large.say(expecting(1000));
        const refusal = await large.hear(/ 413 /);
        await using small = await Conversation.with(own.port);
        small.say(expecting(5));
        await small.hear(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
        small.say("hello");
        const received = await small.hear(/hello$/);

        expect(refusal).to.match(refused);
        expect(received.match(/100 Continue/g)).to.have.length(1);
      });
    }
  });

  it("refuses a body in a transfer coding that the server accepts", async () => {
    using own = await listening(http.createServer(application().callback()));

    const request = http.request({ port: own.port, host: "127.0.0.1", method: "POST", agent: false });
    request.setHeader("Transfer-Encoding", "gzip, chunked").end("bytes of gzip");
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    response.resume();

    expect(response.statusCode).to.equal(400);
  });
});
