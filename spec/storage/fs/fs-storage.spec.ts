import { expect } from "chai";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { FsStorage, type FsStorageOptions } from "../../../lib/storage/fs/fs-storage.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { obeysStorage } from "../../../lib/testing/contracts/obeys-storage.js";
import { findCode } from "../find-code.js";
import { temporaryFolder } from "../temporary-folder.js";

async function started(root: string, options: Omit<FsStorageOptions, "root"> = {}): Promise<FsStorage> {
  const storage = new FsStorage({ root, ...options });
  await storage.start();
  return storage;
}

describe("FsStorage", function () {
  this.timeout(60_000);
  it("obeys the contract of a storage, and leaves nothing in its directory", async () => {
    using folder = temporaryFolder();
    const storage = await started(folder.path);

    await obeysStorage(storage);

    await storage.stop();
    expect(folder.remaining()).to.deep.equal([]);
  });

  it("works before start, as after serve and callback, once its directory exists", async () => {
    using folder = temporaryFolder();
    const storage = new FsStorage({ root: folder.path });

    await storage.put("a/b", "text");

    expect(readFileSync(join(folder.path, "a/b"), "utf8")).to.equal("text");
  });

  it("keeps a file as it is under its key, and its description beside it", async () => {
    using folder = temporaryFolder();
    const storage = await started(folder.path);
    await storage.put("plain", "1");
    await storage.put("dir/typed.png", "2", { type: "image/png" });

    const names = folder.remaining();

    expect(names.filter((name) => !name.includes(".~"))).to.deep.equal(["dir", "dir/typed.png", "plain"]);
    expect(names.filter((name) => name.includes(".~"))).to.have.length(1);
  });

  it("gives a file that was copied in by hand, as private bytes", async () => {
    using folder = temporaryFolder();
    const storage = await started(folder.path);
    writeFileSync(join(folder.path, "page.html"), "<p>");

    const { type, visibility, size } = (await storage.stat("page.html")) ?? {};

    expect({ type, visibility, size }).to.deep.equal({
      type: "application/octet-stream",
      visibility: "private",
      size: 3,
    });
  });

  it("treats a damaged description as a missing one", async () => {
    using folder = temporaryFolder();
    const storage = await started(folder.path);
    await storage.put("a", "1", { type: "image/png", visibility: "public" });
    const description = folder.remaining().find((name) => name.startsWith(".~")) ?? "";

    for (const text of ["", "{", "null", '{"type":"x"}', '{"type":"a/b","visibility":"public","metadata":{"a":7}}']) {
      writeFileSync(join(folder.path, description), text);
      const { type, visibility } = (await storage.stat("a")) ?? {};
      expect({ type, visibility }).to.deep.equal({ type: "application/octet-stream", visibility: "private" });
    }
  });

  it("follows no symbolic link, neither to read nor to write", async () => {
    using outside = temporaryFolder();
    using folder = temporaryFolder();
    const storage = await started(folder.path);
    writeFileSync(join(outside.path, "secret"), "secret");
    symlinkSync(outside.path, join(folder.path, "linked"));
    symlinkSync(join(outside.path, "secret"), join(folder.path, "file"));
    mkdirSync(join(folder.path, "deep"));
    symlinkSync("../linked", join(folder.path, "deep/again"));

    for (const key of ["linked/secret", "file", "deep/again/secret"]) {
      expect(await storage.stat(key), key).to.equal(undefined);
      expect(await findCode(storage.get(key)), key).to.equal("E_STORAGE_MISSING");
      expect(await findCode(storage.copy(key, "copy")), key).to.equal("E_STORAGE_MISSING");
      await storage.delete(key);
    }
    for (const key of ["linked/new", "linked/deep/new", "deep/again/new"])
      expect(await findCode(storage.put(key, "x")), key).to.equal("E_STORAGE_CONFLICT");
    await storage.put("source", "x");
    expect(await findCode(storage.move("source", "linked/moved"))).to.equal("E_STORAGE_CONFLICT");
    expect((await storage.list()).files.map(({ key }) => key)).to.deep.equal(["source"]);

    // A link in the place of the file is replaced; its target stays.
    await storage.put("file", "new");
    expect(lstatSync(join(folder.path, "file")).isFile()).to.equal(true);
    expect(outside.remaining()).to.deep.equal(["secret"]);
    expect(readFileSync(join(outside.path, "secret"), "utf8")).to.equal("secret");
  });

  it("refuses a file below a file, and a file in the place of a folder", async () => {
    using folder = temporaryFolder();
    const storage = await started(folder.path);
    await storage.put("a/b", "1");
    const before = folder.remaining();

    expect(await findCode(storage.put("a", "2"))).to.equal("E_STORAGE_CONFLICT");
    expect(await findCode(storage.put("a/b/c", "2"))).to.equal("E_STORAGE_CONFLICT");
    expect(await findCode(storage.copy("a/b", "a"))).to.equal("E_STORAGE_CONFLICT");

    expect(folder.remaining()).to.deep.equal(before);
    await storage.delete("a/b");
    await storage.put("a", "3");
    expect(folder.remaining()).to.deep.equal(["a"]);
  });

  it("leaves nothing behind when the source fails in the middle", async () => {
    using folder = temporaryFolder();
    const storage = await started(folder.path);
    const source = new Readable({
      read() {
        if (this.readableFlowing === null) this.push("x".repeat(100_000));
        else this.destroy(new Error("the client left"));
      },
    });
    let failure: unknown;

    await storage.put("new/folder/file", source).catch((error: unknown) => (failure = error));

    expect(failure).to.have.property("message", "the client left");
    expect(folder.remaining()).to.deep.equal([]);
  });

  it("stores content that is flushed while it is written", async () => {
    using folder = temporaryFolder();
    const storage = await started(folder.path);
    const [given, kept] = [createHash("sha256"), createHash("sha256")];
    const source = function* (): Iterable<Buffer> {
      for (let at = 0; at < 72; at++) {
        const chunk = Buffer.alloc(1_048_576, at);
        given.update(chunk);
        yield chunk;
      }
    };

    await storage.put("large", Readable.from(source(), { objectMode: false }));

    for await (const chunk of (await storage.get("large")).body) kept.update(chunk as Buffer);
    expect(kept.digest("hex")).to.equal(given.digest("hex"));
  });

  it("lets many writers of one key and one folder finish, with one file at the end", async () => {
    using folder = temporaryFolder();
    const storage = await started(folder.path);

    await Promise.all(
      Array.from({ length: 40 }, async (_each, at) => {
        await storage.put("folder/file", `content ${at}`, { type: "text/plain", metadata: { at: String(at) } });
        await storage.put(`folder/${at}`, "x");
        await storage.delete(`folder/${at}`);
        const { file, body } = await storage.get("folder/file");
        const text = String(Buffer.concat(await body.toArray()));
        expect(text).to.equal(`content ${file.metadata["at"] ?? ""}`);
      }),
    );

    expect((await storage.list()).files.map(({ key }) => key)).to.deep.equal(["folder/file"]);
  });

  it("lets one of several callers move a file, and has none for the others", async () => {
    using folder = temporaryFolder();
    const storage = await started(folder.path);
    const targets = ["a/x", "b/y", "c"];
    for (let turn = 0; turn < 20; turn++) {
      await storage.put("from", "text", { type: "text/plain" });

      const codes = await Promise.all(targets.map((to) => findCode(storage.move("from", to))));

      const won = targets.filter((_, at) => codes[at] === "no error");
      expect([won.length, codes.filter((code) => code === "E_STORAGE_MISSING").length]).to.deep.equal([1, 2]);
      expect((await storage.stat(won[0] ?? ""))?.type).to.equal("text/plain");
      await storage.delete(won[0] ?? "");
      expect(folder.remaining()).to.deep.equal([]);
    }
  });

  it("keeps a folder for a file that is stored or moved while another file of it is deleted", async function () {
    this.timeout(120_000);
    using folder = temporaryFolder();
    const storage = await started(folder.path);

    await Promise.all(
      Array.from({ length: 30 }, async (_each, at) => {
        for (let turn = 0; turn < 20; turn++) {
          await storage.put(`folder/deep/put ${at}`, "x");
          await storage.move(`folder/deep/put ${at}`, `folder/other/moved ${at}`);
          await storage.delete(`folder/other/moved ${at}`);
        }
      }),
    );

    expect(folder.remaining()).to.deep.equal([]);
  });

  it("distinguishes versions that two processes write at the same moment", async () => {
    using folder = temporaryFolder();
    const clock = new FakeClock();
    const [one, other] = [await started(folder.path, { clock }), await started(folder.path, { clock })];
    // One process keeps the modification time of the other, as the same microsecond would.
    const options = { type: "image/png", visibility: "public" } as const;
    const first = await one.put("key", "1111", options);
    const { atime, mtime } = lstatSync(join(folder.path, "key"));
    await other.put("from", "2222", options);
    utimesSync(join(folder.path, "from"), atime, mtime);
    await one.put("key", "1111", options);
    utimesSync(join(folder.path, "key"), atime, mtime);

    const second = await other.move("from", "key", { visibility: "public" });

    expect(second.etag).not.to.equal(first.etag);
    expect(await other.stat("key")).to.deep.include({ visibility: "public", etag: second.etag });
  });

  it("removes old temporary files and lost descriptions at the start, and nothing else", async () => {
    using folder = temporaryFolder();
    const first = await started(folder.path);
    await first.put("dir/kept.png", "1", { type: "image/png" });
    const old = new Date(Date.now() - 7_200_000);
    const lost = [".~aa.tmp", "dir/.~bb.tmp", "dir/.~00-11.json"];
    for (const name of lost) writeFileSync(join(folder.path, name), "x");
    for (const name of folder.remaining()) if (name !== "dir") utimesSync(join(folder.path, name), old, old);
    writeFileSync(join(folder.path, "dir/.~young.tmp"), "x");
    await first.put("dir/kept.png", "1", { type: "image/png" });

    const second = await started(folder.path);
    await second.swept;

    const left = folder.remaining();
    expect(left).to.include("dir/.~young.tmp");
    for (const name of lost) expect(left).not.to.include(name);
    expect((await second.stat("dir/kept.png"))?.type).to.equal("image/png");
  });

  it("does not start where its directory cannot be used, and says which", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "file"), "x");
    const root = join(folder.path, "file/below");
    let failure: unknown;

    await started(root).catch((error: unknown) => (failure = error));

    expect(failure).to.have.property("code", "E_STORAGE_UNAVAILABLE");
    expect(failure).to.have.property("message").include(root);
  });

  it("refuses a root that is not a path", () => {
    for (const root of ["", "a\0b", 7]) {
      // A JavaScript caller may pass a number.
      expect(() => new FsStorage({ root: root as string }))
        .to.throw()
        .with.property("code", "E_STORAGE_ROOT");
    }
  });

  it("puts no path and no key into the errors of the file system", async () => {
    using folder = temporaryFolder();
    const storage = new FsStorage({ root: join(folder.path, "missing") });
    let failure: unknown;

    await storage.put("canary4711secret", "x").catch((error: unknown) => (failure = error));

    const { message, cause } = failure as Error;
    expect(failure).to.have.property("code", "E_STORAGE_UNAVAILABLE");
    expect(`${message} ${String(cause)}`)
      .to.include("ENOENT")
      .and.not.include("canary")
      .and.not.include(folder.path);
  });
});
