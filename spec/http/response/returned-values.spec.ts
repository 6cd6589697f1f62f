import { Readable } from "node:stream";
import zlib, { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { CompressionLayer } from "../../../lib/stages/compression.js";
import type { Context } from "../../../lib/http/request/context.js";
import { NotFoundError } from "../../../lib/errors/framework-error.js";
import { respondWithReturned } from "../../../lib/http/response/returned-value.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { Stack } from "../../support/stack.js";

type Handler = (ctx: Context) => unknown;

async function getResponse(handler: Handler, method = "GET") {
  await using stack = await Stack.of([], handler);
  return await stack.ask("/", { method });
}

/** The codings that this version of Node has. */
function encodeZstd(text: string): Buffer | undefined {
  // The declarations are those of the oldest supported Node.
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Buffer };
  return zstdCompressSync?.(text);
}

const TEXT = "text/plain; charset=utf-8";
const BYTES = "application/octet-stream";

const RESPONSES: readonly (readonly [string, Handler, number, string | undefined, string])[] = [
  ["a string", () => "hé", 200, TEXT, "hé"],
  ["an empty string", () => "", 200, TEXT, ""],
  ["a string that looks like HTML", () => "<b>", 200, TEXT, "<b>"],
  ["a Buffer", () => Buffer.from("ab"), 200, BYTES, "ab"],
  ["a Uint8Array", () => new Uint8Array([97, 98]), 200, BYTES, "ab"],
  ["an ArrayBuffer", () => new Uint8Array([97]).buffer, 200, BYTES, "a"],
  ["a DataView", () => new DataView(new Uint8Array([97, 98, 99]).buffer, 1), 200, BYTES, "bc"],
  ["a stream", () => Readable.from([Buffer.from("ab"), Buffer.from("cd")]), 200, BYTES, "abcd"],
  ["a stream of texts", () => Readable.from(["ab", "cd"]), 200, BYTES, "abcd"],
  ["a web stream", () => new Blob(["abc"]).stream(), 200, BYTES, "abc"],
  ["a Blob", () => new Blob(["abc"], { type: "text/css" }), 200, "text/css", "abc"],
  ["an object", () => ({ a: 1 }), 200, "application/json", '{"a":1}'],
  ["an array", () => [1], 200, "application/json", "[1]"],
  ["a number", () => 0, 200, "application/json", "0"],
  ["a boolean", () => false, 200, "application/json", "false"],
  ["nothing", () => {}, 204, undefined, ""],
  ["null", () => null, 204, undefined, ""],
  [
    "a fetch Response",
    () => new Response("x", { status: 201, headers: { "x-a": "1" } }),
    201,
    "text/plain;charset=UTF-8",
    "x",
  ],
  ["Reply.html", () => Reply.html("<b>"), 200, "text/html; charset=utf-8", "<b>"],
  ["Reply.text with a status", () => Reply.text("t").status(202), 202, TEXT, "t"],
  ["Reply.json", () => Reply.json({ a: 1 }), 200, "application/json", '{"a":1}'],
  ["Reply.created", () => Reply.created("/a", { id: 1 }), 201, "application/json", '{"id":1}'],
  ["Reply.noContent", () => Reply.noContent(), 204, undefined, ""],
];

