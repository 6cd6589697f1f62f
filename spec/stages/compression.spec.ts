import { randomBytes } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import { PassThrough, Readable } from "node:stream";
import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from "node:zlib";
import { expect } from "chai";
import * as fc from "fast-check";
import { CompressionLayer, type CompressionOptions } from "../../lib/stages/compression.js";
import type { Context } from "../../lib/http/request/context.js";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { Reply } from "../../lib/http/response/reply.js";
import type { Middleware } from "../../lib/http/middleware.js";
import { errorOf } from "../support/error-of.js";
import { eventsOf } from "../support/events-of.js";
import { rejectionOf } from "../support/rejection-of.js";
import { type ReceivedResponse, Stack } from "../support/stack.js";
import { until } from "../support/until.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";

/** A fixed text that gives another length with each level of compression. */
const PROSE = Array.from({ length: 4000 }, (_, at) => `${(at * at * 7919) % 1009} of ${(at * 31) % 97}`).join(", ");
const LONG = "the same again, ".repeat(200);

/** The bytes of a response that the stage sends with these settings. */
async function sent(settings: CompressionOptions, coding: string, handler: () => unknown): Promise<string> {
  await using stack = await Stack.of([new CompressionLayer(settings)], handler);
  return (await stack.ask("/", { headers: { "accept-encoding": coding } })).body.toString("base64");
}

