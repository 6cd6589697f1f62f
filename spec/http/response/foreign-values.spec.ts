/**
 * Values of the web platform and of the language from another class or realm: packages for `fetch` have classes of their own, and `node:vm`
 * has its own globals. Each is sent as the same value of this realm, or is a 500 that names it.
 */
import { Readable } from "node:stream";
import vm from "node:vm";
import * as ponyfill from "@whatwg-node/fetch";
import { expect } from "chai";
import * as nodeFetch from "node-fetch";
import * as undici from "undici";
import type { Context } from "../../../lib/http/request/context.js";
import { formatEvent } from "../../../lib/http/response/event-stream.js";
import { respondWithReturned } from "../../../lib/http/response/returned-value.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { serializePage } from "../../../lib/stages/pages/protocol/page-object.js";
import type { LogEvent } from "../../../lib/tracing/subscriber.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { type ReceivedResponse, Stack } from "../../support/stack.js";

const PACKAGES = { "@whatwg-node/fetch": ponyfill, undici, "node-fetch": nodeFetch } as const;

const HEAD = [
  ["content-type", "text/x-foreign"],
  ["set-cookie", "a=1; Path=/"],
  ["set-cookie", "b=2"],
  ["x-own", "yes"],
] as const;

type Maker = (content: string | Uint8Array | null) => object;

/** The way in which each package creates a response with status 401 and the head above. */
const RESPONSES = Object.entries(PACKAGES).map(([name, { Response: Foreign }]): readonly [string, Maker] => [
  name,
  // The packages declare the same arguments, but each with types of its own.
  (content) => Reflect.construct(Foreign, [content, { status: 401, headers: HEAD.map((pair) => [...pair]) }]) as object,
]);

async function getResponse(
  handler: (ctx: Context) => unknown,
): Promise<ReceivedResponse & { readonly messages: string }> {
  const messages: string[] = [];
  const layer = { onEvent: ({ fields = {} }: LogEvent) => void messages.push(String(fields["error"])) };
  const response = await tracing.withSubscriber(tracing.registry().with(layer), async () => {
    await using stack = await Stack.of([], handler);
    return await stack.ask();
  });
  return { ...response, messages: messages.join("\n") };
}

describe("a Response of another class", () => {
  for (const [name, make] of RESPONSES) {
    it(`of ${name} is the response, when it is returned and when it is the body`, async () => {
      const responses = [
        await getResponse(() => make("text")),
        await getResponse((ctx) => void (ctx.body = make("text"))),
      ];

      for (const { status, headers, text } of responses) {
        expect([status, text]).to.deep.equal([401, "text"]);
        expect(headers).to.include({ "content-type": "text/x-foreign", "x-own": "yes" });
        expect(headers["set-cookie"]).to.deep.equal(["a=1; Path=/", "b=2"]);
      }
    });

    it(`of ${name} may have bytes, or no body`, async () => {
      const bytes = await getResponse(() => make(Uint8Array.of(0, 255, 10)));
      const nothing = await getResponse(() => make(null));

      expect([...bytes.body]).to.deep.equal([0, 255, 10]);
      expect([nothing.status, nothing.text]).to.deep.equal([401, ""]);
    });
  }

  it("may be hand-made, with a stream of chunks, whose source ends with the client", async () => {
    let isCancelled = false;
    const chunks = ["ab", "cd"];
    const reader = {
      read: async () => ({
        done: chunks.length === 0,
        value: chunks.length === 0 ? undefined : Buffer.from(chunks.shift() ?? ""),
      }),
      cancel: async () => void (isCancelled = true),
    };
    class HandMade {
      readonly status = 203;
      readonly headers = new Map([["x-own", "yes"]]);
      readonly body = { locked: false, getReader: () => reader, cancel: reader.cancel };
      arrayBuffer(): void {}
    }
    const whole = await getResponse(() => new HandMade());
    const head = await Stack.of([], () => new HandMade());
    await head.ask("/", { method: "HEAD" });
    await head[Symbol.asyncDispose]();

    expect([whole.status, whole.headers["x-own"], whole.text]).to.deep.equal([203, "yes", "abcd"]);
    expect(isCancelled).to.equal(true);
  });
});

function inRealm(code: string): unknown {
  return vm.runInNewContext(code) as unknown;
}

describe("bytes of another class", () => {
  const BODIES: readonly (readonly [string, () => unknown, string])[] = [
    ["a Uint8Array of another realm", () => inRealm("Uint8Array.of(97, 98)"), "application/octet-stream"],
    ["an ArrayBuffer of another realm", () => inRealm("Uint8Array.of(97, 98).buffer"), "application/octet-stream"],
    ["a SharedArrayBuffer", () => sharedBytes(), "application/octet-stream"],
    ["a view of a SharedArrayBuffer", () => new Uint8Array(sharedBytes()), "application/octet-stream"],
    ["a Blob of node-fetch", () => new nodeFetch.Blob(["ab"], { type: "text/x-own" }), "text/x-own"],
    ["a Blob of @whatwg-node/fetch", () => new ponyfill.Blob(["ab"], { type: "text/x-own" }), "text/x-own"],
    ["a web stream of @whatwg-node/fetch", () => new ponyfill.Response("ab").body, "application/octet-stream"],
    [
      "a stream of chunks of another realm",
      () => Readable.from([inRealm("Uint8Array.of(97)"), inRealm("Uint8Array.of(98)")]),
      "application/octet-stream",
    ],
    [
      "an async iterable of bytes of another realm",
      () => chunksOf(inRealm("Uint8Array.of(97, 98).buffer")),
      "application/octet-stream",
    ],
  ];

  for (const [what, make, type] of BODIES) {
    it(`are the body of the response: ${what}`, async () => {
      for (const handler of [() => make(), (ctx: Context) => void (ctx.body = make())]) {
        const { status, headers, text, messages } = await getResponse(handler);

        expect([status, headers["content-type"], text], messages).to.deep.equal([200, type, "ab"]);
      }
    });
  }
});

