import http from "node:http";
import { pipeline } from "node:stream/promises";
import { PassThrough, Readable, Writable } from "node:stream";
import * as consumers from "node:stream/consumers";
import { expect } from "chai";
import { CatchPanicLayer } from "../../../lib/stages/catch-panic.js";
import type { Context } from "../../../lib/http/request/context.js";
import { BadRequestError } from "../../../lib/errors/framework-error.js";
import { Conversation } from "../../support/conversation.js";
import { eventsOf } from "../../support/events-of.js";
import { Gate } from "../../support/gate.js";
import { listening } from "../../support/listening.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";

const POST = "POST / HTTP/1.1\r\nHost: x\r\n";
const GET = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n";
const BLOCK = "x".repeat(65_536);

async function refuseFirstChunk(ctx: Context): Promise<string> {
  if (ctx.path === "/second") return "second";
  for await (const chunk of ctx.req) throw new BadRequestError(`no ${String(chunk).length > 0}`);
  return "nothing read";
}

async function failingPipeline(ctx: Context): Promise<void> {
  const sink = new Writable({
    write: (_chunk, _encoding, done) => done(new BadRequestError("the sink is full")),
  });
  await pipeline(ctx.req, sink);
}

async function leaveStanding(ctx: Context): Promise<string> {
  if (ctx.path === "/second") return "second";
  await new Promise<void>((resolve) => {
    ctx.req.once("data", () => {
      ctx.req.pause();
      resolve();
    });
  });
  return "first";
}

async function refuseByHand(ctx: Context): Promise<string | undefined> {
  if (ctx.path === "/second") return "second";
  await refuseFirstChunk(ctx).catch(() => {});
  ctx.res.writeHead(400, { "Content-Length": 7 }).end("by hand");
  return undefined;
}

async function readTwice(ctx: Context): Promise<string> {
  await refuseFirstChunk(ctx).catch(() => {});
  return ctx.text();
}

describe("a body that a handler stops reading in the middle", () => {
  for (const [title, handler] of [
    ["a loop that ends early", refuseFirstChunk],
    ["a pipeline that fails", failingPipeline],
  ] as const) {
    for (const framing of ["Content-Length: 300000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n10000\r\n"]) {
      it(`does not lose the response: ${title}, ${framing.split("\r\n", 1)[0]}`, async () => {
        await using stack = await Stack.of([], handler);
        await using client = await Conversation.with(stack.port);

        client.say(`${POST}${framing}${BLOCK}`);
        const text = await client.end();

        expect(text).to.match(/^HTTP\/1\.1 400 Bad Request/);
        expect(text).to.match(/Connection: close/i);
        expect(client.wasReset).to.equal(false);
      });
    }
  }

  for (const [title, handler, status] of [
    ["a loop that ends early", refuseFirstChunk, "400 Bad Request"],
    ["a loop that never continues", leaveStanding, "200 OK"],
  ] as const) {
    it(`leaves the connection usable if the rest is small: ${title}`, async () => {
      await using stack = await Stack.of([], handler);
      await using client = await Conversation.with(stack.port);

      client.say(`${POST}Content-Length: 65536\r\n\r\n${BLOCK.slice(0, 1000)}`);
      await client.hear(new RegExp(`^HTTP/1\\.1 ${status}`));
      client.say(BLOCK.slice(1000) + GET);
      const text = await client.hear(/second$/);

      expect(text).not.to.match(/Connection: close/i);
    });
  }

  it("does not delay the next request if the handler responds by hand", async () => {
    await using stack = await Stack.of([], refuseByHand);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 65536\r\n\r\n${BLOCK.slice(0, 1000)}`);
    await client.hear(/by hand$/);
    client.say(BLOCK.slice(1000) + GET);

    await client.hear(/second$/);
  });

  it("ends the connection if the handler responds by hand and the rest is long", async () => {
    await using stack = await Stack.of([], refuseByHand);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 10000000\r\n\r\n${BLOCK}`);

    expect(await client.end()).to.match(/by hand$/);
  });

  it("is an error for another reader, which does not wait for the rest", async () => {
    await using stack = await Stack.of([], readTwice);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 1000\r\n\r\nabc`);

    await client.hear(/^HTTP\/1\.1 500 /);
  });

  it("ends with an error when the client leaves", async () => {
    const seen: unknown[] = [];
    const handler = async (ctx: Context): Promise<void> => {
      try {
        for await (const chunk of ctx.req) seen.push(String(chunk));
      } catch (error) {
        seen.push(error);
      }
    };
    await using stack = await Stack.of([], handler);
    const client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 1000\r\n\r\nabc`);
    await until(() => seen.length === 1);
    client.socket.resetAndDestroy();
    await until(() => seen.length === 2);

    expect(seen[0]).to.equal("abc");
    expect(seen[1]).to.have.property("code", "ECONNRESET");
  });
});

