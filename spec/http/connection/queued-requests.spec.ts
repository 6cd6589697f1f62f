import { AsyncLocalStorage } from "node:async_hooks";
import { expect } from "chai";
import { Application, Route, Routes } from "../../../lib/entries/main.js";
import type { Context } from "../../../lib/http/request/context.js";
import { Conversation } from "../../support/conversation.js";
import { Gate } from "../../support/gate.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";

/** The request whose response is being written, and those that are started after it. */
const MOST = 65;

const get = (name: number, lines = ""): string => `GET /${name} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
const numbers = (count: number): number[] => Array.from({ length: count }, (_value, at) => at);
const bodies = (text: string): number[] => [...text.matchAll(/<\/(\d+)>/g)].map(([, name]) => Number(name));

/** A handler that responds once its gate is open. */
class Handling {
  readonly gate = new Gate();
  readonly started: string[] = [];
  running = 0;
  most = 0;

  readonly answer = async ({ path }: Context): Promise<string> => {
    this.started.push(path);
    this.most = Math.max(this.most, (this.running += 1));
    await this.gate.passed;
    this.running -= 1;
    return `<${path}>`;
  };
}

describe("pipelined requests", () => {
  it("are handled 65 at a time, and all of them get their responses in order", async () => {
    const handling = new Handling();
    await using stack = await Stack.of([], handling.answer);
    await using client = await Conversation.with(stack.port);

    client.say(
      numbers(5000)
        .map((name) => get(name))
        .join(""),
    );
    await until(() => handling.running === MOST);
    await client.quiet(20);
    handling.gate.open();
    const text = await client.hear(/<\/4999>$/);

    expect(handling.most).to.equal(MOST);
    expect(bodies(text)).to.deep.equal(numbers(5000));
  });

  for (const count of [MOST - 1, MOST, MOST + 1, 2 * MOST - 1, 2 * MOST, 2 * MOST + 1]) {
    it(`leave the connection open for further requests after ${count} of them`, async () => {
      const handling = new Handling();
      await using stack = await Stack.of([], handling.answer);
      await using client = await Conversation.with(stack.port);

      client.say(
        numbers(count)
          .map((name) => get(name))
          .join(""),
      );
      await until(() => handling.running === Math.min(count, MOST));
      handling.gate.open();
      await client.hear(new RegExp(`</${count - 1}>$`));
      const text = await client.say(get(count)).hear(new RegExp(`</${count}>$`));

      expect(bodies(text)).to.deep.equal(numbers(count + 1));
    });
  }

  it("stay with the client while too many wait for their responses", async () => {
    const handling = new Handling();
    await using stack = await Stack.of([], handling.answer);
    await using client = await Conversation.with(stack.port);

    // More than the kernel keeps on both sides.
    const padding = `X-Padding: ${"x".repeat(8000)}\r\n`;
    client.say(
      numbers(3000)
        .map((name) => get(name, padding))
        .join(""),
    );
    await until(() => handling.running === MOST);
    await client.quiet(200);
    const unsent = client.socket.writableLength;
    handling.gate.open();
    const text = await client.hear(/<\/2999>$/);

    expect(unsent).to.be.above(0);
    expect(bodies(text)).to.deep.equal(numbers(3000));
  });

  it("may have a body if they are the last queued ones", async () => {
    const handling = new Handling();
    await using stack = await Stack.of([], async (ctx) =>
      ctx.method === "POST" ? `<${await ctx.text()}>` : handling.answer(ctx),
    );
    await using client = await Conversation.with(stack.port);

    const long = "x".repeat(500_000);
    client.say(
      numbers(100)
        .map((name) => get(name))
        .join(""),
    );
    client.say(`POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: ${long.length}\r\n\r\n${long}${get(100)}`);
    await until(() => handling.running === MOST);
    handling.gate.open();
    const text = await client.hear(/<\/100>$/);

    expect(bodies(text)).to.deep.equal(numbers(101));
    expect(text).to.contain(`<${long}>`);
  });

  it("run in their own async context, not in that of the request whose response starts them", async () => {
    const store = new AsyncLocalStorage<string>();
    const gate = new Gate();
    const found: (string | undefined)[] = [];
    const handler = (ctx: Context): Promise<void> => {
      found.push(store.getStore());
      ctx.respond = false;
      return store.run(ctx.path, async () => {
        await gate.passed;
        ctx.res.end(`<${ctx.path}>`);
      });
    };
    await using stack = await Stack.of([], handler);
    await using client = await Conversation.with(stack.port);

    client.say(
      numbers(200)
        .map((name) => get(name))
        .join(""),
    );
    await until(() => found.length === MOST);
    gate.open();
    await client.hear(/<\/199>\s*0?\s*$/);

    expect(found).to.deep.equal(numbers(200).map(() => undefined));
  });

  it("are not started once their client has left", async () => {
    const handling = new Handling();
    await using stack = await Stack.of([], handling.answer);
    await using client = await Conversation.with(stack.port);

    client.say(
      numbers(200)
        .map((name) => get(name))
        .join(""),
    );
    await until(() => handling.running === MOST);
    client.socket.resetAndDestroy();
    await client.quiet(20);
    handling.gate.open();
    await until(() => handling.running === 0);
    await client.quiet(20);

    expect(handling.started).to.have.length(MOST);
  });

  it("all get their responses before the server ends, and the last response closes the connection", async () => {
    const handling = new Handling();
    const routes = new Routes([Route.get("/{name}", handling.answer)]);
    const app = await Application.create().routes(routes).build().start();
    await using client = await Conversation.with((app.address as { readonly port: number }).port);

    client.say(
      numbers(200)
        .map((name) => get(name))
        .join(""),
    );
    await until(() => handling.running === MOST);
    const stopping = app.stopWithin(5000);
    handling.gate.open();
    const text = await client.end();

    expect(bodies(text)).to.deep.equal(numbers(200));
    expect(text.match(/Connection: close/gi)).to.have.length(1);
    expect(await stopping).to.include({ forced: 0 });
  });
});