function sharedBytes(): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(2);
  new Uint8Array(shared).set([97, 98]);
  return shared;
}

async function* chunksOf(...chunks: readonly unknown[]): AsyncGenerator {
  yield* chunks;
}

/** Values that cannot be sent, with the name in the message. */
const REFUSED: readonly (readonly [string, () => object])[] = [
  ["a Request", () => new Request("http://localhost")],
  ["a FormData", () => new FormData()],
  ["an AbortSignal", () => AbortSignal.abort()],
  ["a Request", () => new undici.Request("http://localhost")],
  ["a Request", () => new nodeFetch.Request("http://localhost")],
  ["a Request", () => new ponyfill.Request("http://localhost")],
  ["a FormData", () => new undici.FormData()],
  ["a FormData", () => new nodeFetch.FormData()],
  ["a PonyfillFormData", () => new ponyfill.FormData()],
  ["a Headers", () => new undici.Headers({ a: "1" })],
  ["a Headers", () => new nodeFetch.Headers({ a: "1" })],
  ["a PonyfillHeaders", () => new ponyfill.Headers({ a: "1" })],
  ["an Array Iterator", () => [1].values()],
  ["a Map Iterator", () => new Map([[1, 1]]).values()],
  ["a RegExp String Iterator", () => "a".matchAll(/a/g)],
  ["an Array Iterator", () => Object.assign([1].values(), { own: 1 })],
  ["a Map", () => vm.runInNewContext("new Map([[1, 1]])") as object],
  ["an Error", () => vm.runInNewContext("new TypeError('canary')") as object],
  ...listIteratorHelpers(),
];

/** Node has iterator helpers since version 22. */
function listIteratorHelpers(): readonly (readonly [string, () => object])[] {
  const values = [1].values() as { map?: (change: (value: number) => number) => object };
  return values.map === undefined ? [] : [["an Iterator Helper", () => values.map?.((value) => value) ?? {}]];
}

describe("a value that JSON does not show", () => {
  for (const [what, make] of REFUSED) {
    it(`is a 500 that names ${what}: ${make.toString().slice("() => ".length)}`, async () => {
      const handlers: readonly ((ctx: Context) => unknown)[] = [
        () => make(),
        (ctx) => void (ctx.body = make()),
        () => Reply.json(make()),
        () => Reply.created("/", make()),
      ];
      for (const handler of handlers) {
        const { status, messages } = await getResponse(handler);

        expect(status).to.equal(500);
        expect(messages).to.contain(`a handler returned ${what}, which cannot be sent`);
      }
    });
  }

  const NESTED: readonly (readonly [string, () => object])[] = [
    ...REFUSED,
    ["a Response", () => new Response("canary")],
    ["a Blob", () => new Blob(["canary"])],
    ["a SharedArrayBuffer", () => sharedBytes()],
    ["an ArrayBuffer", () => new ArrayBuffer(1)],
    ["a Readable", () => Readable.from(["canary"])],
    ...RESPONSES.map(([, make]): readonly [string, () => object] => ["a Response", () => make("canary")]),
    ["a File", () => new nodeFetch.File(["canary"], "a")],
    ["a Promise", () => vm.runInNewContext("Promise.resolve(1)") as object],
    ["a Promise", () => Object.create({ then: () => {} }) as object], // oxlint-disable-line unicorn/no-thenable -- the case
  ];

  it("is a 500 inside another returned value", async () => {
    for (const [what, make] of NESTED) {
      for (const value of [
        { rows: [{ deep: make() }] },
        [[make()]],
        { toJSON: () => ({ deep: { toJSON: undefined, own: {}, at: make() } }) },
      ]) {
        const { status, messages, text } = await getResponse(() => value);

        expect(status, what).to.equal(500);
        expect(messages).to.contain("a handler returned a value that holds a");
        expect(text).not.to.contain("canary");
      }
    }
  });

  it("is a 500 as the whole JSON of another value, where it would be {}", async () => {
    for (const make of [
      () => new Map([[1, 2]]),
      () => new Error("canary"),
      sharedBytes,
      () => new Response("canary"),
    ]) {
      const { status, messages } = await getResponse(() => ({ toJSON: make }));

      expect(status, String(make)).to.equal(500);
      expect(messages).to.contain("a handler returned a value that holds a");
    }
  });

  it("is a 500 as the first JSON line, and ends a stream of events", async () => {
    for (const [what, make] of NESTED.filter(([name]) => !/Promise|ArrayBuffer/.test(name))) {
      const lines = await getResponse((ctx) => respondWithReturned(ctx, chunksOf(make())));

      expect(lines.status, what).to.equal(500);
      expect(() => formatEvent({ data: make() }), what).to.throw(TypeError, "which cannot be sent");
    }
  });

  it("is refused as a prop of a page", () => {
    for (const [, make] of NESTED) {
      const text = (): string =>
        serializePage({
          component: "Home",
          props: { own: make() },
          errors: {},
          url: "/",
          version: null,
          encryptHistory: false,
          clearHistory: false,
          preserveFragment: false,
          flash: undefined,
          sharedProps: [],
          metadata: {},
        });

      expect(text).to.throw(TypeError, "a value that holds a");
    }
  });
});
