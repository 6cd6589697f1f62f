import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import * as fc from "fast-check";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { StaticFiles } from "../../../lib/stages/static-files/static-files.js";
import type { StaticFilesOptions } from "../../../lib/stages/static-files/options.js";
import { obeysLayerContract } from "../../../lib/testing/contracts/obeys-layer-contract.js";
import { errorOf } from "../../support/error-of.js";
import { withoutPrivileges } from "../../support/without-privileges.js";
import { LAST_MODIFIED, MODIFIED, muchLater, SECRET, StaticSite } from "../../support/static-site.js";

describe("StaticFiles", () => {
  let site: StaticSite;
  StaticSite.forEachTest((fresh) => (site = fresh));

  it("obeys the layer contract: a missing file goes on, and a file is a response", () => {
    site.put("hello.txt", "hello");

    return obeysLayerContract(new StaticFiles({ root: site.root }), { refused: { path: "/hello.txt" } });
  });

  it("sends a file with its type, its length and its validators", async () => {
    site.put("hello.txt", "hello");
    await using stack = await site.serve();

    const answer = await stack.ask("/hello.txt?v=1");

    expect([answer.status, answer.text]).to.deep.equal([200, "hello"]);
    expect(answer.headers).to.include({
      "content-type": "text/plain; charset=utf-8",
      "content-length": "5",
      "accept-ranges": "bytes",
      "cache-control": "no-cache",
      etag: `W/"5-${MODIFIED.getTime().toString(16)}"`,
      "last-modified": LAST_MODIFIED,
      vary: "Accept-Encoding",
    });
  });

  it("responds to HEAD with the same head and no body", async () => {
    site.put("hello.txt", "hello");
    await using stack = await site.serve();

    const [get, head] = [await stack.ask("/hello.txt"), await stack.ask("/hello.txt", { method: "HEAD" })];

    expect([head.status, head.text]).to.deep.equal([200, ""]);
    expect({ ...head.headers, date: "" }).to.deep.equal({ ...get.headers, date: "" });
  });

  it("sends an empty file", async () => {
    site.put("empty.txt", "");
    await using stack = await site.serve();

    const answer = await stack.ask("/empty.txt");

    expect([answer.status, answer.text, answer.headers["content-length"]]).to.deep.equal([200, "", "0"]);
  });

  for (const size of [1, 131_072, 131_073, 1_048_576, 1_048_577, 3_000_000]) {
    it(`sends ${size} bytes unchanged`, async () => {
      const bytes = Buffer.alloc(size, "0123456789abcdef!");
      site.put("file.bin", bytes);
      await using stack = await site.serve({}, [], muchLater());

      for (let round = 0; round < 2; round++) {
        const answer = await stack.ask("/file.bin");

        expect(answer.headers["content-length"]).to.equal(String(size));
        expect(answer.body.equals(bytes)).to.equal(true);
      }
    });
  }

  describe("the type", () => {
    const rows: readonly (readonly [string, string])[] = [
      ["a.html", "text/html; charset=utf-8"],
      ["a.css", "text/css; charset=utf-8"],
      ["a.js", "text/javascript; charset=utf-8"],
      ["a.mjs", "text/javascript; charset=utf-8"],
      ["A.TXT", "text/plain; charset=utf-8"],
      ["a.json", "application/json"],
      ["a.webmanifest", "application/manifest+json"],
      ["a.svg", "image/svg+xml"],
      ["a.png", "image/png"],
      ["a.avif", "image/avif"],
      ["a.woff2", "font/woff2"],
      ["a.wasm", "application/wasm"],
      ["a.pdf", "application/pdf"],
      ["a.unheard-of", "application/octet-stream"],
      ["plain", "application/octet-stream"],
    ];

    for (const [name, type] of rows) {
      it(`of ${name} is ${type}`, async () => {
        site.put(name, "x");
        await using stack = await site.serve();

        expect((await stack.ask(`/${name}`)).headers["content-type"]).to.equal(type);
      });
    }
  });

  describe("a path that is not served", () => {
    const paths = [
      "/",
      "/missing.txt",
      "/hello.txt/",
      "/hello.txt/more",
      "/folder",
      "/folder/",
      "//hello.txt",
      "/folder//inner.txt",
      "/./hello.txt",
      "/folder/../hello.txt",
      "/../secret.txt",
      "/../../../../../../etc/passwd",
      "/%2e%2e/secret.txt",
      "/%2E%2E/secret.txt",
      "/.%2e/secret.txt",
      "/..%2fsecret.txt",
      "/..%2Fsecret.txt",
      "/%2e%2e%2fsecret.txt",
      "/..%5csecret.txt",
      "/..\\secret.txt",
      "/%252e%252e/secret.txt",
      "/%c0%ae%c0%ae/secret.txt",
      "/%u002e%u002e/secret.txt",
      "/hello.txt%00.png",
      "/hello.txt%00",
      "/folder%2finner.txt",
      "/folder\\inner.txt",
      "/.env",
      "/%2eenv",
      "/.git/config",
      "/folder/.hidden",
      "/.well-known/.hidden",
      "/out.txt",
      "/outside/secret.txt",
      "/self/secret.txt",
      "/loop",
      "/pipe",
      `/${"a".repeat(300)}`,
      `/${"a/".repeat(3000)}b`,
    ];

    // Node makes no named pipe, and a process for each test takes longer than the test: each site has a link to one pipe.
    let pipe: string;
    before(() => {
      pipe = join(mkdtempSync(join(tmpdir(), "pipe-")), "pipe");
      execFileSync("mkfifo", [pipe]);
    });
    after(() => rmSync(dirname(pipe), { recursive: true }));

    beforeEach(() => {
      site.put("hello.txt", "hello");
      site.put("folder/inner.txt", "inner");
      site.put("folder/.hidden", SECRET);
      site.put(".env", SECRET);
      site.put(".git/config", SECRET);
      site.put(".well-known/.hidden", SECRET);
      symlinkSync("../secret.txt", join(site.root, "out.txt"));
      symlinkSync(site.folder, join(site.root, "outside"));
      symlinkSync("loop", join(site.root, "loop"));
      linkSync(pipe, join(site.root, "pipe"));
    });

    for (const path of paths) {
      it(`is a 404 that no cache stores: ${path.length > 60 ? `${path.slice(0, 20)}… (${path.length} characters)` : path}`, async () => {
        await using stack = await site.serve();

        const text = await stack.raw(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);

        expect(text).to.match(/^HTTP\/1\.1 404 /);
        expect(text).to.contain("Cache-Control: no-store\r\n");
        expect(text).not.to.match(/etag|last-modified|nobody may|inner|hello/i);
      });
    }

    it("in any spelling reads no file outside the root", async () => {
      await using stack = await site.serve();
      const pieces = [
        "/",
        "..",
        ".",
        "%2e",
        "%2f",
        "%5c",
        "\\",
        "secret.txt",
        "folder",
        "out.txt",
        "outside",
        "%00",
        "%25",
        ";",
        "?",
      ];
      const spelled = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 10 });

      await fc.assert(
        fc.asyncProperty(spelled, async (parts) => {
          const text = await stack.raw(`GET /${parts.join("")} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);

          expect(text).to.match(/^HTTP\/1\.1 404 /);
          expect(text).not.to.contain(SECRET);
        }),
        { numRuns: 300 },
      );
    });
  });

  it("serves the well-known directory", async () => {
    site.put(".well-known/security.txt", "Contact: mailto:a@b.example");
    await using stack = await site.serve();

    expect((await stack.ask("/.well-known/security.txt")).text).to.match(/^Contact/);
  });

  it("serves a name that needs encoding", async () => {
    site.put("déjà vu 100%.txt", "again");
    await using stack = await site.serve();

    expect((await stack.ask("/d%C3%A9j%C3%A0%20vu%20100%25.txt")).text).to.equal("again");
  });

  it("is 404 for a file that the process may not read", async () => {
    chmodSync(site.folder, 0o755);
    chmodSync(site.put("private.txt", SECRET), 0o000);
    chmodSync(site.put("public.txt", "hello"), 0o644);
    await using stack = await site.serve();

    const [secret, open] = await withoutPrivileges(async () => [
      await stack.ask("/private.txt"),
      await stack.ask("/public.txt"),
    ]);

    expect(secret?.status).to.equal(404);
    expect(open?.status).to.equal(200);
  });

  describe("a link", () => {
    it("to a file inside the root is followed", async () => {
      site.put("real/hello.txt", "hello");
      symlinkSync("real", join(site.root, "alias"));
      await using stack = await site.serve();

      expect((await stack.ask("/alias/hello.txt")).text).to.equal("hello");
    });

    it("that is the root is followed, also when it changes", async () => {
      const [blue, green, current] = ["blue", "green", "current"].map((name) => join(site.folder, name));
      for (const place of [blue, green]) {
        mkdirSync(String(place));
        writeFileSync(join(String(place), "a.txt"), String(place));
      }
      symlinkSync(String(blue), String(current));
      await using stack = await site.serve({ root: String(current) });

      const before = await stack.ask("/a.txt");
      symlinkSync(String(green), `${String(current)}.new`);
      renameSync(`${String(current)}.new`, String(current));
      const after = await stack.ask("/a.txt");

      expect([before.text, after.text]).to.deep.equal([blue, green]);
    });

    it("that replaces a file and leads out of the root is not followed", async () => {
      const path = site.put("a.txt", "mine");
      await using stack = await site.serve();
      await stack.ask("/a.txt");

      unlinkSync(path);
      symlinkSync(join(site.folder, "secret.txt"), path);

      expect((await stack.ask("/a.txt")).status).to.equal(404);
    });

    it("that replaces a directory and leads out of the root is not followed", async () => {
      site.put("d/secret.txt", "mine");
      await using stack = await site.serve();
      await stack.ask("/d/secret.txt");

      renameSync(join(site.root, "d"), join(site.root, "e"));
      symlinkSync(site.folder, join(site.root, "d"));

      expect((await stack.ask("/d/secret.txt")).status).to.equal(404);
    });

    it("to a directory beside the root, whose name starts with that of the root, is not followed", async () => {
      mkdirSync(`${site.root}-private`);
      writeFileSync(join(`${site.root}-private`, "a.txt"), SECRET);
      symlinkSync(`${site.root}-private`, join(site.root, "d"));
      await using stack = await site.serve();

      expect((await stack.ask("/d/a.txt")).status).to.equal(404);
    });
  });

  it("finds no file when the root is missing", async () => {
    await using stack = await site.serve({ root: join(site.folder, "nowhere") });

    expect((await stack.ask("/a.txt")).status).to.equal(404);
  });

  describe("other methods", () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      it(`${method} is a 405 for a file and a 404 for a missing file`, async () => {
        site.put("a.txt", "a");
        await using stack = await site.serve();

        const [file, none] = [await stack.ask("/a.txt", { method }), await stack.ask("/b.txt", { method })];

        expect([file.status, file.headers.allow, file.text]).to.deep.equal([405, "GET, HEAD", ""]);
        expect([none.status, none.headers.allow]).to.deep.equal([404, undefined]);
        expect(file.headers).not.to.have.any.keys("cache-control", "etag", "content-type");
      });
    }
  });

  describe("a setting that cannot work", () => {
    const rows: readonly (readonly [string, StaticFilesOptions, string])[] = [
      ["an empty root", { root: "" }, "E_STATIC_ROOT"],
      ["an empty build directory", { buildDirectory: "" }, "E_STATIC_ROOT"],
      ["a prefix without a slash", { prefix: "build" }, "E_STATIC_PREFIX"],
      ["the root as a prefix", { prefix: "/" }, "E_STATIC_PREFIX"],
      ["a prefix that leads up", { prefix: "/../x" }, "E_STATIC_PREFIX"],
      ["a prefix with a doubled slash", { prefix: "/a//" }, "E_STATIC_PREFIX"],
      ["an empty prefix", { prefix: "" }, "E_STATIC_PREFIX"],
      ["an encoded prefix", { prefix: "/a%20b" }, "E_STATIC_PREFIX"],
    ];

    for (const [title, options, code] of rows) {
      it(`is refused: ${title}`, () => {
        const error = errorOf(() => new StaticFiles(options));

        expect(error).to.be.instanceOf(FrameworkError).with.property("code", code);
      });
    }
  });
});
