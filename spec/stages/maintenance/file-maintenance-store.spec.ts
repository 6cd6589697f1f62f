import { FileMaintenanceStore, type MaintenanceState } from "@stagecraft/framework/maintenance";
import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { errorOf } from "../../support/error-of.js";
import { newFolder } from "../../support/new-folder.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { withoutPrivileges } from "../../support/without-privileges.js";

const DOWN: MaintenanceState = { isEngaged: true, since: 1_764_000_000_000, by: "deploy@web-1", retryAfter: 30 };
const TEXT = '{"engaged":true,"since":"2025-11-24T16:00:00.000Z","by":"deploy@web-1","retryAfter":30}\n';

const codeOf = async (work: Promise<unknown>) => Object(await rejectionOf(work)).code as unknown;

describe("FileMaintenanceStore", () => {
  it("has no state without its file, and the written one afterwards", async () => {
    using folder = newFolder();
    const store = new FileMaintenanceStore(join(folder.path, "down.json"));

    const before = await store.read();
    await store.write(DOWN);
    const after = await store.read();
    await store.write({ isEngaged: false, since: 0, by: "deploy@web-2" });

    expect(before).to.equal(undefined);
    expect(after).to.deep.equal(DOWN);
    expect(await store.read()).to.deep.equal({ isEngaged: false, since: 0, by: "deploy@web-2", retryAfter: undefined });
    expect(readdirSync(folder.path)).to.deep.equal(["down.json"]);
  });

  it("writes a file that every user can read, whatever the mask of the process is", async () => {
    using folder = newFolder();
    const store = new FileMaintenanceStore(join(folder.path, "down.json"));
    const mask = process.umask(0o077);

    try {
      await store.write(DOWN);
    } finally {
      process.umask(mask);
    }

    expect(statSync(store.path).mode & 0o777).to.equal(0o644);
    expect(readFileSync(store.path, "utf8")).to.equal(TEXT);
  });

  it("reads a whole state at every moment of many writes", async () => {
    using folder = newFolder();
    const store = new FileMaintenanceStore(join(folder.path, "down.json"));
    await store.write(DOWN);
    const writing = (async () => {
      for (let at = 0; at < 200; at++) await store.write({ ...DOWN, by: "x".repeat(at) });
      return "written";
    })();

    let reads = 0;
    for (const next = async () => ((await store.read())?.since === DOWN.since ? "whole" : "broken"); ; reads++) {
      const what = await Promise.race([writing, next()]);
      expect(what).to.not.equal("broken");
      if (what === "written") break;
    }

    expect(reads).to.be.above(10);
  });

  const wrong: readonly (readonly [title: string, content: string])[] = [
    ["garbage", "\u0000\u0001 down"],
    ["half of a state", TEXT.slice(0, 40)],
    ["no content", ""],
    ["another value", "[true]"],
    ["null", "null"],
    ["a state without a time", '{"engaged":true,"by":"deploy@web-1"}'],
    ["a time that is none", '{"engaged":true,"since":"soon","by":"deploy@web-1"}'],
    ["a state of the wrong type", '{"engaged":"no","since":"2025-11-24T16:00:00Z","by":"deploy@web-1"}'],
    ["a Retry-After that is no number of seconds", TEXT.replace("30", "-1")],
    ["a state that is too large", TEXT.replace("deploy", "d".repeat(5000))],
  ];
  for (const [title, content] of wrong) {
    it(`refuses ${title}, and replaces it`, async () => {
      using folder = newFolder();
      const store = new FileMaintenanceStore(join(folder.path, "down.json"));
      writeFileSync(store.path, content);

      expect(await codeOf(store.read())).to.equal("E_MAINTENANCE_STATE");
      await store.write(DOWN);

      expect(await store.read()).to.deep.equal(DOWN);
    });
  }

  const others: readonly (readonly [title: string, create: (path: string) => void])[] = [
    ["a folder", (path) => mkdirSync(path)],
    ["a symbolic link to a file", (path) => (writeFileSync(`${path}.real`, TEXT), symlinkSync(`${path}.real`, path))],
    ["a symbolic link to nothing", (path) => symlinkSync(`${path}.real`, path)],
    ["a symbolic link to /dev/zero", (path) => symlinkSync("/dev/zero", path)],
    ["a pipe", (path) => execFileSync("mkfifo", [path])],
  ];
  for (const [title, create] of others) {
    it(`neither reads nor replaces ${title}, and leaves no file behind`, async () => {
      using folder = newFolder();
      const store = new FileMaintenanceStore(join(folder.path, "down.json"));
      create(store.path);
      const before = readdirSync(folder.path);

      const errors = [await rejectionOf(store.read()), await rejectionOf(store.write(DOWN))];

      for (const error of errors) {
        expect(error).to.include({ code: "E_MAINTENANCE_FILE" });
        expect(error.message)
          .to.include(store.path)
          .and.match(/symbolic link|no regular file/);
      }
      expect(readdirSync(folder.path)).to.deep.equal(before);
    });
  }

  it("is away without its folder", async () => {
    using folder = newFolder();
    const store = new FileMaintenanceStore(join(folder.path, "missing", "down.json"));

    const errors = [await rejectionOf(store.read()), await rejectionOf(store.write(DOWN))];

    for (const { message } of errors) expect(message).to.include(store.path).and.include("create its folder");
  });

  it("reads in a folder that it cannot write, and names the rights that a write needs", async () => {
    using folder = newFolder();
    const store = new FileMaintenanceStore(join(folder.path, "down.json"));
    await store.write(DOWN);
    chmodSync(folder.path, 0o555);

    await withoutPrivileges(async () => {
      expect(await store.read()).to.deep.equal(DOWN);
      const error = await rejectionOf(store.write({ ...DOWN, isEngaged: false }));
      expect(error).to.include({ code: "E_MAINTENANCE_FILE" });
      expect(error.message).to.include(store.path).and.include("give the rights");
    });

    chmodSync(folder.path, 0o755);
    expect(readdirSync(folder.path)).to.deep.equal(["down.json"]);
  });

  it("has no state again when the file is removed", async () => {
    using folder = newFolder();
    const store = new FileMaintenanceStore(join(folder.path, "down.json"));
    await store.write(DOWN);

    rmSync(store.path);

    expect(await store.read()).to.equal(undefined);
  });

  it("shows a user without control characters, and cut", async () => {
    using folder = newFolder();
    const store = new FileMaintenanceStore(join(folder.path, "down.json"));

    await store.write({ ...DOWN, by: `\u001B[2J\n${"\uD800".repeat(1000)}` });

    expect((await store.read())?.by)
      .to.match(/^ \[2J /)
      .and.have.length(255);
  });

  for (const path of ["", "a\0b", undefined]) {
    it(`refuses the path ${JSON.stringify(path)}`, () => {
      const error = errorOf(() => new FileMaintenanceStore(path as string));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_MAINTENANCE_FILE");
    });
  }
});