describe("CompressionLayer", () => {
  for (const coding of ["br", "gzip", "identity"]) {
    it(`obeys the layer contract with ${coding}`, () =>
      obeysLayerContract(new CompressionLayer({ threshold: 0 }), {
        request: { headers: { "accept-encoding": coding } },
      }));
  }

  describe("a body of known length", () => {
    for (const [coding, decode] of [
      ["br", brotliDecompressSync],
      ["gzip", gunzipSync],
    ] as const) {
      it(`is sent as ${coding} to a client that accepts it`, async () => {
        await using stack = await Stack.of([new CompressionLayer()], () => LONG);

        const answer = await stack.ask("/", { headers: { "accept-encoding": coding } });

        expect(answer.headers).to.include({ "content-encoding": coding, vary: "Accept-Encoding" });
        expect(answer.headers).to.include({ "content-length": String(answer.body.length) });
        expect(answer.headers).to.include({ "content-type": "text/plain; charset=utf-8" });
        expect(decode(answer.body).toString()).to.equal(LONG);
        expect(answer.body.length).to.be.below(LONG.length);
      });
    }

    it("is unchanged after decompression, for any body and any preference", async () => {
      let body = "";
      await using stack = await Stack.of([new CompressionLayer({ threshold: 0 })], () => Reply.text(body));

      await fc.assert(
        fc.asyncProperty(
          fc.string({ unit: "grapheme" }),
          fc.nat(3000),
          fc.constantFrom("br", "gzip"),
          async (text, times, coding) => {
            body = text.repeat(times).slice(0, 300_000);
            const answer = await stack.ask("/", { headers: { "accept-encoding": coding } });

            expect(decoded(answer)).to.equal(Buffer.from(body).toString());
          },
        ),
        { numRuns: 40 },
      );
    });

    it("is sent unchanged when compression does not make it shorter", async () => {
      const noise = randomBytes(2000);
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.set("Content-Type", "text/plain");
        return noise;
      });

      const answer = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

      expect(answer.body.equals(noise)).to.equal(true);
      expect(answer.headers).to.include({ "content-length": "2000", vary: "Accept-Encoding" });
      expect(answer.headers).not.to.have.property("content-encoding");
    });
  });

  describe("the compression level", () => {
    const bodies: readonly (readonly [string, () => unknown])[] = [
      ["a whole body", () => PROSE],
      ["a stream", () => Reply.of(Readable.from([PROSE]), "text/plain")],
    ];
    const efforts: readonly (readonly [string, number, (effort: number) => CompressionOptions])[] = [
      ["br", 4, (brotliQuality) => ({ brotliQuality })],
      ["gzip", 6, (gzipLevel) => ({ gzipLevel })],
    ];
    for (const [what, handler] of bodies) {
      for (const [coding, effort, options] of efforts) {
        it(`for ${what} is ${effort} for ${coding} by default`, async () => {
          const unset = await sent({}, coding, handler);

          expect(unset).to.equal(await sent(options(effort), coding, handler));
          for (const other of [1, effort - 1, effort + 1, 9])
            expect(unset).not.to.equal(await sent(options(other), coding, handler));
        });
      }
    }
  });

  describe("the size of a body", () => {
    const rows: readonly (readonly [string, unknown, boolean])[] = [
      ["1023 bytes of text", "a".repeat(1023), false],
      ["1024 bytes of text", "a".repeat(1024), true],
      ["1023 characters of 1024 bytes", `${"a".repeat(1022)}é`, true],
      ["1024 bytes of JSON", ["a".repeat(1020)], true],
      ["an empty text", "", false],
    ];

    for (const [title, body, isCompressed] of rows) {
      it(`${isCompressed ? "leads to compression" : "does not lead to compression"}: ${title}`, async () => {
        await using stack = await Stack.of([new CompressionLayer()], () => body);

        const answer = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

        expect(answer.headers["content-encoding"]).to.equal(isCompressed ? "gzip" : undefined);
        expect(answer.headers.vary).to.equal("Accept-Encoding");
      });
    }

    it("of a stream is known when its length is announced", async () => {
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.body = Readable.from([Buffer.from("hello")]);
        ctx.set({ "Content-Type": "text/plain", "Content-Length": "5" });
      });

      const answer = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

      expect(answer.headers).not.to.have.property("content-encoding");
      expect(answer.headers).to.include({ "content-length": "5", vary: "Accept-Encoding" });
      expect(answer.text).to.equal("hello");
    });

    it("has a threshold, which an option sets", async () => {
      await using stack = await Stack.of([new CompressionLayer({ threshold: 50 })], () => "a".repeat(50));

      const answer = await stack.ask("/", { headers: { "accept-encoding": "br" } });

      expect(answer.headers["content-encoding"]).to.equal("br");
    });
  });

  describe("a response that is not compressed", () => {
    const rows: readonly (readonly [string, (ctx: Context) => unknown, string | undefined])[] = [
      ["206", (ctx) => ((ctx.status = 206), LONG), "Accept-Encoding"],
      ["a body with an encoding", withHeader("Content-Encoding", "zstd"), undefined],
      ["no-transform", withHeader("Cache-Control", "public, No-Transform"), undefined],
      ["no-transform first of several", withHeader("Cache-Control", "no-transform,max-age=1"), undefined],
      ["an event stream", withHeader("Content-Type", "text/event-stream"), undefined],
      ["gRPC", withHeader("Content-Type", "application/grpc+json"), undefined],
      ["an image", withHeader("Content-Type", "image/png"), undefined],
      ["bytes without a type", () => Buffer.from(LONG), undefined],
      ["an unknown type", withHeader("Content-Type", "application/x-unheard-of"), undefined],
    ];

    for (const [title, handler, vary] of rows) {
      it(`is sent unchanged: ${title}`, async () => {
        await using stack = await Stack.of([new CompressionLayer()], handler);

        const answer = await stack.ask("/", { headers: { "accept-encoding": "br, gzip" } });

        expect(answer.text).to.equal(LONG);
        expect(answer.headers.vary).to.equal(vary);
        expect(answer.headers["content-encoding"]).to.be.oneOf([undefined, "zstd"]);
      });
    }

    for (const status of [204, 205, 304]) {
      it(`is sent without a body and a coding: ${status}`, async () => {
        await using stack = await Stack.of(
          [new CompressionLayer()],
          (ctx) => void ((ctx.body = LONG), (ctx.status = status)),
        );

        const answer = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

        expect([answer.status, answer.text]).to.deep.equal([status, ""]);
        expect(answer.headers).not.to.have.property("content-encoding");
      });
    }

    it("is sent unchanged where a handler writes it by hand", async () => {
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.res.writeHead(200, { "Content-Type": "text/plain" });
        ctx.res.end(LONG);
      });

      const answer = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

      expect(answer.text).to.equal(LONG);
      expect(answer.headers).not.to.have.property("content-encoding");
    });

    it("has an unchanged head where a handler writes it by hand later", async () => {
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.body = LONG;
        ctx.respond = false;
        const { res } = ctx;
        setImmediate(() => res.end(LONG));
      });

      const answer = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

      expect(answer.text).to.equal(LONG);
      expect(answer.headers).not.to.have.any.keys("content-encoding", "vary");
    });

    it("is left alone where its client has left", async () => {
      let coding: unknown = "not seen";
      const watching: Middleware = {
        handle: async (ctx, next) => {
          await next();
          coding = ctx.res.getHeader("Content-Encoding");
        },
      };
      await using stack = await Stack.of([watching, new CompressionLayer()], async (ctx) => {
        await once(ctx.signal, "abort");
        return LONG;
      });
      const request = http.get(stack.url, { agent: false, headers: { "accept-encoding": "gzip" } });
      request.on("error", () => {});
      await once(request, "finish");

      request.destroy();
      await until(() => coding !== "not seen");

      expect(coding).to.equal(undefined);
    });

    it("is sent unchanged only for 'no-transform', not for 'no-transformation'", async () => {
      await using stack = await Stack.of([new CompressionLayer()], withHeader("Cache-Control", "x-no-transformation"));

      const answer = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

      expect(answer.headers["content-encoding"]).to.equal("gzip");
    });
  });

  describe("the head", () => {
    const DIGESTS = {
      "Content-Digest": "sha-256=:AA==:",
      "Repr-Digest": "sha-256=:AA==:",
      Digest: "sha-256=AA==",
      "Content-MD5": "Q2hlY2sgSW50ZWdyaXR5IQ==",
    };
    const withoutDigests = Object.fromEntries(Object.keys(DIGESTS).map((name) => [name.toLowerCase(), undefined]));
    const asking = { headers: { "accept-encoding": "gzip" } };
    const rows: readonly (readonly [string, Record<string, string>, Record<string, string | undefined>])[] = [
      ["a strong ETag becomes weak", { ETag: '"abc"' }, { etag: 'W/"abc"' }],
      ["a weak ETag stays", { ETag: 'W/"abc"' }, { etag: 'W/"abc"' }],
      ["Accept-Ranges is removed", { "Accept-Ranges": "bytes" }, { "accept-ranges": undefined }],
      ["digests of the plain bytes are removed", DIGESTS, withoutDigests],
      ["Vary is merged", { Vary: "Origin" }, { vary: "Origin, Accept-Encoding" }],
      ["Vary names it once", { Vary: "accept-encoding" }, { vary: "accept-encoding" }],
      ["a star in Vary stays alone", { Vary: "*" }, { vary: "*" }],
    ];

    for (const [title, headers, expected] of rows) {
      it(`of a compressed response changes so: ${title}`, async () => {
        await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
          ctx.set(headers);
          return LONG;
        });

        const answer = await stack.ask("/", asking);

        expect(decoded(answer)).to.equal(LONG);
        expect(answer.headers["content-encoding"]).to.equal("gzip");
        for (const [name, value] of Object.entries(expected)) expect(answer.headers[name]).to.equal(value);
      });
    }

    it("of an uncompressed response retains ETag and Accept-Ranges, and has Vary", async () => {
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.set({ ETag: '"abc"', "Accept-Ranges": "bytes" });
        return LONG;
      });

      const answer = await stack.ask("/");

      expect(answer.text).to.equal(LONG);
      expect(answer.headers).to.include({ etag: '"abc"', "accept-ranges": "bytes", vary: "Accept-Encoding" });
    });

    describe("for HEAD", () => {
      it("is that of GET without the coding and the length, which are known only after compressing", async () => {
        await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
          ctx.set({ ETag: '"abc"', "Accept-Ranges": "bytes" });
          return LONG;
        });

        const { text, headers } = await stack.ask("/", { method: "HEAD", ...asking });

        expect(text).to.equal("");
        expect(headers).to.include({ etag: 'W/"abc"', vary: "Accept-Encoding" });
        expect(headers).not.to.have.any.keys(
          "content-encoding",
          "content-length",
          "accept-ranges",
          "transfer-encoding",
        );
      });

      it("is that of GET when GET is not compressed", async () => {
        await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
          ctx.set({ ETag: '"abc"', "Accept-Ranges": "bytes" });
          return ctx.path === "/short" ? "short" : LONG;
        });

        for (const [path, headers] of [
          ["/short", { "accept-encoding": "gzip" }],
          ["/long", {}],
          ["/long", { "accept-encoding": "identity" }],
        ] as const) {
          const [get, head] = [await stack.ask(path, { headers }), await stack.ask(path, { method: "HEAD", headers })];

          expect({ ...head.headers, date: "" }).to.deep.equal({ ...get.headers, date: "" });
          expect(head.headers).to.include({ etag: '"abc"', "content-length": String(get.body.length) });
        }
      });

      it("has no length when the handler sets a length without a body", async () => {
        await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
          ctx.status = 200;
          ctx.set({ "Content-Type": "text/plain", "Content-Length": "5000" });
        });

        const [compressed, plain] = [
          await stack.ask("/", { method: "HEAD", ...asking }),
          await stack.ask("/", { method: "HEAD" }),
        ];

        expect(compressed.headers).not.to.have.property("content-length");
        expect(plain.headers["content-length"]).to.equal("5000");
      });
    });

    describe("of a 304", () => {
      const tags: readonly (readonly [string, Record<string, string>, string])[] = [
        ["has the weak ETag of the compressed response", { "accept-encoding": "gzip" }, 'W/"abc"'],
        ["has the strong ETag when the response was not compressed", {}, '"abc"'],
      ];
      for (const [title, headers, etag] of tags) {
        it(`${title}, and its Vary`, async () => {
          await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
            ctx.set({ ETag: '"abc"', Vary: "Origin" });
            ctx.status = 304;
          });

          const answer = await stack.ask("/", { headers });

          expect([answer.status, answer.text]).to.deep.equal([304, ""]);
          expect(answer.headers).to.include({ etag, vary: "Origin, Accept-Encoding" });
        });
      }

      it("has no Vary when the response is never compressed", async () => {
        await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
          ctx.status = 304;
          ctx.set({ ETag: '"abc"', "Content-Type": "image/png" });
        });

        const { headers } = await stack.ask("/", asking);

        expect(headers.etag).to.equal('"abc"');
        expect(headers).not.to.have.property("vary");
      });
    });

    it("of the response to an unhandled error has Vary", async () => {
      await using stack = await Stack.of([new CompressionLayer()], () => Promise.reject(new Error("boom")));

      const answer = await stack.ask("/", asking);

      expect([answer.status, answer.headers.vary]).to.deep.equal([500, "Accept-Encoding"]);
    });
  });

  describe("a stream", () => {
    for (const [coding, decoder] of [
      ["br", createBrotliDecompress],
      ["gzip", createGunzip],
    ] as const) {
      it(`of unknown length sends each chunk as ${coding} at once`, async () => {
        const source = new PassThrough();
        await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
          ctx.set("Content-Type", "text/plain");
          return source;
        });
        const response = await begin(stack, coding);
        const plain = response.pipe(decoder()).setEncoding("utf8");

        const seen: string[] = [];
        for (const chunk of ["first", "second", "third"]) {
          source.write(chunk);
          // The spec would time out if the chunk were delayed.
          const [text] = (await once(plain, "data")) as [string];
          seen.push(text);
        }
        source.end();
        await once(plain, "end");

        expect(response.headers).to.include({ "content-encoding": coding, "transfer-encoding": "chunked" });
        expect(response.headers).not.to.have.property("content-length");
        expect(seen).to.deep.equal(["first", "second", "third"]);
      });
    }

    it("cuts the connection when it fails", async () => {
      const source = new PassThrough();
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.set("Content-Type", "text/plain");
        return source;
      });
      const response = await begin(stack, "gzip", () => source.write("first"));

      source.destroy(new Error("disk"));
      const failure = await new Promise((resolve) => response.once("error", resolve).once("end", resolve).resume());

      expect(failure).to.have.property("code", "ECONNRESET");
    });

    for (const coding of ["br", "gzip"]) {
      for (const [relation, announced] of [
        ["shorter", LONG.length + 1],
        ["longer", LONG.length - 1],
      ] as const) {
        it(`cuts the connection when it is ${relation} than its Content-Length, as ${coding}`, async () => {
          let failure: unknown;
          const events = await eventsOf(async () => {
            await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
              ctx.set({ "Content-Type": "text/plain", "Content-Length": String(announced) });
              return Readable.from([LONG.slice(0, 100), LONG.slice(100)], { objectMode: false });
            });
            failure = await rejectionOf(stack.ask("/", { headers: { "accept-encoding": coding } }));
          });

          expect(failure).to.have.property("code", "ECONNRESET");
          expect(events.filter((line) => line.startsWith("ERROR")).join("\n")).to.match(
            /^ERROR framework::http::send: response failed error=.* Content-Length .*$/,
          );
        });
      }
    }

    it("is compressed when its length is its Content-Length", async () => {
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.set({ "Content-Type": "text/plain", "Content-Length": String(LONG.length) });
        return Readable.from([LONG.slice(0, 100), LONG.slice(100)], { objectMode: false });
      });

      const answer = await stack.ask("/", { headers: { "accept-encoding": "gzip" } });

      expect(gunzipSync(answer.body).toString()).to.equal(LONG);
    });

    it("is destroyed when the client leaves", async () => {
      const source = new PassThrough();
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.set("Content-Type", "text/plain");
        return source;
      });
      const response = await begin(stack, "br", () => source.write("first"));

      response.on("error", () => {}).destroy();
      await closed(source);

      expect(source.destroyed).to.equal(true);
    });

    it("is destroyed unread for HEAD", async () => {
      const source = new PassThrough();
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.set("Content-Type", "text/plain");
        return source;
      });

      const answer = await stack.ask("/", { method: "HEAD", headers: { "accept-encoding": "br" } });

      expect(answer.headers).to.include({ vary: "Accept-Encoding" });
      expect(source.destroyed).to.equal(true);
    });

    it("waits while the client does not read", async () => {
      let produced = 0;
      const source = new Readable({
        read() {
          produced += 1;
          this.push(randomBytes(65_536));
        },
      });
      await using stack = await Stack.of([new CompressionLayer()], (ctx) => {
        ctx.set("Content-Type", "text/plain");
        return source;
      });
      const response = await begin(stack, "gzip");
      response.pause();

      await settled(() => produced);
      const stopped = produced;
      response.on("error", () => {}).destroy();
      await closed(source);

      expect(stopped).to.be.below(1000);
    });
  });

  describe("a hostile Accept-Encoding", () => {
    const rows: readonly (readonly [string, string])[] = [
      ["thousands of members", "gzip;q=0.1,".repeat(1000)],
      ["thousands of spaces", `${" ".repeat(8000)}gzip`],
      ["thousands of semicolons", `gzip${";".repeat(8000)}`],
      ["an endless number", `gzip;q=0.${"0".repeat(8000)}1`],
      ["bytes that are not text", "gz\xefp;q=\x80, \xff"],
    ];

    for (const [title, header] of rows) {
      it(`gets a response without an error: ${title}`, async () => {
        await using stack = await Stack.of([new CompressionLayer()], () => "hello");

        const text = await stack.raw(
          `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAccept-Encoding: ${header}\r\n\r\n`,
        );

        expect(text).to.match(/^HTTP\/1\.1 200 /);
        expect(text.endsWith("hello")).to.equal(true);
      });
    }
  });

  describe("a setting out of its range", () => {
    for (const options of [
      { brotliQuality: 12 },
      { brotliQuality: -1 },
      { gzipLevel: 0 },
      { gzipLevel: 10 },
      { gzipLevel: 1.5 },
      { threshold: -1 },
      { threshold: Number.NaN },
    ]) {
      it(`is refused: ${JSON.stringify(options)}`, () => {
        const error = errorOf(() => new CompressionLayer(options));

        expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_COMPRESSION_OPTION");
      });
    }
  });
});

function withHeader(name: string, value: string): (ctx: Context) => string {
  return (ctx) => {
    ctx.set(name, value);
    return LONG;
  };
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.once("close", resolve));
}

function decoded({ headers, body }: ReceivedResponse): string {
  const coding = headers["content-encoding"];
  if (coding === "br") return brotliDecompressSync(body).toString();
  return coding === "gzip" ? gunzipSync(body).toString() : body.toString();
}

/** The response as soon as its head has arrived. */
async function begin(stack: Stack, coding: string, meanwhile = () => {}): Promise<http.IncomingMessage> {
  const request = http.get(stack.url, { agent: false, headers: { "accept-encoding": coding } });
  const arrived = once(request, "response");
  meanwhile();
  // By Node's documentation the event has one argument.
  const [response] = (await arrived) as [http.IncomingMessage];
  return response;
}

/** Returns when a count has not changed for a while. */
async function settled(count: () => number): Promise<void> {
  for (let before = -1; before !== count() || before === 0;) {
    before = count();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
