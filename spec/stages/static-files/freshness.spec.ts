import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdirSync, renameSync, truncateSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { CompressionLayer } from "../../../lib/stages/compression.js";
import { CorsLayer } from "../../../lib/stages/cors/cors.js";
import { SecurityHeaders } from "../../../lib/stages/security-headers/security-headers.js";
import type { Context } from "../../../lib/http/request/context.js";
import type { Next } from "../../../lib/http/middleware.js";
import { canCountDescriptors, openDescriptors, untilOpen } from "../../support/open-descriptors.js";
import type { Stack } from "../../support/stack.js";
import { MODIFIED, muchLater, StaticSite } from "../../support/static-site.js";

const FOREVER = "public, max-age=31536000, immutable";

describe("StaticFiles with caches, changes and other stages", () => {
  let site: StaticSite;
  StaticSite.forEachTest((fresh) => (site = fresh));

  describe("caching", () => {
    const rows: readonly (readonly [string, string, string])[] = [
      ["a hashed name of the build", "/build/assets/app-BX3kd9aZ.js", FOREVER],
      ["another name of the build", "/build/app.js", "no-cache"],
      ["a hashed name elsewhere", "/app-BX3kd9aZ.js", "no-cache"],
      ["a hashed name beside the build", "/builder/app-BX3kd9aZ.js", "no-cache"],
    ];

    for (const [title, path, cacheControl] of rows) {
      it(`has ${cacheControl} for ${title}`, async () => {
        site.put(path, "x");
        await using stack = await site.serve();

        const answer = await stack.ask(path);

        expect(answer.headers["cache-control"]).to.equal(cacheControl);
      });
    }

    it("depends on the manifest, if there is one", async () => {
      site.put("build/.vite/manifest.json", JSON.stringify({ "a.ts": { file: "assets/app-BX3kd9aZ.js" } }));
      site.put("build/assets/app-BX3kd9aZ.js", "x");
      site.put("build/assets/left-over12.js", "x");
      await using stack = await site.serve();

      const [listed, other] = [
        await stack.ask("/build/assets/app-BX3kd9aZ.js"),
        await stack.ask("/build/assets/left-over12.js"),
      ];

      expect([listed.headers["cache-control"], other.headers["cache-control"]]).to.deep.equal([FOREVER, "no-cache"]);
    });

    it("sets Cache-Control also on a 304", async () => {
      site.put("build/app-BX3kd9aZ.js", "x");
      await using stack = await site.serve();

      const answer = await stack.ask("/build/app-BX3kd9aZ.js", { headers: { "if-none-match": "*" } });

      expect([answer.status, answer.headers["cache-control"]]).to.deep.equal([304, FOREVER]);
    });

    it("accepts another prefix and another directory", async () => {
      const out = join(site.folder, "dist");
      mkdirSync(out);
      writeFileSync(join(out, "app-BX3kd9aZ.js"), "built");
      site.put("assets/shadowed.js", "x");
      await using stack = await site.serve({ prefix: "/assets/", buildDirectory: out });

      const [built, shadowed] = [await stack.ask("/assets/app-BX3kd9aZ.js"), await stack.ask("/assets/shadowed.js")];

      expect([built.text, built.headers["cache-control"]]).to.deep.equal(["built", FOREVER]);
      expect(shadowed.status).to.equal(404);
    });
  });

  describe("a file that changes", () => {
    it("is sent in its present state after many requests", async () => {
      await using stack = await site.serve({}, [], muchLater());

      const texts: string[] = [];
      for (let version = 1; version <= 5; version++) {
        site.put("a.txt", `version ${version}`, new Date(MODIFIED.getTime() + version));
        texts.push((await stack.ask("/a.txt")).text, (await stack.ask("/a.txt")).text);
      }

      expect(texts).to.deep.equal([1, 1, 2, 2, 3, 3, 4, 4, 5, 5].map((version) => `version ${version}`));
    });

    it("is sent in its present state when its times are set back", async () => {
      site.put("a.txt", "one");
      await using stack = await site.serve({}, [], muchLater());
      const texts = [(await stack.ask("/a.txt")).text];

      renameSync(site.put("b.txt", "two"), join(site.root, "a.txt"));
      texts.push((await stack.ask("/a.txt")).text);

      expect(texts).to.deep.equal(["one", "two"]);
    });

    it("is sent in its present state when only its content changes within one step of the file times", async () => {
      await using stack = await site.serve();

      for (let version = 100; version < 130; version++) {
        writeFileSync(join(site.root, "a.txt"), `version ${version}`);
        expect((await stack.ask("/a.txt")).text).to.equal(`version ${version}`);
      }
    });

    describe("all the time", () => {
      const LINE = "a line of a log\n";

      for (const [title, size] of [
        ["small", 1000],
        ["large", 20_000],
      ] as const) {
        it(`is sent in one of its states: ${title}`, async () => {
          const path = site.put("grows.txt", LINE.repeat(size));
          await using stack = await site.serve();
          using _growing = onEveryTurn(() => appendFileSync(path, LINE));

          const answers = await Promise.all(Array.from({ length: 10 }, () => stack.ask("/grows.txt")));

          for (const { status, headers, body, text } of answers) {
            expect([status, text.slice(0, LINE.length)]).to.deep.equal([200, LINE]);
            expect(text.replaceAll(LINE, "")).to.equal("");
            expect(body.length).to.be.greaterThan(LINE.length * size);
            expect(headers.etag).to.contain(`"${body.length.toString(16)}-`);
          }
          if (canCountDescriptors) await untilOpen(path, 0);
        });
      }

      it("is sent in an empty state too", async () => {
        const path = site.put("turns.txt", "");
        await using stack = await site.serve();
        let turn = 0;
        using _turning = onEveryTurn(() => utimesSync(path, MODIFIED, ++turn));

        const answer = await stack.ask("/turns.txt");

        expect([answer.status, answer.text]).to.deep.equal([200, ""]);
        if (canCountDescriptors) await untilOpen(path, 0);
      });

      it("is sent with HEAD, conditions and ranges", async () => {
        const path = site.put("grows.txt", LINE.repeat(1000));
        await using stack = await site.serve();
        using _growing = onEveryTurn(() => appendFileSync(path, LINE));

        const answers = [
          await stack.ask("/grows.txt", { method: "HEAD" }),
          await stack.ask("/grows.txt", { headers: { "if-none-match": "*" } }),
          await stack.ask("/grows.txt", { headers: { range: `bytes=0-${LINE.length - 1}` } }),
        ];

        expect(answers.map(({ status }) => status)).to.deep.equal([200, 304, 206]);
        expect(answers[2]?.text).to.equal(LINE);
        if (canCountDescriptors) await untilOpen(path, 0);
      });
    });

    it("is 404 after its deletion", async () => {
      const path = site.put("a.txt", "one");
      await using stack = await site.serve({}, [], muchLater());
      const before = await stack.ask("/a.txt");

      unlinkSync(path);

      expect([before.status, (await stack.ask("/a.txt")).status]).to.deep.equal([200, 404]);
    });

    it("is sent from a sibling while that exists", async () => {
      site.put("a.txt", "plain");
      await using stack = await site.serve();
      const ask = async (): Promise<unknown> =>
        (await stack.ask("/a.txt", { headers: { "accept-encoding": "br" } })).headers["content-encoding"];

      const seen = [await ask()];
      const sibling = site.put("a.txt.br", brotliCompressSync("plain"));
      seen.push(await ask());
      unlinkSync(sibling);
      seen.push(await ask());

      expect(seen).to.deep.equal([undefined, "br", undefined]);
    });
  });

  describe("a large file", () => {
    const SIZE = 64 * 1_048_576;
    let path = "";

    beforeEach(() => {
      path = site.put("large.bin", "");
      truncateSync(path, SIZE);
    });

    for (const [title, coding, layers] of [
      ["unchanged", "identity", []],
      ["compressed", "gzip", [new CompressionLayer()]],
    ] as const) {
      it(`that becomes shorter while it is sent, ${title}, cuts the connection`, async () => {
        const shrinking = site.put("shrinking.txt", "");
        // Random bytes: compressed text could be sent completely before the client reads.
        writeFileSync(shrinking, Buffer.alloc(SIZE, randomBytes(1_048_576)));
        await using stack = await site.serve({}, layers);
        using agent = keptConnections();
        const response = await begin(stack, "/shrinking.txt", { agent, headers: { "accept-encoding": coding } });
        await once(response, "readable");

        truncateSync(shrinking, 1000);
        const failure = await new Promise((resolve) => response.once("error", resolve).once("end", resolve).resume());

        expect([response.headers.connection, response.headers["content-encoding"] ?? "identity"]).to.deep.equal([
          "keep-alive",
          coding,
        ]);
        expect(failure).to.have.property("code", "ECONNRESET");
      });
    }

    it("closes its descriptor when the client leaves", async function () {
      if (!canCountDescriptors) this.skip();
      await using stack = await site.serve();
      const responses = await Promise.all(Array.from({ length: 10 }, () => begin(stack, "/large.bin")));
      expect(openDescriptors(path)).to.equal(10);

      for (const response of responses) response.on("error", () => {}).destroy();

      await untilOpen(path, 0);
    });

    it("closes its descriptor when it is sent", async function () {
      if (!canCountDescriptors) this.skip();
      await using stack = await site.serve();

      const answer = await stack.ask("/large.bin", { headers: { range: "bytes=0-2000000" } });

      expect(answer.body).to.have.length(2_000_001);
      await untilOpen(path, 0);
    });

    it("is not opened for a HEAD, a 304, a 412 or a 416", async function () {
      if (!canCountDescriptors) this.skip();
      await using stack = await site.serve();

      const statuses: number[] = [];
      for (const asking of [
        { method: "HEAD" },
        { headers: { "if-none-match": "*" } },
        { headers: { "if-match": '"x"' } },
        { headers: { range: `bytes=${SIZE}-` } },
      ]) {
        statuses.push((await stack.ask("/large.bin", asking)).status);
        expect(openDescriptors(path)).to.equal(0);
      }

      expect(statuses).to.deep.equal([200, 304, 412, 416]);
    });
  });

  describe("inside the stages", () => {
    it("is compressed by the compression stage without a sibling", async () => {
      site.put("a.txt", "the same again, ".repeat(1000));
      await using stack = await site.serve({}, [new CompressionLayer()]);

      const answer = await stack.ask("/a.txt", { headers: { "accept-encoding": "gzip" } });

      expect(gunzipSync(answer.body).toString()).to.equal("the same again, ".repeat(1000));
      expect(answer.headers).to.include({ "content-encoding": "gzip", vary: "Accept-Encoding" });
      expect(answer.headers).not.to.have.property("accept-ranges");
      expect(answer.headers.etag).to.match(/^W\/"/);
    });

    it("is compressed by the compression stage also when it is streamed", async () => {
      site.put("large.txt", "the same again, ".repeat(200_000));
      await using stack = await site.serve({}, [new CompressionLayer()]);

      const answer = await stack.ask("/large.txt", { headers: { "accept-encoding": "br" } });

      expect(brotliDecompressSync(answer.body).toString()).to.equal("the same again, ".repeat(200_000));
      expect(answer.headers).to.include({ "content-encoding": "br", "transfer-encoding": "chunked" });
    });

    it("has the same Vary in a 304 as in a 200, also as an image", async () => {
      site.put("a.txt", "the same again, ".repeat(1000));
      site.put("a.png", "the same again, ".repeat(1000));
      await using stack = await site.serve({}, [new CompressionLayer()]);

      for (const path of ["/a.txt", "/a.png"]) {
        const headers = { "accept-encoding": "gzip" };
        const full = await stack.ask(path, { headers });
        const short = await stack.ask(path, { headers: { ...headers, "if-none-match": full.headers.etag } });

        expect(short.status).to.equal(304);
        expect([short.headers.vary, short.headers.etag]).to.deep.equal([full.headers.vary, full.headers.etag]);
        expect(short.headers).not.to.have.any.keys("content-type", "content-length");
      }
    });

    it("has no length for HEAD that GET does not have", async () => {
      site.put("a.txt", "the same again, ".repeat(1000));
      await using stack = await site.serve({}, [new CompressionLayer()]);

      const { headers } = await stack.ask("/a.txt", { method: "HEAD", headers: { "accept-encoding": "gzip" } });

      expect(headers).to.include({ "content-type": "text/plain; charset=utf-8", vary: "Accept-Encoding" });
      expect(headers).not.to.have.any.keys("content-length", "accept-ranges");
    });

    for (const [title, bodyOf] of [
      ["the context", (ctx: Context): unknown => ctx.body],
      ["Koa's response", (ctx: Context): unknown => ctx.response.body],
    ] as const) {
      for (const [what, range, text] of [
        ["", undefined, "the same for all"],
        [", in part too", "bytes=4-7", "same"],
      ] as const) {
        it(`is not changed for other clients by a layer that changes the bytes of ${title}${what}`, async () => {
          site.put("a.txt", "the same for all");
          const changing = {
            async handle(ctx: Context, next: Next): Promise<void> {
              await next();
              if (ctx.get("x-change") === "1") (bodyOf(ctx) as Buffer).fill("X");
            },
          };
          await using stack = await site.serve({}, [changing], muchLater());
          const asking = range === undefined ? {} : { range };

          const texts: string[] = [];
          for (const change of ["1", "0", "1", "0"]) {
            texts.push((await stack.ask("/a.txt", { headers: { ...asking, "x-change": change } })).text);
          }

          const changed = "X".repeat(text.length);
          expect(texts).to.deep.equal([changed, text, changed, text]);
        });
      }
    }

    it("is not compressed twice", async () => {
      site.put("a.txt", "plain, ".repeat(1000));
      site.put("a.txt.gz", gzipSync("plain, ".repeat(1000)));
      await using stack = await site.serve({}, [new CompressionLayer()]);

      const answer = await stack.ask("/a.txt", { headers: { "accept-encoding": "gzip, br;q=0.1" } });

      expect(gunzipSync(answer.body).toString()).to.equal("plain, ".repeat(1000));
      expect(answer.headers).to.include({ "content-encoding": "gzip", vary: "Accept-Encoding" });
    });

    it("carries security headers and CORS, also as a 304, a 404, a 405, a 412 and a 416", async () => {
      site.put("a.txt", "a");
      await using stack = await site.serve({}, [
        new SecurityHeaders(),
        new CorsLayer({ origins: ["https://app.example"] }),
      ]);
      const origin = "https://app.example";

      const answers = [
        await stack.ask("/a.txt", { headers: { origin } }),
        await stack.ask("/a.txt", { headers: { origin, "if-none-match": "*" } }),
        await stack.ask("/b.txt", { headers: { origin } }),
        await stack.ask("/a.txt", { method: "PUT", headers: { origin } }),
        await stack.ask("/a.txt", { headers: { origin, "if-match": '"x"' } }),
        await stack.ask("/a.txt", { headers: { origin, range: "bytes=9-" } }),
      ];

      expect(answers.map(({ status }) => status)).to.deep.equal([200, 304, 404, 405, 412, 416]);
      for (const { headers } of answers) {
        expect(headers).to.include({ "x-frame-options": "DENY", "access-control-allow-origin": origin });
        expect(headers.vary).to.contain("Origin");
      }
    });
  });
});

/** The response as soon as its head has arrived. */
async function begin(
  stack: Stack,
  path: string,
  asking: http.RequestOptions = { agent: false },
): Promise<http.IncomingMessage> {
  const request = http.get(`${stack.url}${path}`, asking);
  // By Node's documentation the event has one argument.
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  return response;
}

/** A client with persistent connections. Others send `Connection: close` and accept any end of the connection as the end of the response. */
function keptConnections(): http.Agent & Disposable {
  const agent = new http.Agent({ keepAlive: true });
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

/** Changes the file between two calls of the file system. */
function onEveryTurn(change: () => void): Disposable {
  let isOver = false;
  const step = (): void => {
    if (isOver) return;
    change();
    setImmediate(step);
  };
  step();
  return { [Symbol.dispose]: () => void (isOver = true) };
}