/** The ways in which a handler reads the request itself. If the client leaves, each fails with an error of its own. */
const READERS: Readonly<Record<string, (ctx: Context) => Promise<unknown>>> = {
  "a loop": async ({ req }) => {
    for await (const chunk of req) expect(chunk).not.to.equal(undefined);
  },
  "a pipeline": ({ req }) => pipeline(req, new PassThrough().resume()),
  "a consumer": ({ req }) => consumers.text(req),
  "a listener for errors": ({ req }) => new Promise((_resolve, reject) => req.resume().on("error", reject)),
  "a listener with an error of its own": ({ req }) =>
    new Promise((_resolve, reject) => {
      req.resume().on("error", () => {});
      req.on("aborted", () => reject(new Error("request aborted")));
    }),
  "a loop whose failure is the cause of another": async ({ req }) => {
    try {
      for await (const chunk of req) expect(chunk).not.to.equal(undefined);
    } catch (cause) {
      throw new Error("no upload", { cause });
    }
  },
  "a fetch that sends it on": ({ req }) => sendOn(Readable.toWeb(req)),
  "a loop that writes at the same time": async ({ req, res }) => {
    res.writeHead(200).flushHeaders();
    for await (const chunk of req) res.write(chunk);
  },
};

async function sendOn(body: unknown): Promise<unknown> {
  using upstream = await listening(http.createServer((request) => void request.on("error", () => {}).resume()));
  // Node's `fetch` demands `duplex`; the types do not have it.
  return await fetch(upstream.url, { method: "POST", body, duplex: "half" } as RequestInit);
}

const LEAVING: Readonly<Record<string, (client: Conversation) => void>> = {
  "resets the connection": ({ socket }) => void socket.resetAndDestroy(),
  "ends the connection": ({ socket }) => void socket.end(),
  "sends a malformed chunk": (client) => void client.say("zz\r\n"),
};

const isError = (line: string): boolean => line.startsWith("ERROR") || line.startsWith("WARN");

/** The events of a request whose client leaves while `read` reads its body, from the start of the reading on. */
async function toldOf(read: (ctx: Context) => Promise<unknown>, leave: (client: Conversation) => void) {
  const [begun, over] = [new Gate(), new Gate()];
  return eventsOf(async () => {
    const handler = (ctx: Context): Promise<unknown> => {
      ctx.req.once("readable", () => begun.open()).once("data", () => begun.open());
      return read(ctx).finally(() => setImmediate(() => over.open()));
    };
    await using stack = await Stack.of([new CatchPanicLayer()], handler);
    await using client = await Conversation.with(stack.port);
    client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
    await begun.passed;
    leave(client);
    await client.end();
    client.socket.destroy();
    await over.passed;
  });
}

const faulty = ({ req }: Context): Promise<unknown> => consumers.text(req).catch(() => JSON.parse("{"));

const waiting = ({ signal }: Context): Promise<unknown> =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("boom"))));

