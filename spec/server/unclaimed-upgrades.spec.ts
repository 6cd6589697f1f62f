/** Upgrades beside a listener that takes only those of its own path. */
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { expect } from "chai";
import { Application, Route, Routes, type ServerAttachment } from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { Conversation } from "../support/conversation.js";
import { until } from "../support/until.js";

const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

function upgrade(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`;
}

function attached(attachment: ServerAttachment): Promise<TestApp> {
  const routes = new Routes([Route.get("/{*path}", ({ params }) => `served ${params.path}`)]);
  return testApp(Application.create().routes(routes).attach(attachment));
}

function connected(app: TestApp): Promise<Conversation> {
  return Conversation.with(Number(new URL(app.url).port));
}

/** Claims `/live`, and ignores other paths. */
function takesLive(server: Server): void {
  server.on("upgrade", ({ url }: { readonly url?: string }, socket: Duplex) => {
    if (url === "/live") socket.on("end", () => socket.end()).write(SWITCH);
  });
}

function ignore(): void {}

describe("an upgrade", () => {
  it("is refused with 400 and closed where no listener claims it", async () => {
    await using app = await attached(takesLive);
    await using client = await connected(app);
    await using live = await connected(app);

    await live.say(upgrade("/live")).hear(/101 /);
    const whole = await client.say(upgrade("/other")).end();

    expect(whole).to.equal("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    expect(live.isClosed).to.equal(false);
    live.socket.end();
  });

  for (const behind of [1, 2]) {
    it(`is refused behind the responses to ${behind} pipelined requests`, async () => {
      await using app = await attached(takesLive);
      await using client = await connected(app);

      const plain = "GET /plain HTTP/1.1\r\nHost: a\r\n\r\n".repeat(behind);
      const whole = await client.say(plain + upgrade("/other")).end();

      expect(whole.match(/served plain/g)).to.have.lengthOf(behind);
      expect(whole).to.match(/served plainHTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/);
    });
  }

  it("stays open behind the response to a pipelined request where a listener has claimed it", async () => {
    await using app = await attached(takesLive);
    await using client = await connected(app);
    await using refused = await connected(app);

    client.say(`GET /plain HTTP/1.1\r\nHost: a\r\n\r\n${upgrade("/live")}`);
    // Its second has begun later.
    await refused.say(upgrade("/other")).hear(/400 /);

    expect(await client.hear(/101 /))
      .to.contain("served plain")
      .and.not.to.contain("400");
    expect(client.isClosed).to.equal(false);
    client.socket.end();
  });

  it("stays open where a listener has claimed it and responds late", async () => {
    let answer: (() => void) | undefined;
    await using app = await attached((server) => {
      takesLive(server);
      server.on("upgrade", ({ url }: { readonly url?: string }, socket: Duplex) => {
        if (url !== "/slow") return;
        socket.on("error", () => socket.destroy());
        answer = () => void socket.end(SWITCH);
      });
    });
    await using slow = await connected(app);
    await using refused = await connected(app);

    slow.say(upgrade("/slow"));
    await until(() => answer !== undefined);
    // Its second has begun later.
    await refused.say(upgrade("/other")).hear(/400 /);
    answer?.();

    expect(await slow.end()).to.equal(SWITCH);
  });

  it("that its client resets before it is refused does not end the process", async () => {
    await using app = await attached(takesLive);
    await using client = await connected(app);
    await using other = await connected(app);

    client.say(upgrade("/other")).socket.resetAndDestroy();
    await other.say(upgrade("/other")).hear(/400 /);

    expect(await (await app.get("/still")).text()).to.equal("served still");
  });

  it("is an ordinary request again when the last listener was removed", async () => {
    await using app = await attached((server) => void server.on("upgrade", ignore).off("upgrade", ignore));
    await using client = await connected(app);

    expect(await client.say(upgrade("/plain")).hear(/served plain$/)).to.match(/^HTTP\/1\.1 200 /);
  });
});
