import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { expect } from "chai";
import { Application, Route, Routes } from "../../lib/index.js";

const serving = (handler: () => unknown) =>
  Application.create()
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
