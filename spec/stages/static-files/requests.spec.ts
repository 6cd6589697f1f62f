import { symlinkSync, unlinkSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import * as fc from "fast-check";
import { LAST_MODIFIED, MODIFIED, StaticSite } from "../../support/static-site.js";

describe("StaticFiles with conditions, ranges and encodings", () => {
  let site: StaticSite;
  StaticSite.forEachTest((fresh) => (site = fresh));

  describe("conditions", () => {
    it("that are true give a 304 with the validators and no body", async () => {
      site.put("a.txt", "a");
      await using stack = await site.serve();
      const { headers } = await stack.ask("/a.txt");

      const answers = [
        await stack.ask("/a.txt", { headers: { "if-none-match": headers.etag } }),
        await stack.ask("/a.txt", { headers: { "if-modified-since": LAST_MODIFIED } }),
        await stack.ask("/a.txt", { method: "HEAD", headers: { "if-none-match": "*" } }),
        await stack.ask("/a.txt", { headers: { "if-none-match": headers.etag, range: "bytes=0-0" } }),
      ];

      for (const answer of answers) {
        expect([answer.status, answer.text]).to.deep.equal([304, ""]);
        expect(answer.headers).to.include({
          etag: headers.etag,
          "last-modified": LAST_MODIFIED,
          "cache-control": "no-cache",
          vary: "Accept-Encoding",
        });
        expect(answer.headers).not.to.have.any.keys("content-type", "content-length", "accept-ranges");
      }
    });

    it("never have a Last-Modified that lies in the future, where the clock of the writer ran ahead", async () => {
      site.put("a.txt", "a", new Date(Date.now() + 86_400_000));
      await using stack = await site.serve();

      const { headers } = await stack.ask("/a.txt");
      const again = await stack.ask("/a.txt", { headers: { "if-modified-since": headers.date } });

      expect(Date.parse(String(headers["last-modified"]))).to.be.at.most(Date.parse(String(headers.date)));
      expect(again.status).to.equal(304);
    });

    it("that are false give a 412 without a body", async () => {
      site.put("a.txt", "a");
      await using stack = await site.serve();

      const answer = await stack.ask("/a.txt", { headers: { "if-unmodified-since": "Sat, 28 Feb 2026 12:00:00 GMT" } });

      expect([answer.status, answer.text]).to.deep.equal([412, ""]);
      expect(answer.headers).not.to.have.any.keys("cache-control", "etag", "content-type");
    });
  });

  describe("ranges", () => {
    for (const size of [10, 2_000_000]) {
      it(`of ${size} bytes are sent as 206, small file or large`, async () => {
        const bytes = Buffer.from(Array.from({ length: size }, (_each, at) => at % 251));
        site.put("a.txt", bytes);
        await using stack = await site.serve();

        const answer = await stack.ask("/a.txt", { headers: { range: `bytes=${size - 7}-${size - 4}` } });

        expect(answer.status).to.equal(206);
        expect(answer.headers).to.include({
          "content-range": `bytes ${size - 7}-${size - 4}/${size}`,
          "content-length": "4",
          "content-type": "text/plain; charset=utf-8",
          "last-modified": LAST_MODIFIED,
        });
        expect(answer.body.equals(bytes.subarray(size - 7, size - 3))).to.equal(true);
      });
    }

    it("outside the file give a 416 with the size", async () => {
      site.put("a.txt", "0123456789");
      await using stack = await site.serve();

      const answer = await stack.ask("/a.txt", { headers: { range: "bytes=10-" } });

      expect([answer.status, answer.text, answer.headers["content-range"]]).to.deep.equal([416, "", "bytes */10"]);
      expect(answer.headers).not.to.have.any.keys("cache-control", "etag", "content-type");
    });

    const whole: readonly (readonly [string, http.OutgoingHttpHeaders])[] = [
      ["several", { range: "bytes=0-1,3-4" }],
      ["thousands of them", { range: `bytes=${"0-,".repeat(3000)}0-` }],
      ["another unit", { range: "lines=0-1" }],
      ["an If-Range of another date", { range: "bytes=0-1", "if-range": "Sat, 28 Feb 2026 12:00:00 GMT" }],
      ["an If-Range by the weak tag", { range: "bytes=0-1", "if-range": `W/"a-${MODIFIED.getTime().toString(16)}"` }],
    ];
    for (const [title, headers] of whole) {
      it(`are ignored, and the whole file is sent: ${title}`, async () => {
        site.put("a.txt", "0123456789");
        await using stack = await site.serve();

        const answer = await stack.ask("/a.txt", { headers });

        expect([answer.status, answer.text]).to.deep.equal([200, "0123456789"]);
        expect(answer.headers).not.to.have.property("content-range");
      });
    }

    it("with an If-Range of the exact date are sent", async () => {
      site.put("a.txt", "0123456789");
      await using stack = await site.serve();

      const answer = await stack.ask("/a.txt", { headers: { range: "bytes=0-1", "if-range": LAST_MODIFIED } });

      expect([answer.status, answer.text]).to.deep.equal([206, "01"]);
    });

    it("are sent for GET only", async () => {
      site.put("a.txt", "0123456789");
      await using stack = await site.serve();

      const answer = await stack.ask("/a.txt", { method: "HEAD", headers: { range: "bytes=0-1" } });

      expect([answer.status, answer.headers["content-length"]]).to.deep.equal([200, "10"]);
    });

    it("together equal the file", async () => {
      const bytes = Buffer.alloc(300_000, "0123456789abcdef!");
      site.put("a.bin", bytes);
      await using stack = await site.serve();

      await fc.assert(
        fc.asyncProperty(fc.nat(299_998), async (cut) => {
          const parts = await Promise.all(
            [`bytes=0-${cut}`, `bytes=${cut + 1}-`].map((range) => stack.ask("/a.bin", { headers: { range } })),
          );

          expect(Buffer.concat(parts.map(({ body }) => body)).equals(bytes)).to.equal(true);
        }),
        { numRuns: 20 },
      );
    });
  });

  describe("precompressed siblings", () => {
    const CONTENT = "body { color: red }".repeat(100);

    beforeEach(() => {
      site.put("a.css", CONTENT);
      site.put("a.css.br", brotliCompressSync(CONTENT));
      site.put("a.css.gz", gzipSync(CONTENT));
    });

    for (const [coding, tag, decode] of [
      ["br", "-br", brotliDecompressSync],
      ["gzip", "-gz", gunzipSync],
    ] as const) {
      it(`are sent as ${coding} to a client that accepts it, with the type of the file and their own tag`, async () => {
        await using stack = await site.serve();

        const plain = await stack.ask("/a.css");
        const answer = await stack.ask("/a.css", { headers: { "accept-encoding": coding } });

        expect(answer.headers).to.include({
          "content-type": "text/css; charset=utf-8",
          "content-encoding": coding,
          "content-length": String(answer.body.length),
          vary: "Accept-Encoding",
        });
        expect(answer.headers.etag).to.match(new RegExp(`^W/"[0-9a-f]+-[0-9a-f]+${tag}"$`));
        expect(answer.headers.etag).not.to.equal(plain.headers.etag);
        expect(decode(answer.body).toString()).to.equal(CONTENT);
      });

      it(`give a 304 to a client that has them as ${coding}`, async () => {
        await using stack = await site.serve();
        const headers = { "accept-encoding": coding };
        const { etag } = (await stack.ask("/a.css", { headers })).headers;

        const [same, plain] = [
          await stack.ask("/a.css", { headers: { ...headers, "if-none-match": etag } }),
          await stack.ask("/a.css", { headers: { "if-none-match": etag } }),
        ];

        expect([same.status, same.headers.etag, same.headers.vary]).to.deep.equal([304, etag, "Accept-Encoding"]);
        expect(plain.status).to.equal(200);
      });
    }

    const choices: readonly (readonly [string, string, string | undefined])[] = [
      ["br with equal weights", "gzip, br", "br"],
      ["the coding with more weight", "gzip, br;q=0.5", "gzip"],
      ["no coding that the client refuses", "br;q=0, gzip;q=0", undefined],
      ["the file for a client that prefers it", "identity, br;q=0.5", undefined],
      ["the file for unknown codings", "zstd, deflate", undefined],
    ];
    for (const [title, accepted, coding] of choices) {
      it(`are chosen by the preference of the client: ${title}`, async () => {
        await using stack = await site.serve();

        const answer = await stack.ask("/a.css", { headers: { "accept-encoding": accepted } });

        expect(answer.headers["content-encoding"]).to.equal(coding);
        expect(answer.headers.vary).to.equal("Accept-Encoding");
      });
    }

    it("respond to HEAD with the head of GET", async () => {
      await using stack = await site.serve();
      const headers = { "accept-encoding": "br" };

      const [get, head] = [
        await stack.ask("/a.css", { headers }),
        await stack.ask("/a.css", { method: "HEAD", headers }),
      ];

      expect({ ...head.headers, date: "" }).to.deep.equal({ ...get.headers, date: "" });
    });

    it("that are older than the file are not sent", async () => {
      site.put("a.css.br", brotliCompressSync("old"), new Date(MODIFIED.getTime() - 1000));
      await using stack = await site.serve();

      const answer = await stack.ask("/a.css", { headers: { "accept-encoding": "br" } });

      expect([answer.headers["content-encoding"], answer.text]).to.deep.equal([undefined, CONTENT]);
    });

    it("of a missing file are not sent", async () => {
      unlinkSync(join(site.root, "a.css"));
      await using stack = await site.serve();

      expect((await stack.ask("/a.css", { headers: { "accept-encoding": "br" } })).status).to.equal(404);
    });

    it("that lead out of the root are not sent", async () => {
      unlinkSync(join(site.root, "a.css.br"));
      symlinkSync(join(site.folder, "secret.txt"), join(site.root, "a.css.br"));
      await using stack = await site.serve();

      const answer = await stack.ask("/a.css", { headers: { "accept-encoding": "br" } });

      expect([answer.headers["content-encoding"], answer.text]).to.deep.equal([undefined, CONTENT]);
    });

    it("are not used for a range, which is a range of the file", async () => {
      await using stack = await site.serve();

      const answer = await stack.ask("/a.css", { headers: { "accept-encoding": "br", range: "bytes=0-3" } });

      expect([answer.status, answer.text]).to.deep.equal([206, "body"]);
      expect(answer.headers).not.to.have.property("content-encoding");
    });

    it("are sent without Accept-Ranges", async () => {
      await using stack = await site.serve();

      const answer = await stack.ask("/a.css", { headers: { "accept-encoding": "br" } });

      expect(answer.headers).not.to.have.property("accept-ranges");
    });
  });
});
