/** Connections that clients have made, and the process has not taken in, when it is told to stop. */
import net from "node:net";
import { Application, Route, Routes } from "@stagecraft/framework";
import { expect } from "chai";
import { listening } from "../support/listening.js";

const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/** What a client has received when its connection ends, in whatever way. */
function received(socket: net.Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
  return new Promise((resolve) => {
    socket.on("error", ({ message }) => resolve(message));
    socket.on("close", () => resolve(text));
  });
}

describe("The drain", () => {
  it("takes in connections that wait when the listener stops, and answers them", async () => {
    const { server: listener, port } = await listening(net.createServer());
    const routes = new Routes([Route.get("/", () => "served")]);
    const running = await Application.create().routes(routes).lifecycle({ drainDelayMs: 0 }).build().serve(listener);

    // The system completes them at once; the process learns of them in the next turn of its loop, after it was told to stop.
    const clients = Array.from({ length: 8 }, () => net.connect(port, "127.0.0.1"));
    const heard = clients.map(received);
    for (const client of clients) client.write(REQUEST);
    await running.stop();

    expect((await Promise.all(heard)).map((text) => text.split("\r\n").at(-1))).to.deep.equal(
      clients.map(() => "served"),
    );
  });
});
