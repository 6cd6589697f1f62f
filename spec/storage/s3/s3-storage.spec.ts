import { expect } from "chai";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { S3Storage, type S3StorageOptions } from "../../../lib/storage/s3/s3-storage.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { obeysStorage } from "../../../lib/testing/contracts/obeys-storage.js";
import { BUCKET, CREDENTIALS, S3Server } from "../../support/s3-server.js";
import { Gate } from "../../support/gate.js";
import { eventsOf } from "../../support/events-of.js";
import { until } from "../../support/until.js";
import { findCode } from "../find-code.js";

const MIB = 1_048_576;
const PUT = /^PUT /;

function chunks(count: number, size: number): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < count; at++) yield Buffer.alloc(size, at);
    })(),
    { objectMode: false },
  );
}

describe("S3Storage", function () {
  this.timeout(60_000);
  let server: S3Server;
  const made: S3Storage[] = [];
  const storageOf = (options: Partial<S3StorageOptions> = {}): S3Storage => {
    const storage = new S3Storage({ bucket: BUCKET, endpoint: server.url, credentials: CREDENTIALS, ...options });
    made.push(storage);
    return storage;
  };

  before(async () => {
    server = await S3Server.start();
  });

  beforeEach(() => {
    server.requests.length = 0;
    server.intercept = undefined;
  });

  after(async () => {
    for (const storage of made) storage.stop();
    await server[Symbol.asyncDispose]();
  });

  it("is refused with a wrong key, and starts with the right one", async () => {
    const wrong = storageOf({ credentials: { ...CREDENTIALS, secretAccessKey: "canary4711secret" } });
    let failure: unknown;

    await wrong.start().catch((error: unknown) => (failure = error));

    const { message, cause } = failure as Error;
    expect(failure).to.have.property("code", "E_STORAGE_UNAVAILABLE");
    expect(message).to.include(BUCKET).and.include("403");
    expect(message + String(cause)).not.to.include("canary");
    await storageOf().start();
  });

  it("obeys the contract of a storage", () => obeysStorage(storageOf()));

  it("sends content of a known size in one request, and other content in parts", async () => {
    const storage = storageOf();
    await storage.put("known", chunks(12, MIB), { size: 12 * MIB });
    const known = server.requests.filter((each) => PUT.test(each));
    server.requests.length = 0;

    await storage.put("unknown", chunks(12, MIB));

    const unknown = server.requests.filter((each) => PUT.test(each));
    expect(known).to.have.length(1);
    expect(unknown.map((each) => /partNumber=(\d+)/.exec(each)?.[1])).to.have.members(["1", "2", "3"]);
    expect((await storage.bytes("unknown", 12 * MIB)).equals(await storage.bytes("known", 12 * MIB))).to.equal(true);
  });

  it("ends an upload in parts when its source fails, its signal aborts or a part is refused", async () => {
    const storage = storageOf();
    const failing = async function* (): AsyncIterable<Buffer> {
      for (let at = 0; at < 7; at++) yield Buffer.alloc(MIB);
      throw Object.assign(new Error("broken"), { code: "BROKEN" });
    };
    const abort = new AbortController();
    const endless = async function* (): AsyncIterable<Buffer> {
      for (let at = 0; at < 8; at++) yield Buffer.alloc(MIB);
      abort.abort(Object.assign(new Error("enough"), { code: "ENOUGH" }));
      await new Promise(() => {});
    };
    const ended = (): number => server.requests.filter((each) => /^DELETE .*uploadId=/.test(each)).length;

    expect(await findCode(storage.put("a", failing()))).to.equal("BROKEN");
    expect(ended()).to.equal(1);
    expect(await findCode(storage.put("a", endless(), { signal: abort.signal }))).to.equal("ENOUGH");
    expect(ended()).to.equal(2);
    server.intercept = ({ url = "" }, response) => {
      if (!url.includes("partNumber=2")) return false;
      response.writeHead(400).end();
      return true;
    };
    expect(await findCode(storage.put("a", chunks(12, MIB)))).to.equal("E_STORAGE_UNAVAILABLE");
    expect(ended()).to.equal(3);
    expect(await storage.stat("a")).to.equal(undefined);
    expect(server.openUploads()).to.deep.equal([]);
  });

  it("sends at most four parts at once", async () => {
    const storage = storageOf();
    const counts = { open: 0, most: 0 };
    const fourth = new Gate();
    server.intercept = (request, response) => {
      if (request.url?.includes("partNumber=") !== true) return false;
      counts.open += 1;
      counts.most = Math.max(counts.most, counts.open);
      if (counts.open === 4) fourth.open();
      const end = async (): Promise<void> => {
        await once(request.resume(), "end");
        await fourth.passed;
        counts.open -= 1;
        response.writeHead(200, { ETag: '"0"' }).end();
      };
      void end();
      return true;
    };

    await findCode(storage.put("many", chunks(50, MIB)));

    expect(counts).to.deep.equal({ open: 0, most: 4 });
  });

  it("deletes an upload that was created after its signal had aborted", async () => {
    const storage = storageOf();
    const abort = new AbortController();
    server.intercept = ({ method, url = "" }, response) => {
      if (method !== "POST" || !url.includes("uploads")) return false;
      const end = response.end.bind(response);
      response.end = ((text: string) => {
        abort.abort(Object.assign(new Error("enough"), { code: "ENOUGH" }));
        return end(text, "utf8");
      }) as typeof response.end;
      return false;
    };

    expect(await findCode(storage.put("late", chunks(12, MIB), { signal: abort.signal }))).to.equal("ENOUGH");

    expect(server.openUploads()).to.deep.equal([]);
    expect(server.requests.filter((each) => /^DELETE .*uploadId=/.test(each))).to.have.length(1);
  });

  it("has stored an upload in parts that was completed, although the response was lost", async () => {
    const storage = storageOf();
    let lost = 0;
    server.intercept = ({ method, url = "" }, response) => {
      if (method !== "POST" || !url.includes("uploadId=") || lost > 0) return false;
      lost++;
      // The service completes the upload, and the connection ends before the answer.
      response.end = (() => response.destroy()) as typeof response.end;
      return false;
    };

    const { etag } = await storage.put("lost", chunks(12, MIB));

    expect(lost).to.equal(1);
    expect(server.requests.filter((each) => /^POST .*uploadId=/.test(each))).to.have.length(2);
    expect(etag).to.match(/^"[\da-f]{32}-3"$/);
    expect((await storage.stat("lost"))?.size).to.equal(12 * MIB);
    expect(server.requests.filter((each) => each.startsWith("DELETE "))).to.deep.equal([]);
  });

  it("fails if the service has forgotten an upload that was not completed", async () => {
    const storage = storageOf({ client: { maxAttempts: 1 } });
    await storage.put("forgotten", "another content");
    server.intercept = ({ method, url = "" }, response) => {
      if (method !== "POST" || !url.includes("uploadId=")) return false;
      response.writeHead(404).end("<Error><Code>NoSuchUpload</Code></Error>");
      return true;
    };

    expect(await findCode(storage.put("forgotten", chunks(12, MIB)))).to.equal("E_STORAGE_UNAVAILABLE");
    expect((await storage.stat("forgotten"))?.size).to.equal("another content".length);
  });

  it("explains a 403, for a missing object and at the start", async () => {
    const storage = storageOf();
    server.intercept = (_, response) => {
      response.writeHead(403).end();
      return true;
    };
    const errors = await Promise.all(
      [storage.start(), storageOf().stat("canary"), storageOf().bytes("canary", 10)].map((each) =>
        Promise.resolve(each).then(
          () => new Error("none"),
          (error: Error) => error,
        ),
      ),
    );

    for (const { message, cause } of errors)
      expect(`${message} ${String(cause)}`)
        .to.include("403")
        .and.include("s3:ListBucket")
        .and.not.include("canary");
  });

  it("warns of parts that it cannot delete, without their key", async () => {
    const storage = storageOf({ client: { maxAttempts: 1 } });
    server.intercept = ({ method, url = "" }, response) => {
      if (method !== "DELETE" && !url.includes("partNumber=2")) return false;
      response.writeHead(500).end();
      return true;
    };

    const events = await eventsOf(() => findCode(storage.put("canary4711secret", chunks(12, MIB))));

    const warnings = events.filter((line) => line.startsWith("WARN framework::storage:"));
    expect(warnings).to.have.length(1);
    expect(warnings.join()).to.include("could not be deleted").and.include("500").and.not.include("canary");
  });

  it("sends no checksum in trailers to a service that is not AWS", async () => {
    const seen: string[] = [];
    server.intercept = ({ headers }) => {
      seen.push(...Object.keys(headers).filter((name) => /trailer|checksum/.test(name)));
      return false;
    };
    const storage = storageOf();

    await storage.put("a", "text");
    await storage.put("a", chunks(3, 1000), { size: 3000 });
    await storage.delete("a");

    expect(seen).to.deep.equal([]);
  });

  it("signs downloads and uploads that the service checks", async () => {
    const storage = storageOf();
    await storage.put("scans/ä b", "text", { type: "text/plain" });
    const url = await storage.signedUrl("scans/ä b", { expiresMs: 60_000, name: "a.txt" });
    const upload = await storage.signedUpload("new", { expiresMs: 60_000, type: "image/png", size: 4 });
    const send = async (body: string, type = "image/png", to = upload.url): Promise<number> =>
      (await fetch(to, { method: "PUT", body, headers: { "content-type": type } })).status;

    const given = await fetch(url);

    expect([given.status, await given.text()]).to.deep.equal([200, "text"]);
    expect(given.headers.get("content-disposition")).to.equal('attachment; filename="a.txt"');
    for (const changed of [url.replace("scans", "scanz"), url.replace("Expires=60", "Expires=61"), `${url}0`])
      expect((await fetch(changed)).status, changed).to.equal(403);
    expect(await send("12345")).to.equal(403);
    expect(await send("1234", "text/html")).to.equal(403);
    expect(await send("1234", "image/png", upload.url.replace("/new?", "/old?"))).to.equal(403);
    expect(await send("1234")).to.equal(200);
    expect((await storage.stat("new"))?.type).to.equal("image/png");
  });

  it("refuses an expired URL", async () => {
    const clock = new FakeClock(Date.now() - 120_000);
    const storage = storageOf({ clock });
    await storage.put("a", "text");

    const url = await storage.signedUrl("a", { expiresMs: 60_000 });

    expect((await fetch(url)).status).to.equal(403);
  });

  it("gives public URLs only with a base", async () => {
    expect(storageOf({ publicBase: "https://cdn.example/x/" }).url("a b/c")).to.equal("https://cdn.example/x/a%20b/c");
    expect(() => storageOf().url("a"))
      .to.throw()
      .with.property("code", "E_STORAGE_PUBLIC_BASE");
  });

  it("marks public files for the service only with the option acl", async () => {
    const seen: unknown[] = [];
    server.intercept = ({ headers }) => {
      seen.push(headers["x-amz-acl"]);
      return false;
    };

    await storageOf().put("a", "x", { visibility: "public" });
    await storageOf({ acl: true }).put("a", "x", { visibility: "public" });
    await storageOf({ acl: true }).put("a", "x");

    expect(seen).to.deep.equal([undefined, "public-read", undefined]);
  });

  it("waits for a silent service only until its timeout, and names no key", async () => {
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const storage = storageOf({ endpoint, timeoutMs: 50, client: { maxAttempts: 1 } });
    let failure: unknown;

    await storage.put("canary4711secret", "canary4711secret").catch((error: unknown) => (failure = error));

    silent.close();
    const { message, cause } = failure as Error;
    expect(failure).to.have.property("code", "E_STORAGE_UNAVAILABLE");
    expect(message + String(cause)).not.to.include("canary");
  });

  it("bounds its start on the clock", async () => {
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const clock = new FakeClock();
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    let failure: unknown;

    const starting = storageOf({ endpoint, clock })
      .start()
      .catch((error: unknown) => (failure = error));
    clock.advance(10_000);
    await starting;

    silent.close();
    expect(failure).to.have.property("message").include("does not respond");
  });

  it("reports the errors of the service without its text", async () => {
    const storage = storageOf({ client: { maxAttempts: 1 } });
    const rows: readonly (readonly [status: number, code: string, expected: string])[] = [
      [403, "AccessDenied", "E_STORAGE_UNAVAILABLE"],
      [404, "NoSuchBucket", "E_STORAGE_UNAVAILABLE"],
      [500, "InternalError", "E_STORAGE_UNAVAILABLE"],
      [503, "SlowDown", "E_STORAGE_UNAVAILABLE"],
      [507, "InsufficientStorage", "E_STORAGE_FULL"],
      [400, "QuotaExceeded", "E_STORAGE_FULL"],
    ];
    for (const [status, code, expected] of rows) {
      server.intercept = (request, response) => {
        request.resume();
        const text = `<Error><Code>${code}</Code><Message>canary4711secret</Message><Key>canary4711secret</Key></Error>`;
        response.writeHead(status, { "content-type": "application/xml" }).end(text);
        return true;
      };
      let failure: unknown;
      await storage.put("canary4711secret", "x").catch((error: unknown) => (failure = error));
      expect(failure, code).to.have.property("code", expected);
      const { message, cause, stack } = failure as Error;
      expect(`${message} ${String(cause)} ${stack ?? ""}`)
        .to.include(code)
        .and.not.include("canary");
    }
  });

  it("reads a file again after an aborted download", async () => {
    const storage = storageOf();
    await storage.put("large", chunks(16, MIB));
    const { body } = await storage.get("large");
    await once(body, "readable");

    body.destroy();

    await until(() => body.closed);
    expect(await storage.bytes("large", 16 * MIB)).to.have.length(16 * MIB);
  });

  it("refuses invalid settings, without their values", () => {
    for (const wrong of [
      { bucket: "" },
      { bucket: "a/b" },
      { endpoint: "canary" },
      { publicBase: "/x" },
      { timeoutMs: 0 },
    ])
      expect(() => storageOf(wrong), JSON.stringify(wrong))
        .to.throw()
        .with.property("code", "E_STORAGE_S3");
  });
});
