import { once } from "node:events";
import { expect } from "chai";
import type { Context } from "../../../lib/http/request/context.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { respondWithReturned } from "../../../lib/http/response/returned-value.js";
import { TimeoutLayer } from "../../../lib/stages/timeout.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { Conversation } from "../../support/conversation.js";
import { eventsOf } from "../../support/events-of.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";

type Handler = (ctx: Context) => unknown;

/** Responds as the handler of a route does. */
function returned(handler: Handler): Handler {
  return (ctx) => respondWithReturned(ctx, handler(ctx));
}

async function* each(...values: readonly unknown[]): AsyncGenerator {
  for (const value of values) yield value;
}

async function getResponse(handler: Handler, method = "GET") {
  await using stack = await Stack.of([], returned(handler));
  return await stack.ask("/", { method });
}

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

describe("an async iterable", () => {
  const bodies: readonly (readonly [string, readonly unknown[], string, string])[] = [
    ["texts", ["ü", "", "b"], "text/plain; charset=utf-8", "üb"],
    ["bytes", [Buffer.from("a"), new Uint8Array([98]).buffer], "application/octet-stream", "ab"],
    ["objects", [{ a: 1 }, [2], null, 3], "application/x-ndjson", '{"a":1}\n[2]\nnull\n3\n'],
    ["nothing", [], "application/octet-stream", ""],
  ];
  for (const [what, values, type, text] of bodies) {
    it(`of ${what} is sent as a body of ${type}`, async () => {
      const response = await getResponse(() => each(...values));

      expect(response).to.deep.include({ status: 200, text });
      expect(response.headers).to.include({ "content-type": type, "transfer-encoding": "chunked" });
    });
  }

  const ways: readonly (readonly [string, Handler])[] = [
    ["returned with ctx.type", (ctx) => ((ctx.type = "text/csv"), each("a,b"))],
    ["put into ctx.body", (ctx) => ((ctx.type = "text/csv"), void (ctx.body = each("a,b")))],
    ["in a reply", () => Reply.of(each("a,b"), "text/csv; charset=utf-8")],
    ["in an object literal", (ctx) => ((ctx.type = "text/csv"), { [Symbol.asyncIterator]: () => each("a,b") })],
  ];
  for (const [way, handler] of ways) {
    it(`${way} keeps the media type that was set`, async () => {
      const response = await getResponse(handler);

      expect(response.text).to.equal("a,b");
      expect(response.headers["content-type"]).to.equal("text/csv; charset=utf-8");
    });
  }

  it("decides the media type by its first value, however late that comes", async () => {
    const clock = new FakeClock();
    let give: (() => void) | undefined;
    const late = async function* (): AsyncGenerator {
      await new Promise<void>((resolve) => (give = resolve));
      yield { a: 1 };
    };
    await using stack = await Stack.of([], returned(late), clock);

    const asking = stack.ask();
    await until(() => give !== undefined);
    await clock.advanceAsync(10_000);
    give?.();

    expect((await asking).headers["content-type"]).to.equal("application/x-ndjson");
  });

  it("is waited for 100 ms at most where a media type is set", async () => {
    const clock = new FakeClock();
    const handler = returned((ctx) => ((ctx.type = "text/csv"), forever(() => {})));
    await using stack = await Stack.of([], handler, clock);
    await using client = await Conversation.with(stack.port);

    client.say(GET);
    await until(() => clock.pending === 1);
    clock.advance(100);

    expect(await client.hear(/\r\n\r\n/)).to.match(/^HTTP\/1\.1 200 /);
  });

  it("has no media type for HEAD where the first value would decide it, and is closed unread", async () => {
    let wasClosed = false;
    const source = { [Symbol.asyncIterator]: () => ({ next: over, return: () => ((wasClosed = true), over()) }) };

    const response = await getResponse(() => source, "HEAD");

    expect(response.status).to.equal(200);
    expect(response.headers).not.to.have.any.keys("content-type", "content-length");
    expect(wasClosed).to.equal(true);
  });

  const broken: readonly (readonly [string, () => AsyncIterable<unknown>])[] = [
    ["fails", () => failing()],
    ["gives a map", () => each(new Map())],
    ["gives undefined", () => each(undefined)],
  ];
  for (const [what, make] of broken) {
    it(`is a 500 when the iterable ${what} before the first chunk`, async () => {
      expect((await getResponse(make)).status).to.equal(500);
    });
  }

  const cut: readonly (readonly [string, unknown, unknown])[] = [
    ["fails", { a: 1 }, new Error("the source failed")],
    ["gives text behind an object", { a: 1 }, "text"],
    ["gives an object behind text", "text", { a: 1 }],
  ];
  for (const [what, first, second] of cut) {
    it(`is cut, never ended in order, when the iterable ${what} after the first chunk`, async () => {
      let goOn: (() => void) | undefined;
      const heard = new Promise<void>((resolve) => (goOn = resolve));
      const source = async function* (): AsyncGenerator {
        yield first;
        await heard;
        if (second instanceof Error) throw second;
        yield second;
      };
      let text = "";
      const events = await eventsOf(async () => {
        await using stack = await Stack.of([], returned(source));
        await using client = await Conversation.with(stack.port);
        await client.say(GET).hear(/\r\n\r\n[^]+\r\n/);
        goOn?.();
        text = await client.end();
      });

      expect(text)
        .to.match(/^HTTP\/1\.1 200 /)
        .and.not.match(/0\r\n\r\n$/);
      expect(events.join("\n")).to.match(/response failed/);
    });
  }

  it("is asked for no more than the client takes, and closed when the client leaves", async () => {
    const count = { given: 0 };
    let wasClosed = false;
    const chunk = Buffer.alloc(65_536);
    const source = async function* (): AsyncGenerator {
      try {
        for (;;) {
          count.given += 1;
          yield chunk;
        }
      } finally {
        wasClosed = true;
      }
    };
    await using stack = await Stack.of([], returned(source));
    await using client = await Conversation.with(stack.port);
    client.socket.pause();
    client.say(GET);

    for (let before = -1; before !== count.given || before === 0;) {
      before = count.given;
      await client.quiet(50);
    }
    client.socket.destroy();
    await until(() => wasClosed);

    expect(count.given).to.be.within(1, 1000);
  });

  it("is closed when the client leaves before the first value", async () => {
    let wasClosed = false;
    let isAsked = false;
    const handler = returned(() =>
      forever(
        () => (wasClosed = true),
        () => (isAsked = true),
      ),
    );
    const events = await eventsOf(async () => {
      await using stack = await Stack.of([], handler);
      const client = await Conversation.with(stack.port);
      client.say(GET);
      await until(() => isAsked);
      client.socket.destroy();
      await once(client.socket, "close");
      await until(() => wasClosed);
    });

    expect(events.join("\n")).not.to.match(/ERROR|WARN/);
  });

  it("is closed when the time limit is reached before the first value", async () => {
    const clock = new FakeClock();
    let wasClosed = false;
    let isAsked = false;
    const handler = returned(() =>
      forever(
        () => (wasClosed = true),
        () => (isAsked = true),
      ),
    );
    const events = await eventsOf(async () => {
      await using stack = await Stack.of([new TimeoutLayer(500)], handler, clock);
      const asking = stack.ask();
      await until(() => isAsked);
      clock.advance(500);
      expect((await asking).status).to.equal(408);
      await until(() => wasClosed);
    });

    expect(events.filter((event) => event.includes("late failure"))).to.deep.equal([]);
  });
});

async function over() {
  return { done: true as const, value: undefined };
}

/** An iterator whose `next` never settles. */
function forever(onReturn: () => void, onNext: () => void = () => {}): AsyncIterable<unknown> {
  const next = () => (onNext(), new Promise<never>(() => {}));
  const end = async () => (onReturn(), { done: true as const, value: undefined });
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

// oxlint-disable-next-line require-yield -- it fails before its first value
async function* failing(): AsyncGenerator {
  throw new Error("the source failed");
}
