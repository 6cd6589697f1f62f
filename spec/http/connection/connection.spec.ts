import diagnostics from "node:diagnostics_channel";
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import net, { type AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { Application, Route, Routes, type Context } from "@stagecraft/framework";
import { Conversation } from "../../support/conversation.js";
import { usesPrivateNames } from "../../support/node-names.js";

const START = "http.server.request.start";

/** An application on a listener, and the requests that Node created for it. */
class Served implements AsyncDisposable {
  readonly requests: IncomingMessage[] = [];
  private readonly note = (message: unknown) => {
    // What is published on this channel, by Node's documentation.
    this.requests.push((message as { readonly request: IncomingMessage }).request);
  };

  private constructor(
    private readonly running: { stop(): Promise<void> },
    readonly client: Conversation,
  ) {
    diagnostics.subscribe(START, this.note);
  }

  static async of(handler: (ctx: Context) => unknown, server: net.Server = net.createServer()): Promise<Served> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const routes = new Routes([Route.any("/", handler)]);
    const running = await Application.create().routes(routes).lifecycle({ drainDelayMs: 0 }).build().serve(server);
    // A listening TCP server has an address of this kind.
    const { port } = server.address() as AddressInfo;
    return new Served(running, await Conversation.with(port));
  }

  async ask(head = "GET / HTTP/1.1\r\nHost: x", body = ""): Promise<void> {
    const before = this.client.received.length;
    this.client.say(`${head}\r\n\r\n${body}`);
    await this.client.hear(new RegExp(`^[^]{${before}}HTTP[^]*\r\n\r\nhello$`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    diagnostics.unsubscribe(START, this.note);
    await this.client[Symbol.asyncDispose]();
    await this.running.stop();
  }
}

/** Records the events at the end of a request. */
function listen(heardOf: string[], request: IncomingMessage): void {
  for (const name of ["end", "close"]) request.on(name, () => heardOf.push(name));
}

describe("a request whose response is sent", () => {
  const end = usesPrivateNames ? "ends at once" : "is ended by Node";
  it(`${end} if the application did not access it`, async () => {
    const seen: boolean[] = [];
    await using served = await Served.of(() => {
      // Before the callbacks that Node schedules during a response.
      process.nextTick(() =>
        seen.push(...served.requests.flatMap(({ closed, readableEnded }) => [closed, readableEnded])),
      );
      return "hello";
    });

    await served.ask();

    expect(seen).to.deep.equal([usesPrivateNames, usesPrivateNames]);
  });

  it("is followed by the next one on its connection, one by one and pipelined", async () => {
    await using served = await Served.of(() => "hello");

    await served.ask();
    await served.ask();
    served.client.say(
      "GET / HTTP/1.1\r\nHost: x\r\n\r\nHEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
    );

    await served.client.hear(/(?:200 OK[^]*){5}hello$/);
    expect(served.requests.every(({ complete }) => complete)).to.equal(true);
  });

  it("is no longer referenced by Node's parser", async () => {
    await using served = await Served.of(() => "hello");

    await served.ask();
    await turn();

    // Node's parser has no public name.
    const parsers = served.requests.map(
      ({ socket }) => (socket as unknown as { parser: { incoming: unknown } }).parser,
    );
    expect(parsers.map(({ incoming }) => incoming)).to.deep.equal([null]);
  });

  it("emits its end to a handler that listens", async () => {
    const heardOf: string[] = [];
    await using served = await Served.of((ctx) => {
      listen(heardOf, ctx.req);
      return "hello";
    });

    await served.ask();
    await served.ask();

    expect(heardOf).to.deep.equal(["end", "close", "end", "close"]);
  });

  for (const [name, handOut] of [
    ["ctx.res", (ctx: Context) => ctx.res.req],
    ["ctx.request", (ctx: Context) => ctx.request.req],
  ] as const) {
    it(`emits its end to code that got it through ${name} and listens a moment later`, async () => {
      const heardOf: string[] = [];
      await using served = await Served.of((ctx) => {
        const request = handOut(ctx);
        process.nextTick(() => listen(heardOf, request));
        return "hello";
      });

      await served.ask();
      await served.ask();

      expect(heardOf).to.include.members(["end", "close"]);
    });
  }

  it("emits its end to code that got it through Node's diagnostics channel", async () => {
    const heardOf: string[] = [];
    const told = (message: unknown): void =>
      listen(heardOf, (message as { readonly request: IncomingMessage }).request);
    diagnostics.subscribe(START, told);
    try {
      await using served = await Served.of(() => "hello");

      await served.ask();
      await served.ask();
    } finally {
      diagnostics.unsubscribe(START, told);
    }

    expect(heardOf).to.include.members(["end", "close"]);
  });

  it("lets a handler read its body to the end, also without a length", async () => {
    const texts: Promise<string>[] = [];
    await using served = await Served.of((ctx) => {
      texts.push(ctx.text());
      return "hello";
    });

    await served.ask();
    await served.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0");
    await served.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3", "abc");

    expect(await Promise.all(texts)).to.deep.equal(["", "", "abc"]);
  });

  it("has an empty body for a reader that starts after the response", async () => {
    const late: Promise<string>[] = [];
    await using served = await Served.of((ctx) => {
      late.push(turn().then(() => ctx.text()));
      return "hello";
    });

    await served.ask();

    expect(await Promise.all(late)).to.deep.equal([""]);
  });

  it("is ended by Node on a server of the caller", async () => {
    const heardOf: string[] = [];
    const server = http.createServer();
    await using served = await Served.of(() => "hello", server);
    server.on("request", (request) => listen(heardOf, request));

    await served.ask();
    await served.ask();

    expect(heardOf).to.include.members(["end", "close"]);
  });
});
