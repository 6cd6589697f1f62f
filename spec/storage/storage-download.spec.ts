/** Downloads, signed URLs and uploads over a real socket, for the double and for the disk. */
import { expect } from "chai";
import { once } from "node:events";
import { connect } from "node:net";
import {
  Application,
  type Context,
  Controller,
  Get,
  Injectable,
  Module,
  provide,
  Put,
} from "../../lib/entries/main.js";
import { expectNoLeak, FakeClock, testApp, type TestApp } from "../../lib/entries/testing.js";
import { MemoryStorage, Storage } from "../../lib/entries/storage.js";
import { FsStorage } from "../../lib/entries/storage-fs.js";
import { until } from "../support/until.js";
import { temporaryFolder } from "./temporary-folder.js";

@Injectable()
@Controller("/")
class Files {
  readonly failures: unknown[] = [];

  constructor(private readonly files: Storage) {}

  @Put("/scans/{id}")
  async receive(ctx: Context<"id">) {
    const type = ctx.get("content-type") || "application/octet-stream";
    try {
      const { size } = await this.files.put(`scans/${ctx.params.id}`, ctx.req, { type });
      return { size };
    } catch (error) {
      this.failures.push(error);
      throw error;
    }
  }

  @Get("/scans/{id}")
  show({ params }: Context<"id">) {
    return this.files.download(`scans/${params.id}`, { name: "Übersicht.pdf" });
  }

  @Get("/files/{*key}")
  serve(ctx: Context<"key">) {
    return this.files.serve(ctx);
  }

  @Put("/files/{*key}")
  store(ctx: Context<"key">) {
    return this.files.serve(ctx);
  }
}

const START = Date.UTC(2026, 4, 1);
const URLS = { base: "http://shop.example/files", key: Buffer.alloc(32, 7) };

const pathOf = (url: string): string => url.slice(new URL(url).origin.length);

interface Stand extends AsyncDisposable {
  readonly app: TestApp;
  readonly storage: Storage;
  readonly clock: FakeClock;
  /** Everything in the folder of a storage on the disk. */
  remaining(): readonly string[];
}

const DRIVERS: Readonly<Record<string, (root: string, clock: FakeClock) => Storage>> = {
  MemoryStorage: (_root, clock) => new MemoryStorage({ clock, urls: URLS }),
  FsStorage: (root, clock) => new FsStorage({ root, clock, urls: URLS }),
};

