import { expect } from "chai";
import type { Context } from "../../../lib/http/request/context.js";
import { toJsonText } from "../../../lib/http/response/json-text.js";
import { Reply } from "../../../lib/http/response/reply.js";
import type { LogEvent } from "../../../lib/tracing/subscriber.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { Stack } from "../../support/stack.js";

class Refused extends Error {
  readonly code = "canary";
}

const KINDS: readonly (readonly [string, () => object])[] = [
  ["a Map", () => new Map([["canary", 1]])],
  ["a Set", () => new Set(["canary"])],
  ["a WeakMap", () => new WeakMap()],
  ["a WeakSet", () => new WeakSet()],
  ["an Error", () => new Refused("canary")],
  ["a RegExp", () => /canary/],
  ["a Headers", () => new Headers({ canary: "1" })],
  ["a URLSearchParams", () => new URLSearchParams("canary=1")],
  ["a Generator", () => generated()],
];

function* generated(): Generator<string> {
  yield "canary";
}

/** Returns the response, and the messages of unhandled errors. */
async function getResponse(handler: (ctx: Context) => unknown) {
  const messages: string[] = [];
  const layer = { onEvent: ({ fields = {} }: LogEvent) => void messages.push(String(fields["error"])) };
  const { status, text } = await tracing.withSubscriber(tracing.registry().with(layer), async () => {
    await using stack = await Stack.of([], handler);
    return await stack.ask();
  });
  return { status, text, messages: messages.join("\n") };
}

describe("a value that is not JSON", () => {
  const ways: readonly (readonly [string, (value: object) => (ctx: Context) => unknown])[] = [
    ["returned by a handler", (value) => () => value],
    ["put into ctx.body", (value) => (ctx) => void (ctx.body = value)],
    ["given to Reply.json", (value) => () => Reply.json(value)],
  ];
  for (const [way, handlerOf] of ways) {
    it(`is a 500 that names the kind of the value when it is ${way}`, async () => {
      for (const [kind, make] of KINDS) {
        const response = await getResponse(handlerOf(make()));

        expect(response.status, kind).to.equal(500);
        expect(response.messages).to.contain(`a handler returned ${kind}, which cannot be sent`);
        expect(response.text + response.messages).not.to.contain("canary");
      }
    });
  }

  it("is a 500 also inside an array or an object", async () => {
    const values = [[Promise.resolve(1)], { deep: [{ promise: Promise.resolve(1) }] }];
    for (const value of values) {
      const response = await getResponse(() => value);

      expect(response.status).to.equal(500);
      expect(response.messages).to.contain("a value that holds a Promise, which cannot be sent; await it first");
    }
  });
});

describe("toJsonText", () => {
  for (const [kind, make] of KINDS) {
    it(`refuses ${kind}`, () => {
      expect(() => toJsonText(make())).to.throw(TypeError, `a handler returned ${kind}, which cannot be sent`);
    });
  }

  it("shows the members of an error inside another value, and refuses one that has none", () => {
    const refused = Object.assign(new Error("no tea"), { status: 418 });

    expect(toJsonText({ error: refused })).to.equal('{"error":{"status":418}}');
    expect(() => toJsonText({ error: new Error("no tea") })).to.throw(TypeError, "a value that holds an Error");
  });

  it("refuses a map, a set and a weak map inside another value", () => {
    for (const member of [new Map(), new Set(), new WeakMap()])
      expect(() => toJsonText({ rows: [member] })).to.throw(TypeError, "a value that holds a");
  });

  it("keeps empty objects, texts with braces, dates and instances of classes", () => {
    class Point {
      readonly x = 1;
      readonly inner = {};
    }

    expect(toJsonText({ a: {}, b: "{}", c: new Date(0) })).to.equal('{"a":{},"b":"{}","c":"1970-01-01T00:00:00.000Z"}');
    expect(toJsonText(new Point())).to.equal('{"x":1,"inner":{}}');
    expect(toJsonText(Object.create(null))).to.equal("{}");
  });

  it("keeps a map or an error that has a toJSON", () => {
    const map = Object.assign(new Map(), { toJSON: () => ({ a: {} }) });
    const error = Object.assign(new Error("secret"), { toJSON: () => "shown" });

    expect(toJsonText(map)).to.equal('{"a":{}}');
    expect(toJsonText([error, {}])).to.equal('["shown",{}]');
  });
});
