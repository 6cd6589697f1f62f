import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { expect } from "chai";
import { Application, Clock, provide, Route, Routes, SystemClock } from "../../lib/entries/main.js";
import { CaptureSink, LogSink } from "../../lib/entries/observe.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { Conversation } from "../support/conversation.js";
import { Gate } from "../support/gate.js";
import { until } from "../support/until.js";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

const serving = (handler: () => unknown, clock: Clock = new SystemClock()) =>
  Application.create()
    .provide(provide(Clock).useValue(clock))
    .routes(new Routes([Route.get("/", handler)]))
    .lifecycle({ drainDelayMs: 0 })
    .build()
    .start();

const POST = "POST / HTTP/1.1\r\nHost: x\r\n";

async function connected(address: unknown): Promise<net.Socket> {
  // The application listens on TCP.
  const socket = net.connect((address as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

async function rest(socket: net.Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/** Resolves after several iterations of the event loop, in which the other side does its work. */
async function afterTurns(): Promise<string> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  return "open";
}

/** The bytes that a client has received when its connection ends, or the error that ended it. */
function received(socket: net.Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
  return new Promise((resolve) => {
    socket.on("error", ({ message }) => resolve(message));
    socket.on("close", () => resolve(text));
  });
}

describe("connections that are not accepted when the drain starts", () => {
  it("are accepted and get their responses", async () => {
    const clock = new FakeClock();
    const app = await serving(() => "served", clock);
    // The system completes them at once. The process sees them in the next iteration of the event loop, after the call of stop.
    const clients = Array.from({ length: 8 }, () => net.connect(portOf(app.address), "127.0.0.1"));
    const answers = clients.map(received);
    for (const client of clients) client.write(GET);
    const stopping = app.stop();
    const texts = await Promise.all(answers);
    await clock.advanceAsync(1000);
    await stopping;

    expect(texts.map((text) => text.split("\r\n").at(-1))).to.deep.equal(clients.map(() => "served"));
  });
});

describe("a response during the drain", () => {
  it("arrives completely at a client that reads slowly", async () => {
    const size = 32 * 1024 * 1024;
    const app = await serving(() => Buffer.alloc(size, "x"));
    const socket = await connected(app.address);
    socket.write(GET);
    // The response has begun, and most of it is still in the process.
    await once(socket, "readable");

    const stopping = app.stopWithin(60_000);
    const text = await rest(socket);

    expect(text.length - text.indexOf("\r\n\r\n") - 4).to.equal(size);
    expect(await stopping).to.include({ forced: 0 });
  });
});

const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`;

const closes = (text: string) => text.split(/(?=HTTP\/1\.1 )/).map((each) => /\r\nConnection: close\r\n/i.test(each));

const bodies = (text: string) => [...text.matchAll(/<(\w+)>/g)].map(([, name]) => name);

/** Responds to a request when the spec calls it. `seen` lists the requests that reached the handler. */
class Held {
  readonly seen: string[] = [];
  private readonly waiting = new Map<string, () => void>();

  handle(name: string): string | Promise<string> {
    this.seen.push(name);
    if (name.startsWith("now")) return `<${name}>`;
    return new Promise((resolve) => {
      this.waiting.set(name, () => resolve(`<${name}>`));
    });
  }

  async answer(name: string): Promise<void> {
    this.waiting.get(name)?.();
    await afterTurns();
  }
}

async function holding() {
  const held = new Held();
  const routes = new Routes([Route.post("/{name}", ({ params }) => held.handle(params.name))]);
  const app = await Application.create().routes(routes).build().start();
  return { held, app, socket: await connected(app.address) };
}

describe("requests that were pipelined before the drain", () => {
  for (const order of ["abc", "cba", "bca", "cab"]) {
    it(`all get their responses in order if the handlers finish in the order ${order}; the last response closes`, async () => {
      const { held, app, socket } = await holding();
      socket.write(post("/a") + post("/b") + post("/c"));
      await until(() => held.seen.length === 3);

      const stopping = app.stopWithin(60_000);
      const answered = rest(socket);
      for (const name of order) await held.answer(name);
      const text = await answered;

      expect(bodies(text)).to.deep.equal(["a", "b", "c"]);
      expect(closes(text)).to.deep.equal([false, false, true]);
      expect(await stopping).to.deep.include({ forced: 0, cut: [] });
    });
  }

  it("all get their responses if the last handler finished before the drain", async () => {
    const { held, app, socket } = await holding();
    socket.write(post("/a") + post("/b"));
    await until(() => held.seen.length === 2);
    await held.answer("b");

    const stopping = app.stopWithin(60_000);
    const answered = rest(socket);
    await held.answer("a");

    expect(bodies(await answered)).to.deep.equal(["a", "b"]);
    expect(await stopping).to.deep.include({ forced: 0, cut: [] });
  });
});

describe("requests that are pipelined during the drain", () => {
  it("either get a response or are not handled", async () => {
    const { held, app, socket } = await holding();
    socket.write(post("/a"));
    await until(() => held.seen.length === 1);

    const stopping = app.stopWithin(60_000);
    const answered = rest(socket);
    socket.write(post("/b") + post("/now1") + post("/now2") + post("/now3"));
    await until(() => held.seen.includes("now1"));
    await held.answer("b");
    await held.answer("a");

    expect(bodies(await answered)).to.deep.equal(held.seen);
    expect(await stopping).to.deep.include({ forced: 0, cut: [] });
  });
});

/** An application that starts to drain, and a connection that has sent no byte. */
async function stoppingBeside(handler: () => unknown) {
  const clock = new FakeClock();
  const app = await serving(handler, clock);
  const socket = await connected(app.address);
  const stopping = app.stopWithin(30_000);
  await until(() => clock.pending > 0);
  return { clock, socket, stopping };
}

describe("a connection that has sent nothing", () => {
  it("is closed one second after the listener stopped, and is not counted as forced", async () => {
    const { clock, socket, stopping } = await stoppingBeside(() => "");

    await clock.advanceAsync(999);
    const early = await Promise.race([rest(socket), afterTurns()]);
    await clock.advanceAsync(51);

    expect(early).to.equal("open");
    expect(await stopping).to.deep.include({ forced: 0, cut: [] });
  });

  it("may send its request within one second after the listener stopped", async () => {
    const { clock, socket, stopping } = await stoppingBeside(() => "in time");

    await clock.advanceAsync(500);
    socket.write(GET);

    expect(await rest(socket)).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*Connection: close[^]*in time$/);
    await clock.advanceAsync(50);
    expect(await stopping).to.deep.include({ forced: 0, cut: [] });
  });

  it("is closed at an earlier deadline, and is not counted as forced", async () => {
    const app = await serving(() => "");
    const socket = await connected(app.address);

    const stopping = app.stopWithin(100);

    expect(await rest(socket)).to.equal("");
    expect(await stopping).to.deep.include({ forced: 0, cut: [] });
  });
});

describe("a connection without a pending response", () => {
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ["half a request line", "POST / HT", /^$/],
    ["half a head after a response", "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHo", /^HTTP\/1\.1 200 /],
    ["a part of a body whose response is sent", `${POST}Content-Length: 1000\r\n\r\nx`, /^HTTP\/1\.1 405 /],
  ];
  for (const [title, sent, answered] of rows) {
    it(`is closed one second after the listener stopped, and is not counted as forced: ${title}`, async () => {
      const clock = new FakeClock();
      const app = await serving(() => "", clock);
      await using client = await Conversation.with(portOf(app.address));
      client.say(sent);
      await client.hear(answered);
      await client.quiet(20);

      const before = clock.pending;
      const stopping = app.stopWithin(30_000);
      await until(() => clock.pending > before);
      await clock.advanceAsync(999);
      await client.quiet(20);
      const wasClosedEarly = client.isClosed;
      await clock.advanceAsync(51);

      expect(wasClosedEarly).to.equal(false);
      expect(await stopping).to.deep.include({ forced: 0, cut: [] });
    });
  }

  it("stays open until its response is sent", async () => {
    const clock = new FakeClock();
    const gate = new Gate<string>();
    const app = await serving(() => gate.passed, clock);
    await using client = await Conversation.with(portOf(app.address));
    client.say("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHo");
    await client.quiet(20);

    const stopping = app.stopWithin(30_000);
    await until(() => clock.pending > 0);
    for (let step = 0; step < 40; step++) await clock.advanceAsync(50);
    gate.open("in time");

    expect(await client.end()).to.match(/in time$/);
    for (let step = 0; step < 3; step++) await clock.advanceAsync(50);
    expect(await stopping).to.deep.include({ forced: 0, cut: [] });
  });

  it("stays open if it is upgraded", async () => {
    const { clock, log, client, stopping } = await stoppingBesideUpgraded();

    for (let step = 0; step < 50; step++) await clock.advanceAsync(50);
    const wasClosedEarly = client.isClosed;
    client.say("still there");
    await client.hear(/still there$/);
    client.socket.end();
    await until(() => client.isClosed);
    for (let step = 0; step < 3; step++) await clock.advanceAsync(50);
    await stopping;

    expect(wasClosedEarly).to.equal(false);
    expect(forcedOf(log)).to.equal("0");
  });
});

/** An application that starts to drain, and an upgraded connection whose listener echoes every byte. */
async function stoppingBesideUpgraded() {
  const server = http.createServer();
  server.on("upgrade", (_request, socket: Duplex) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n");
    socket.on("data", (chunk) => socket.write(chunk));
    socket.on("end", () => socket.end());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const clock = new FakeClock();
  const log = new CaptureSink();
  const builder = Application.create().provide(provide(Clock).useValue(clock), provide(LogSink).useValue(log));
  const running = await builder.build().serve(server);
  const client = await Conversation.with(portOf(server.address()));
  client.say("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n");
  await client.hear(/101/);
  const stopping = running.stop();
  await until(() => clock.pending > 0);
  return { clock, log, client, stopping };
}

/** Advances the clock to the deadline, in the steps of the drain. */
async function untilDeadline(clock: FakeClock): Promise<void> {
  for (let step = 0; step < 601; step++) await clock.advanceAsync(50);
}

/** The number of destroyed connections in the last event. */
function forcedOf(log: CaptureSink): string | undefined {
  return /"forced":(\d+).*"message":"stopped"/.exec(log.transcript())?.[1];
}

describe("an upgraded connection at the deadline of the drain", () => {
  it("is ended after the bytes that were written to it, and its listener may still write", async () => {
    const { clock, log, client, stopping } = await stoppingBesideUpgraded();

    client.say("before");
    await client.hear(/before$/);
    await untilDeadline(clock);
    await client.end();
    client.say("after").socket.end();
    await until(() => client.isClosed);
    for (let step = 0; step < 3; step++) await clock.advanceAsync(50);
    await stopping;
    await client[Symbol.asyncDispose]();

    expect(client.received).to.match(/before$/);
    expect(forcedOf(log)).to.equal("0");
  });

  it("is destroyed one second later if the client does not end it", async () => {
    const { clock, log, client, stopping } = await stoppingBesideUpgraded();

    await untilDeadline(clock);
    await client.end();
    for (let step = 0; step < 25; step++) await clock.advanceAsync(50);
    await stopping;
    await client[Symbol.asyncDispose]();

    expect(forcedOf(log)).to.equal("1");
  });
});

function portOf(address: unknown): number {
  // The application listens on TCP.
  return (address as AddressInfo).port;
}