describe("a returned value", () => {
  for (const [what, handler, status, type, body] of RESPONSES) {
    it(`is sent with ${status} and ${type ?? "no type"} if it is ${what}`, async () => {
      const response = await getResponse(handler);

      expect(response.status).to.equal(status);
      expect(response.headers["content-type"]).to.equal(type);
      expect(response.text).to.equal(body);
    });

    it(`gives HEAD the same head for ${what}, without a body`, async () => {
      const get = await getResponse(handler);
      const head = await getResponse(handler, "HEAD");

      expect(head.status).to.equal(get.status);
      expect(head.headers["content-type"]).to.equal(get.headers["content-type"]);
      expect(head.headers["content-length"]).to.equal(get.headers["content-length"]);
      expect(head.text).to.equal("");
    });
  }

  it("announces no length with 204 and 304, and a length of 0 with any other empty response", async () => {
    const nothing = await getResponse(() => {});
    const unchanged = await getResponse((ctx) => void (ctx.status = 304));
    const empty = await getResponse((ctx) => void (ctx.status = 404));

    expect(nothing.headers).not.to.have.property("content-length");
    expect(unchanged.headers).not.to.have.property("content-length");
    expect(empty.headers["content-length"]).to.equal("0");
  });

  it("keeps status, type and headers that were set on the context", async () => {
    const response = await getResponse((ctx) => {
      ctx.status = 203;
      ctx.type = "text/csv";
      ctx.set("X-A", "1");
      return "a,b";
    });

    expect(response.status).to.equal(203);
    expect(response.headers["content-type"]).to.equal("text/csv; charset=utf-8");
    expect(response.headers["x-a"]).to.equal("1");
  });

  it("may be missing: the response has the body of the context", async () => {
    const response = await getResponse((ctx) => void (ctx.body = { a: 1 }));

    expect(response.headers["content-type"]).to.equal("application/json");
    expect(response.text).to.equal('{"a":1}');
  });

  it("does not replace the body of the context if it is a boolean", async () => {
    const body = "<h1>docs</h1>";
    const responses = [true, false].map((value) =>
      getResponse((ctx) => {
        ctx.type = "text/html";
        ctx.body = body;
        return value;
      }),
    );

    for (const { status, headers, text } of await Promise.all(responses)) {
      expect([status, headers["content-type"], text]).to.deep.equal([200, "text/html; charset=utf-8", body]);
    }
  });

  it("drops the body of an empty status, and its headers", async () => {
    const response = await getResponse((ctx) => {
      ctx.body = "text";
      ctx.status = 204;
    });

    expect(response.headers).not.to.have.any.keys("content-type", "content-length");
    expect(response.text).to.equal("");
  });

  it("may be missing: the response is the one written to Node's response", async () => {
    const response = await getResponse((ctx) => {
      ctx.respond = false;
      ctx.res.writeHead(202, { "Content-Type": "text/x-hand" });
      ctx.res.end("by hand");
    });

    expect(response.status).to.equal(202);
    expect(response.headers["content-type"]).to.equal("text/x-hand");
    expect(response.text).to.equal("by hand");
  });

  it("refuses a Location with a control character", () => {
    expect(() => Reply.created("/a\r\nSet-Cookie: x=1")).to.throw(TypeError);
  });

  it("keeps every Set-Cookie of a fetch Response", async () => {
    const sent = await getResponse(() => {
      const response = new Response(null, { status: 204 });
      response.headers.append("set-cookie", "a=1");
      response.headers.append("set-cookie", "b=2");
      return response;
    });

    expect(sent.headers["set-cookie"]).to.deep.equal(["a=1", "b=2"]);
  });

  it("may be a fetched response, which is sent decoded and without headers of its connection", async () => {
    const coded = gzipSync("hello");
    await using upstream = await Stack.of([], (ctx) => {
      ctx.set({ "Content-Encoding": "gzip", "Content-Length": String(coded.length), Connection: "close", "X-A": "1" });
      ctx.set({ ETag: '"abc"', "Accept-Ranges": "bytes", "Content-MD5": "Q2hlY2sgSW50ZWdyaXR5IQ==" });
      ctx.set({ "Content-Digest": "sha-256=:AA==:", "Repr-Digest": "sha-256=:AA==:", Digest: "sha-256=AA==" });
      return coded;
    });

    const response = await getResponse(() => fetch(upstream.url));

    expect(response.text).to.equal("hello");
    expect(response.headers).not.to.have.any.keys("content-encoding", "content-length", "accept-ranges");
    expect(response.headers).not.to.have.any.keys("content-digest", "repr-digest", "digest", "content-md5");
    expect(response.headers).to.include({ "x-a": "1", "transfer-encoding": "chunked", etag: 'W/"abc"' });
  });

  it("keeps the fields that an upstream's Connection names from the client", async () => {
    await using upstream = await Stack.of([], (ctx) => {
      ctx.set({ Connection: "close, X-Hop ,x-other", "X-Hop": "1", "X-Other": "2", "X-A": "3" });
      return "hello";
    });

    const response = await getResponse(() => fetch(upstream.url));

    expect(response.text).to.equal("hello");
    expect(response.headers).to.include({ "x-a": "3" }).and.not.have.any.keys("x-hop", "x-other");
  });

  for (const [what, coding, encode] of [
    ["two codings", "GZIP, br", (text: string) => brotliCompressSync(gzipSync(text))],
    ["Zstandard", "zstd", (text: string) => encodeZstd(text) ?? Buffer.from("coded")],
    ["a coding that Node does not know", "aes128gcm", () => Buffer.from("coded")],
    ["one such coding among others", "aes128gcm, gzip", (text: string) => gzipSync(text)],
  ] as const) {
    it(`may be a fetched response in ${what}, whose body and coding stay`, async () => {
      const coded = encode("hello".repeat(500));
      await using upstream = await Stack.of([], (ctx) => {
        ctx.set({ "Content-Encoding": coding, "Content-Type": "text/plain" });
        return coded;
      });
      await using stack = await Stack.of([new CompressionLayer()], () => fetch(upstream.url));

      const response = await stack.ask("/", { headers: { "accept-encoding": "identity" } });
      const asked = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

      const isDecoded = response.text === "hello".repeat(500);
      expect(isDecoded || response.body.equals(coded)).to.equal(true);
      expect(response.headers["content-encoding"]).to.equal(isDecoded ? undefined : coding);
      expect(response.headers["content-length"]).to.equal(isDecoded ? undefined : String(coded.length));
      expect(asked.headers["content-encoding"]).to.equal(isDecoded ? "gzip" : coding);
    });
  }

  it("keeps the coding and the length with which a Response was created", async () => {
    const coded = gzipSync("hello");
    const headers = { "Content-Encoding": "gzip", "Content-Length": String(coded.length) };

    const response = await getResponse(() => new Response(coded, { headers }));

    expect(gunzipSync(response.body).toString()).to.equal("hello");
    expect(response.headers["content-length"]).to.equal(String(coded.length));
  });

  it("keeps a length that was set for a stream, and drops one that was set for another body", async () => {
    const streamed = await getResponse((ctx) => {
      ctx.length = 4;
      return Readable.from([Buffer.from("abcd")]);
    });
    const replaced = await getResponse((ctx) => {
      ctx.body = "ab";
      return Readable.from([Buffer.from("abcd")]);
    });

    expect(streamed.headers["content-length"]).to.equal("4");
    expect(replaced.headers).not.to.have.property("content-length");
    expect(replaced.text).to.equal("abcd");
  });
});

