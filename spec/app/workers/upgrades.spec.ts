/** Upgraded connections, which stay with the worker that has them. */
import { once } from "node:events";
import http from "node:http";
import type { Duplex } from "node:stream";
import { expect } from "chai";
import { kill, WorkersUnderTest } from "./workers-under-test.js";

async function upgrade({ parent }: WorkersUnderTest): Promise<Duplex> {
  const headers = { Connection: "Upgrade", Upgrade: "pid" };
  const request = http.get({ host: "127.0.0.1", port: parent.port, path: "/", agent: false, headers });
  // The arguments of the event, by Node's documentation.
  const [, socket] = (await once(request, "upgrade")) as [http.IncomingMessage, Duplex];
  return socket;
}

/** The process id of the worker that has the connection. */
async function askOver(socket: Duplex): Promise<number> {
  const heard = once(socket, "data");
  socket.write("who");
  return Number((await heard)[0]);
}

describe("an upgraded connection to workers", () => {
  it("stays with its worker: others have theirs, and go on when it is killed", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const one = await upgrade(workers);
    const two = await upgrade(workers);
    const [first, second] = [await askOver(one), await askOver(two)];

    expect(first).to.not.equal(second);
    expect(workers.listPids()).to.include.members([first, second]);
    expect(await askOver(one)).to.equal(first);

    const closed = once(one, "close");
    one.on("error", () => undefined);
    one.resume();
    kill(first, "SIGKILL");
    await closed;
    expect(await askOver(two)).to.equal(second);
    await workers.areReady(3);
    const three = await upgrade(workers);
    expect(await askOver(three)).to.not.be.oneOf([first, second]);

    for (const socket of [two, three]) socket.end();
    workers.parent.kill("SIGTERM");
    expect(await workers.parent.exitCode()).to.equal(0);
  });
});
