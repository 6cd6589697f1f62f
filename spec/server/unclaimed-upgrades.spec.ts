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

/** Takes `/live`, and does nothing for other paths. */
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

  it("stays open where a listener has claimed it, and answers late", async () => {
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

  it("that its client resets before it is refused ends no process", async () => {
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