describe("a returned value after a middleware has asked for Koa's response", () => {
  for (const [what, handler, status, type, body] of RESPONSES) {
    it(`is sent with ${status} and ${type ?? "no type"} if it is ${what}`, async () => {
      const response = await getResponse((ctx) => {
        expect(ctx.response.status).to.equal(404);
        return handler(ctx);
      });

      expect(response.status).to.equal(status);
      expect(response.headers["content-type"]).to.equal(type);
      expect(response.text).to.equal(body);
    });
  }

  it("is a problem where the handler throws an error", async () => {
    const response = await getResponse((ctx) => {
      ctx.response.body = "half a response";
      throw new NotFoundError();
    });

    expect(response.headers["content-type"]).to.equal("application/problem+json");
  });

  it("replaces a text on the context, and its media type", async () => {
    const response = await getResponse((ctx) => {
      ctx.response.body = "text";
      return { a: 1 };
    });

    expect(response.headers["content-type"]).to.equal("application/json");
    expect(response.text).to.equal('{"a":1}');
  });

  it("keeps its media type if the body is encoded afterwards", async () => {
    const response = await getResponse((ctx) => {
      ctx.response.body = { a: 1 };
      ctx.body = Readable.from([Buffer.from("coded")]);
    });

    expect(response.headers["content-type"]).to.equal("application/json");
  });
});

function failingLater(): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      await Promise.resolve();
      controller.error(new Error("canary"));
    },
  });
}

const FAILING: readonly (readonly [string, Handler])[] = [
  ["a stream of objects", () => Readable.from([{ a: 1 }])],
  ["a web stream of objects", () => new ReadableStream({ start: (controller) => controller.enqueue({ a: 1 }) })],
  [
    "a stream that fails at once",
    () =>
      new Readable({
        read() {
          this.destroy(new Error("canary"));
        },
      }),
  ],
  ["a stream that was destroyed before", () => new Readable({ read() {} }).destroy()],
  [
    "a web stream that fails at once",
    () => new ReadableStream({ start: (controller) => controller.error(new Error("canary")) }),
  ],
  ["a web stream that fails later", failingLater],
];

describe("a body that fails before its first byte", () => {
  for (const [what, handler] of FAILING) {
    it(`is a 500 without details of the error: ${what}`, async () => {
      const response = await getResponse(async (ctx) => {
        await respondWithReturned(ctx, handler(ctx));
      });

      expect(response.status).to.equal(500);
      expect(response.text).to.contain("urn:framework:problem:internal").and.not.to.contain("canary");
    });
  }

  it("cuts the response if a later chunk cannot be sent, and the server goes on", async () => {
    await using stack = await Stack.of([], (ctx) => (ctx.path === "/next" ? "fine" : Readable.from(["ok", { a: 1 }])));

    const cut = await stack.ask("/cut").catch((error: unknown) => error);
    const next = await stack.ask("/next");

    expect(cut).to.be.instanceOf(Error);
    expect(next.text).to.equal("fine");
  });
});

describe("a Location", () => {
  it("has characters outside ASCII percent-encoded", async () => {
    const response = await getResponse(() => Reply.created("/ü/日本?q=ö"));

    expect([response.status, response.headers.location]).to.deep.equal([201, "/%C3%BC/%E6%97%A5%E6%9C%AC?q=%C3%B6"]);
  });
});

describe("ctx.assert", () => {
  const checks: readonly (readonly [string, (ctx: Context) => void, number])[] = [
    ["assert", (ctx) => ctx.assert(false, 401, "who are you"), 401],
    ["assert of nothing", (ctx) => ctx.assert(undefined, 404), 404],
    ["assert.equal", (ctx) => ctx.assert.equal(1, 2, 409), 409],
    ["assert.deepEqual", (ctx) => ctx.assert.deepEqual({ a: 1 }, { a: 2 }, 422), 422],
    ["a true condition", (ctx) => ctx.assert(true, 500), 204],
  ];
  for (const [what, check, status] of checks) {
    it(`responds to ${what} with ${status}`, async () => {
      const response = await getResponse(check);

      expect(response.status).to.equal(status);
    });
  }
});
