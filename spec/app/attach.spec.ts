/** `.attach()`: libraries that add listeners to the server of an application, beside its subsystems and its drain. */
import { once } from "node:events";
import http, { type IncomingMessage, type RequestListener } from "node:http";
import net from "node:net";
import type { Duplex } from "node:stream";
import {
  Application,
  Module,
  provide,
  Route,
  Routes,
  Subsystem,
  type ApplicationBuilder,
  type ServerAttachment,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Conversation } from "../support/conversation.js";
import { freePort } from "../support/free-port.js";
import { Gate } from "../support/gate.js";
import { listening } from "../support/listening.js";
import { rejectionOf } from "../support/rejection-of.js";

const UPGRADE = "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

function application(attachment: ServerAttachment, root?: new () => object): ApplicationBuilder {
  return Application.create(root)
    .routes(new Routes([Route.get("/", () => "hello")]))
    .lifecycle({ drainDelayMs: 0, drainDeadlineMs: 100 })
    .attach(attachment);
}

/** Accepts each upgrade. When the drain starts, it writes this and ends the connection, or leaves it open. */
function echo(events: string[], { leaves = false } = {}): ServerAttachment {
  return (server, draining) => {
    server.on("upgrade", (_request: IncomingMessage, socket: Duplex) => {
      socket.write(SWITCH);
      socket.on("end", () => socket.end()).resume();
      draining.addEventListener("abort", () => {
        events.push("draining");
        if (!leaves) socket.end("bye");
      });
    });
  };
}

/** Changes a server as socket.io does: removes the listeners for requests, and calls them for the paths of others. */
const asSocketIo: ServerAttachment = (server) => {
  const others = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    if (request.url === "/socket.io/") response.end("polled");
    else for (const each of others) each.call(server, request, response);
  });
};

describe("an attachment", () => {
  it("gets the server of `run()` before it listens, and is notified of the drain before the subsystems stop", async () => {
    const events: string[] = [];
    const ready = new Gate<http.Server>();
    class Database extends Subsystem {
      readonly kind = "database";
      start(): void {
        events.push("started");
      }
      stop(): void {
        events.push("stopped");
      }
    }
    @Module({ providers: [provide(Database).useClass(Database)] })
    class Root {}
    const running = application((server, draining) => {
      events.push(server.listening ? "listening" : "attached");
      server.once("listening", () => ready.open(server));
      return echo(events)(server, draining);
    }, Root)
      .port(0)
      .build()
      .run();
    const server = await ready.passed;
    // A TCP listener's address is an AddressInfo.
    await using client = await Conversation.with((server.address() as net.AddressInfo).port);

    await client.say(UPGRADE).hear(/\r\n\r\n$/);
    process.emit("SIGTERM", "SIGTERM");
    await client.hear(/bye$/);
    client.socket.end();
    await running;

    expect(events).to.deep.equal(["attached", "started", "draining", "stopped"]);
  });

  it("leaves other requests to the application where it takes the listeners of the server away", async () => {
    await using app = await testApp(application(asSocketIo));

    const texts = await Promise.all(["/", "/socket.io/"].map(async (path) => (await app.get(path)).text()));

    expect(texts).to.deep.equal(["hello", "polled"]);
  });

  it("runs after an attachment that was attached before it", async () => {
    const events: string[] = [];
    const slow = async (): Promise<void> => {
      await new Promise(setImmediate);
      events.push("first");
    };

    await using _app = await testApp(application(slow).attach(() => void events.push("second")));

    expect(events).to.deep.equal(["first", "second"]);
  });

  it("has its connections ended at the drain deadline", async () => {
    const events: string[] = [];
    const listener = await listening(net.createServer());
    const running = await application(echo(events, { leaves: true }))
      .build()
      .serve(listener.server);
    await using client = await Conversation.with(listener.port);
    await client.say(UPGRADE).hear(/\r\n\r\n$/);

    const stopping = running.stop();
    const received = await client.end();
    client.socket.end();
    await stopping;

    expect(received).to.equal(SWITCH);
    expect([events, client.wasReset]).to.deep.equal([["draining"], false]);
  });

  it("gets the server that was given to `serve()`", async () => {
    const { server } = await listening(http.createServer());
    const seen: unknown[] = [];

    const running = await application((each) => void seen.push(each))
      .build()
      .serve(server);
    await running.stop();

    expect(seen).to.deep.equal([server]);
  });

  it("makes `run()` fail with its error, and no server listens, if it fails", async () => {
    const port = await freePort();
    const failed = application(() => Promise.reject(new Error("no sockets today")))
      .port(port)
      .build();

    const { message } = await rejectionOf(failed.run());

    expect(message).to.equal("no sockets today");
    const [error] = (await once(net.connect(port, "127.0.0.1"), "error")) as [NodeJS.ErrnoException];
    expect(error.code).to.equal("ECONNREFUSED");
  });

  it("makes `run()` fail, and no server listens, if it makes the server listen itself", async () => {
    let isListening: (() => boolean) | undefined;
    const failed = application(async (server) => {
      isListening = () => server.listening;
      await once(server.listen(0, "127.0.0.1"), "listening");
    }).build();

    const error = await rejectionOf(failed.run());

    expect(error).to.have.property("code", "ERR_SERVER_ALREADY_LISTEN");
    expect(isListening?.()).to.equal(false);
  });

  it("is notified of the end where the application cannot listen", async () => {
    using taken = await listening(net.createServer());
    let signal: AbortSignal | undefined;
    const refused = application((_server, draining) => void (signal = draining))
      .port(taken.port)
      .build();

    const error = await rejectionOf(refused.run());

    expect(error).to.have.property("code", "E_LISTEN");
    expect(signal?.aborted).to.equal(true);
  });
});