for (const [name, make] of Object.entries(DRIVERS)) {
  const stand = async (): Promise<Stand> => {
    const folder = temporaryFolder();
    const clock = new FakeClock(START);
    const storage = make(folder.path, clock);

    @Module({ controllers: [Files], providers: [provide(Storage).useFactory(() => storage)] })
    class FilesModule {}

    const app = await testApp(Application.create(FilesModule).errorMapping().accessLog().metrics());
    const dispose = async (): Promise<void> => {
      await app[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    };
    return { app, storage, clock, remaining: () => folder.remaining(), [Symbol.asyncDispose]: dispose };
  };

  describe(`a download from a ${name}`, function () {
    this.timeout(60_000);
    it("is an attachment in a sandbox, with its validators", async () => {
      await using at = await stand();
      await at.storage.put("scans/7", "0123456789", { type: "text/html" });

      const { status, headers } = await at.app.get("/scans/7");

      expect(status).to.equal(200);
      const names = [
        "content-type",
        "content-disposition",
        "content-length",
        "x-content-type-options",
        "accept-ranges",
      ];
      expect(names.map((each) => headers.get(each))).to.deep.equal([
        "text/html",
        "attachment; filename=\"_bersicht.pdf\"; filename*=UTF-8''%C3%9Cbersicht.pdf",
        "10",
        "nosniff",
        "bytes",
      ]);
      expect(headers.get("content-security-policy")).to.include("sandbox").and.include("default-src 'none'");
      expect(headers.get("cache-control")).to.equal("private, no-cache");
      expect(headers.get("etag")).to.match(/^"[^"]+"$/);
      expect(headers.get("last-modified")).to.equal(new Date(START).toUTCString());
    });

    it("respects ranges and conditions", async () => {
      await using at = await stand();
      const { etag } = await at.storage.put("scans/7", "0123456789");
      const date = new Date(START).toUTCString();
      const rows: readonly (readonly [
        headers: Record<string, string>,
        status: number,
        body: string,
        range?: string,
      ])[] = [
        [{ range: "bytes=0-3" }, 206, "0123", "bytes 0-3/10"],
        [{ range: "bytes=7-" }, 206, "789", "bytes 7-9/10"],
        [{ range: "bytes=-2" }, 206, "89", "bytes 8-9/10"],
        [{ range: "bytes=5-500" }, 206, "56789", "bytes 5-9/10"],
        [{ range: `bytes=5-${"9".repeat(400)}` }, 206, "56789", "bytes 5-9/10"],
        [{ range: `bytes=-${"9".repeat(400)}` }, 206, "0123456789", "bytes 0-9/10"],
        [{ range: "bytes=3-2" }, 200, "0123456789"],
        [{ range: "bytes=-" }, 200, "0123456789"],
        [{ range: "bytes=+1-2" }, 200, "0123456789"],
        [{ range: "bytes=0x1-2" }, 200, "0123456789"],
        [{ range: "bytes=0-1,4-5" }, 200, "0123456789"],
        [{ range: "lines=0-1" }, 200, "0123456789"],
        [{ range: "bytes=0-1", "if-range": etag }, 206, "01", "bytes 0-1/10"],
        [{ range: "bytes=0-1", "if-range": date }, 206, "01", "bytes 0-1/10"],
        [{ range: "bytes=0-1", "if-range": '"other"' }, 200, "0123456789"],
        [{ range: "bytes=0-1", "if-range": `W/${etag}` }, 200, "0123456789"],
        [{ "if-none-match": etag }, 304, ""],
        [{ "if-none-match": '"other"' }, 200, "0123456789"],
        [{ "if-modified-since": date }, 304, ""],
        [{ "if-match": etag }, 200, "0123456789"],
      ];

      for (const [headers, status, body, range] of rows) {
        const response = await at.app.get("/scans/7", { headers });
        const shown = JSON.stringify(headers);
        expect([response.status, await response.text()], shown).to.deep.equal([status, body]);
        expect(response.headers.get("content-range"), shown).to.equal(range ?? null);
        expect(response.headers.get("etag"), shown).to.equal(etag);
      }
    });

    it("is a 416 for a range behind the end, a 412 for a wrong precondition, and a 404 without a file", async () => {
      await using at = await stand();
      await at.storage.put("scans/7", "0123456789");

      const behind = await at.app.get("/scans/7", { headers: { range: "bytes=10-" } });
      for (const range of ["bytes=-0", `bytes=${"9".repeat(400)}-`])
        expect((await at.app.get("/scans/7", { headers: { range } })).status, range.slice(0, 20)).to.equal(416);
      const wrong = await at.app.get("/scans/7", { headers: { "if-match": '"other"' } });
      const missing = await at.app.get("/scans/8");

      expect([behind.status, behind.headers.get("content-range")]).to.deep.equal([416, "bytes */10"]);
      expect([wrong.status, missing.status]).to.deep.equal([412, 404]);
      for (const { headers } of [behind, wrong, missing])
        expect(headers.get("content-type")).to.equal("application/problem+json");
    });

    it("has the head of GET for HEAD", async () => {
      await using at = await stand();
      await at.storage.put("scans/7", "0123456789", { type: "image/png" });

      const response = await at.app.request("/scans/7", { method: "HEAD" });

      const { headers } = response;
      expect([response.status, headers.get("content-length"), headers.get("content-type")]).to.deep.equal([
        200,
        "10",
        "image/png",
      ]);
      expect(await response.text()).to.equal("");
    });

    it("has no body for an empty file", async () => {
      await using at = await stand();
      await at.storage.put("scans/7", "");

      const response = await at.app.get("/scans/7");

      expect([response.status, response.headers.get("content-length"), await response.text()]).to.deep.equal([
        200,
        "0",
        "",
      ]);
    });
  });

  describe(`a signed URL of a ${name}`, function () {
    this.timeout(60_000);
    it("serves the file until its deadline", async () => {
      await using at = await stand();
      await at.storage.put("scans/ä b", "text");
      const path = pathOf(await at.storage.signedUrl("scans/ä b", { expiresMs: 60_000, name: "a.txt" }));

      const before = await at.app.get(path);
      at.clock.advance(60_000);
      const last = await at.app.get(path, { headers: { range: "bytes=1-2" } });
      at.clock.advance(1);
      const after = await at.app.get(path);

      expect([before.status, await before.text()]).to.deep.equal([200, "text"]);
      expect(before.headers.get("content-disposition")).to.equal('attachment; filename="a.txt"');
      expect([last.status, await last.text()]).to.deep.equal([206, "ex"]);
      expect(after.status).to.equal(403);
    });

    it("is refused with 403 when one byte changes", async () => {
      await using at = await stand();
      await at.storage.put("a", "text");
      await at.storage.put("b", "other");
      const path = pathOf(await at.storage.signedUrl("a", { expiresMs: 60_000 }));
      const expires = /expires=(\d+)/.exec(path)?.[1] ?? "";

      for (const changed of [
        path.replace("/files/a?", "/files/b?"),
        path.replace(expires, String(Number(expires) + 1)),
        path.replace("attachment", "inlinement"),
        `${path}0`,
        path.slice(0, -1),
        path.replace("signature=", "Signature="),
      ])
        expect((await at.app.get(changed)).status, changed).to.equal(403);
    });

    it("is not needed for a public file, and a private file gives the same 404 as a missing one", async () => {
      await using at = await stand();
      await at.storage.put("private", "x");
      await at.storage.put("logo.png", "x", { type: "image/png", visibility: "public" });
      await at.storage.put("page.html", "x", { type: "text/html", visibility: "public" });

      expect((await at.app.get("/files/private")).status).to.equal(404);
      expect((await at.app.get("/files/missing")).status).to.equal(404);
      expect((await at.app.get("/files/..%2fprivate")).status).to.equal(400);
      const logo = await at.app.get(pathOf(at.storage.url("logo.png")));
      expect([logo.status, logo.headers.get("content-disposition")]).to.deep.equal([200, "inline"]);
      const page = await at.app.get("/files/page.html");
      expect([page.status, page.headers.get("content-disposition")]).to.deep.equal([200, "attachment"]);
      await at.storage.put("drawing", "x", { type: "image/SVG+xml", visibility: "public" });
      const drawing = await at.app.get("/files/drawing");
      expect(drawing.headers.get("content-disposition")).to.equal("attachment");
    });

    it("stores one upload of the signed type and size", async () => {
      await using at = await stand();
      const upload = await at.storage.signedUpload("new/file", { expiresMs: 60_000, type: "image/png", size: 4 });
      const path = pathOf(upload.url);
      const send = async (body: string, type = "image/png", method = "PUT"): Promise<number> =>
        (await at.app.request(path, { method, body, headers: { "content-type": type } })).status;

      expect(await send("12345")).to.equal(403);
      expect(await send("1234", "text/html")).to.equal(403);
      expect((await at.app.request("/files/new/file", { method: "PUT", body: "1234" })).status).to.equal(403);
      expect((await at.app.request(path.replace("new/", "old/"), { method: "PUT", body: "1234" })).status).to.equal(
        403,
      );
      expect((await at.storage.list()).files).to.deep.equal([]);
      expect(await send("1234")).to.equal(204);
      expect((await at.storage.stat("new/file"))?.type).to.equal("image/png");
      at.clock.advance(60_001);
      expect(await send("1234")).to.equal(403);
    });
  });

  describe(`an upload to a ${name}`, function () {
    this.timeout(60_000);
    it("leaves nothing behind if the client leaves in the middle", async () => {
      await using at = await stand();
      const { port } = new URL(at.app.url);
      const socket = connect(Number(port), "127.0.0.1");
      await once(socket, "connect");
      socket.write("PUT /scans/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
      socket.write("x".repeat(100_000));
      await until(() => socket.writableLength === 0);

      socket.destroy();

      const { failures } = at.app.resolve(Files);
      await until(() => failures.length > 0);
      expect(failures[0]).to.have.property("code", "E_CLIENT_GONE");
      expect((await at.storage.list()).files).to.deep.equal([]);
      expect(at.remaining()).to.deep.equal([]);
    });

    it("shows neither keys nor content in logs, spans, metrics and errors", async () => {
      const canary = "canary4711secret";
      await using at = await stand();
      await at.storage.put("scans/canary", canary, { metadata: { note: canary } });
      // Keys are data: an application makes them from names of persons. The path of a request is the application's own.
      const { storage } = at;
      for (const work of [
        () => storage.put(`${canary}/a`, canary),
        () => storage.put(`${canary}/a/b`, canary),
        () => storage.get(`${canary}/missing`),
        () => storage.put(`${canary}//`, "x"),
        () => storage.bytes(`${canary}/a`, 1),
        () => storage.list(canary),
        () => storage.move(`${canary}/a`, `${canary}/c`),
        () => storage.delete(`${canary}/c`),
      ])
        await work().catch((error: unknown) => {
          const { message, cause, stack } = error as Error;
          expect(`${message} ${String(cause)} ${stack ?? ""}`).not.to.include(canary);
        });

      await expectNoLeak(at.app, canary);
      expect(at.app.logs.transcript()).to.include("framework::storage");
    });
  });
}
