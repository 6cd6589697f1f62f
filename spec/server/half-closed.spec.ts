/** A client that closes its direction of the connection behind its request: by Node's default it has left; a server may wait for it. */
import type { AddressInfo } from "node:net";
import { Application, Route, Routes, type Context } from "@stagecraft/framework";
import { expect } from "chai";
import { Conversation } from "../support/conversation.js";
import { Gate } from "../support/gate.js";
import { until } from "../support/until.js";

const GET = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";

/** An application with a handler that waits. */
async function serving(isAllowed: boolean) {
  const gate = new Gate<string>();
  const contexts: Context[] = [];
  const slow = async (ctx: Context): Promise<string> => {
    contexts.push(ctx);
    return (await gate.passed) + (await ctx.text());
  };
  const routes = new Routes([Route.get("/now", () => "now"), Route.get("/slow", slow), Route.post("/slow", slow)]);
  const app = await Application.create()
    .routes(routes)
    .lifecycle({ drainDelayMs: 0 })
    .attach((server) => void Object.assign(server, { httpAllowHalfOpen: isAllowed }))
    .build()
    .start();
  // The application listens on TCP.
  const client = await Conversation.with((app.address as AddressInfo).port);
  return { app, client, gate, contexts };
}

describe("a client that half-closes its connection behind a request", () => {
  it("gets a response that is ready at once", async () => {
    const { app, client } = await serving(false);

    client.say("GET /now HTTP/1.1\r\nHost: a\r\n\r\n").socket.end();

    expect(await client.end()).to.match(/^HTTP\/1\.1 200 [^]*now$/);
    await app.stop();
  });

  it("has left by Node's default: the signal of a handler that waits aborts, and no response is sent", async () => {
    const { app, client, contexts } = await serving(false);

    client.say(GET);
    await until(() => contexts.length === 1);
    client.socket.end();

    expect(await client.end()).to.equal("");
    expect(contexts[0]?.signal.reason).to.include({ code: "E_CLIENT_GONE", status: 499 });
    await app.stop();
  });

  describe("where the server allows it", () => {
    const rows: readonly (readonly [what: string, sent: string, handlers: number, received: RegExp])[] = [
      ["its response", GET, 1, /^HTTP\/1\.1 200 [^]*late$/],
      ["the response to a body", "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody", 1, /latebody$/],
      ["the responses to two requests", GET + GET, 2, /late[^]*HTTP\/1\.1 200 [^]*late$/],
    ];
    for (const [what, sent, handlers, received] of rows) {
      it(`gets ${what}, and the connection ends`, async () => {
        const { app, client, gate, contexts } = await serving(true);

        client.say(sent).socket.end();
        await until(() => contexts.length === handlers);
        // The end of the client's direction arrives in one of the next turns of the event loop.
        await until(() => contexts[0]?.connection.socket.readableEnded === true);
        const hasAborted = contexts.map(({ signal }) => signal.aborted);
        gate.open("late");

        expect(await client.end()).to.match(received);
        expect(hasAborted).to.deep.equal(contexts.map(() => false));
        await app.stop();
      });
    }

    it("gets its response during a drain, which destroys nothing", async () => {
      const { app, client, gate, contexts } = await serving(true);
      client.say(GET).socket.end();
      await until(() => contexts.length === 1);

      const stopping = app.stopWithin(60_000);
      gate.open("late");

      expect(await client.end()).to.match(/late$/);
      expect(await stopping).to.include({ forced: 0 });
    });
  });
});
