import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { expect } from "chai";
import { Application, Clock, provide, Route, Routes, SystemClock } from "../../lib/index.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { until } from "../support/until.js";

const serving = (handler: () => unknown, clock: Clock = new SystemClock()) =>
  Application.create()
    .provide(provide(Clock).useValue(clock))
    .routes(new Routes([Route.get("/", handler)]))
    .build()
    .start();

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

/** What the other side would have done by then, it has. */
async function untilRead(): Promise<string> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  return "open";
}

describe("an answer during the drain", () => {
  it("arrives whole at a client that reads slowly", async () => {
    const size = 32 * 1024 * 1024;
    const app = await serving(() => Buffer.alloc(size, "x"));
    const socket = await connected(app.address);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    // The answer has begun, and most of it waits in the process.
    await once(socket, "readable");

    const stopping = app.stopWithin(5000);
    const text = await rest(socket);

    expect(text.length - text.indexOf("\r\n\r\n") - 4).to.equal(size);
    expect(await stopping).to.include({ forced: 0 });
  });
});

describe("a connection on which nothing came", () => {
  it("is closed a second after the listener stopped, and counts as no failure of the drain", async () => {
    const clock = new FakeClock();
    const app = await serving(() => "", clock);
    const socket = await connected(app.address);

    const stopping = app.stopWithin(30_000);
    await until(() => clock.pending > 0);
    await clock.advanceAsync(999);
    const early = await Promise.race([rest(socket), untilRead()]);
    await clock.advanceAsync(51);

    expect(early).to.equal("open");
    expect(await stopping).to.deep.include({ forced: 0, cut: [] });
  });

  it("may still send its request within that second", async () => {
    const clock = new FakeClock();
    const app = await serving(() => "in time", clock);
    const socket = await connected(app.address);

    const stopping = app.stopWithin(30_000);
    await until(() => clock.pending > 0);
    await clock.advanceAsync(500);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");

    expect(await rest(socket)).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*Connection: close[^]*in time$/);
    await clock.advanceAsync(50);
    expect(await stopping).to.deep.include({ forced: 0, cut: [] });
  });

  it("is closed without failure at a deadline that comes sooner", async () => {
    const app = await serving(() => "");
    const socket = await connected(app.address);

    const stopping = app.stopWithin(100);

    expect(await rest(socket)).to.equal("");
    expect(await stopping).to.deep.include({ forced: 0, cut: [] });
  });
});
