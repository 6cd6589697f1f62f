import { Application, Route, Routes } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { DrainDeadlineError } from "../../../lib/errors/framework-error.js";
import type { Context } from "../../../lib/http/request/context.js";
import { formatEvent, type EventSource, type ServerSentEvent } from "../../../lib/http/response/event-stream.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { respondWithReturned } from "../../../lib/http/response/returned-value.js";
import { CompressionLayer } from "../../../lib/stages/compression.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { Conversation } from "../../support/conversation.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";

async function* each(...events: readonly (string | ServerSentEvent)[]): AsyncGenerator<string | ServerSentEvent> {
  for (const event of events) yield event;
}

function streaming(source: EventSource, clock = new FakeClock()): Promise<Stack> {
  return Stack.of([new CompressionLayer()], (ctx: Context) => respondWithReturned(ctx, Reply.events(source)), clock);
}

/** Yields one event and then waits until it is closed. */
class Waiting {
  wasClosed = false;
  private isBegun = false;

  [Symbol.asyncIterator]() {
    return this;
  }

  next(): Promise<IteratorResult<string>> {
    if (this.isBegun) return new Promise(() => {});
    this.isBegun = true;
    return Promise.resolve({ done: false, value: "first" });
  }

  return(): Promise<IteratorResult<string>> {
    this.wasClosed = true;
    return Promise.resolve({ done: true, value: undefined });
  }
}

const GET = "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n";

describe("the text of an event", () => {
  const texts: readonly (readonly [string, string | ServerSentEvent, string])[] = [
    ["a text is data", "a", "data: a\n\n"],
    ["an empty text is empty data", "", "data: \n\n"],
    ["each line of data has its own field", "a\nb\r\nc\rd\n", "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"],
    ["other data is JSON", { data: { a: "x\ny" } }, 'data: {"a":"x\\ny"}\n\n'],
    [
      "every member is a field",
      { event: "move", id: "7", retry: 3000, data: " a" },
      "event: move\nid: 7\nretry: 3000\ndata:  a\n\n",
    ],
    ["a name alone has empty data", { event: "ping" }, "event: ping\ndata: \n\n"],
    ["an id alone has no data", { id: "" }, "id: \n\n"],
  ];
  for (const [title, event, text] of texts) {
    it(title, () => {
      expect(formatEvent(event)).to.equal(text);
    });
  }

  const refused: readonly (readonly [string, unknown])[] = [
    ["an id with NUL", { id: "a\0" }],
    ["an id with a line break", { id: "a\ndata: b" }],
    ["a name with a line break", { event: "a\rdata: b" }],
    ["a negative retry", { retry: -1 }],
    ["a retry with a fraction", { retry: 1.5 }],
    ["a member of another name", { type: "a", data: "b" }],
    ["no member", {}],
    ["a number", 7],
    ["null", null],
    ["a map as data", { data: new Map() }],
  ];
  for (const [what, event] of refused) {
    it(`refuses ${what} as an event, or in one`, () => {
      expect(() => formatEvent(event)).to.throw(TypeError);
    });
  }
});

describe("Reply.events", () => {
  it("sends an event stream that is not stored and not compressed", async () => {
    await using stack = await streaming(each("a", { id: "1", data: "b" }));

    const response = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

    expect(response.text).to.equal("data: a\n\nid: 1\ndata: b\n\n");
    expect(response.headers).to.include({ "content-type": "text/event-stream", "cache-control": "no-store" });
    expect(response.headers).not.to.have.property("content-encoding");
  });

  it("gives a function the last event id of the client, in UTF-8", async () => {
    await using stack = await streaming((lastEventId) => each({ data: { lastEventId } }));

    const again = await stack.ask("/", { headers: { "last-event-id": Buffer.from("ü7").toString("latin1") } });
    const first = await stack.ask();

    expect(again.text).to.equal('data: {"lastEventId":"ü7"}\n\n');
    expect(first.text).to.equal("data: {}\n\n");
  });

  it("is a 500 where the function of the events throws", async () => {
    await using stack = await streaming(() => {
      throw new Error("no events");
    });

    expect((await stack.ask()).status).to.equal(500);
  });

  for (const [what, source] of [
    ["a list", ["a"]],
    ["a promise", Promise.resolve()],
    ["undefined", undefined],
  ] as const) {
    it(`refuses ${what} where it is called`, () => {
      expect(() => Reply.events(source as never)).to.throw(TypeError, "give an async iterable");
    });

    it(`is a 500 where the function returns ${what}, and the log says what to give`, async () => {
      const routes = new Routes([Route.get("/", () => Reply.events((() => source) as never))]);
      await using app = await testApp(Application.create().routes(routes));

      expect((await app.get("/")).status).to.equal(500);
      expect(app.logs.lines().join())
        .to.contain("Reply.events got from its function")
        .and.contain("give an async iterable");
    });
  }

  it("sends a comment every 15 seconds, and leaves no timer when it ends", async () => {
    const clock = new FakeClock();
    const source = new Waiting();
    await using stack = await streaming(source, clock);
    await using client = await Conversation.with(stack.port);

    await client.say(GET).hear(/data: first\n\n/);
    clock.advance(14_999);
    expect(client.received).not.to.contain("\n:\n");
    clock.advance(1);
    await client.hear(/\r\n:\n\n/);
    clock.advance(15_000);
    await client.hear(/\r\n:\n\n[^]*\r\n:\n\n/);
    client.socket.destroy();
    await until(() => clock.pending === 0);

    expect(source.wasClosed).to.equal(true);
  });

  it("ends an event stream in order when the drain reaches its deadline, and closes the iterable", async () => {
    const source = new Waiting();
    let context: Context | undefined;
    const handler = (ctx: Context) => ((context = ctx), respondWithReturned(ctx, Reply.events(source)));
    await using stack = await Stack.of([], handler, new FakeClock());
    await using client = await Conversation.with(stack.port);

    await client.say(GET).hear(/data: first\n\n/);
    context?.abort(new DrainDeadlineError());

    expect(await client.hear(/\r\n0\r\n\r\n$/)).to.match(/^HTTP\/1\.1 200 /);
    expect(source.wasClosed).to.equal(true);
  });

  it("closes the iterable unread for HEAD, and sends the head of a GET", async () => {
    const source = new Waiting();
    const clock = new FakeClock();
    await using stack = await streaming(source, clock);

    const response = await stack.ask("/", { method: "HEAD" });

    expect(response.headers).to.include({ "content-type": "text/event-stream", "cache-control": "no-store" });
    expect(source.wasClosed).to.equal(true);
    expect(clock.pending).to.equal(0);
  });

  it("cuts the response when an event cannot be sent", async () => {
    await using stack = await streaming(each("a", { id: "1\n2" }));

    const text = await stack.raw(GET);

    expect(text).not.to.match(/0\r\n\r\n$/);
  });
});