describe("a client that leaves while a handler reads the request", () => {
  for (const [way, leave] of Object.entries(LEAVING)) {
    for (const [reader, read] of Object.entries(READERS)) {
      it(`is not an unhandled error for ${reader} if it ${way}`, async () => {
        const events = await toldOf(read, leave);

        expect(events.filter(isError)).to.deep.equal([]);
        expect(events.filter((line) => line.startsWith("DEBUG") && line.includes("status=499"))).to.have.length(1);
      });
    }
  }

  it("does not hide an error of the program", async () => {
    const events = await toldOf(faulty, ({ socket }) => void socket.resetAndDestroy());

    expect(events.filter(isError).join("\n")).to.match(/ERROR framework::http::catch_panic: panic error=SyntaxError/);
  });

  it("does not hide an unhandled error of a handler that does not read", async () => {
    const events = await eventsOf(async () => {
      const [begun, over] = [new Gate(), new Gate()];
      const handler = (ctx: Context): Promise<unknown> => {
        begun.open();
        return waiting(ctx).finally(() => setImmediate(() => over.open()));
      };
      await using stack = await Stack.of([new CatchPanicLayer()], handler);
      await using client = await Conversation.with(stack.port);
      client.say(`${POST}Content-Length: 10\r\n\r\nabc`);
      await begun.passed;
      client.socket.resetAndDestroy();
      await over.passed;
    });

    expect(events.filter(isError).join("\n")).to.match(/ERROR framework::http::catch_panic: panic error=Error: boom/);
  });

  it("is not reported as the cause if another stream of the pipeline fails", async () => {
    const sink = new Writable({ write: (_chunk, _encoding, done) => done(resetByUpstream()) });
    let status = 0;

    const events = await eventsOf(async () => {
      await using stack = await Stack.of([new CatchPanicLayer()], ({ req }) => pipeline(req, sink));
      ({ status } = await stack.ask("/", { method: "POST", body: "abc" }));
    });

    expect(status).to.equal(500);
    expect(events.filter(isError).join("\n")).to.match(
      /ERROR framework::http::catch_panic: panic error=Error: upstream/,
    );
  });
});

function resetByUpstream(): Error {
  return Object.assign(new Error("upstream"), { code: "ECONNRESET" });
}

describe("a client that leaves while a handler writes by hand", () => {
  it("is not logged as a failed response", async () => {
    const [begun, over] = [new Gate(), new Gate()];
    const events = await eventsOf(async () => {
      const handler = async ({ res }: Context): Promise<void> => {
        const endless = new Readable({ read: () => void endless.push(BLOCK) });
        setImmediate(() => begun.open());
        await pipeline(endless, res).finally(() => setImmediate(() => over.open()));
      };
      await using stack = await Stack.of([new CatchPanicLayer()], handler);
      await using client = await Conversation.with(stack.port);
      client.say(GET);
      await client.hear(/xxx/);
      await begun.passed;
      client.socket.resetAndDestroy();
      await over.passed;
    });

    expect(events.filter(isError)).to.deep.equal([]);
  });
});

describe("a response that streams the request body back", () => {
  for (const [title, echo] of [
    ["the request itself", (ctx: Context): unknown => ctx.req],
    ["a stream that reads it", (ctx: Context): unknown => Readable.from(ctx.req)],
  ] as const) {
    it(`is complete for a long body: ${title}`, async () => {
      await using stack = await Stack.of([], echo);
      await using client = await Conversation.with(stack.port);

      client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
      for (let sent = 0; sent < 48; sent++) client.say(`10000\r\n${BLOCK}\r\n`);
      client.say("0\r\n\r\n");
      const text = await client.end();

      expect(text.match(/x/g)).to.have.length(48 * 65_536);
      expect(text).to.match(/\r\n0\r\n\r\n$/);
    });
  }

  it("ends the reading of the body if it ends earlier", async () => {
    let failure: unknown;
    const handler = (ctx: Context): Readable => {
      void (async () => {
        for await (const chunk of ctx.req) expect(chunk).not.to.equal(undefined);
      })().catch((error: unknown) => {
        failure = error;
      });
      return Readable.from(["short"]);
    };
    await using stack = await Stack.of([], handler);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
    const text = await client.end();

    expect(text)
      .to.contain("short")
      .and.to.match(/Connection: close/i);
    expect(failure).to.have.property("code", "E_BODY_BROKEN_OFF");
  });
});
