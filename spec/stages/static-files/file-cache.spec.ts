import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { StaticFile } from "../../../lib/stages/static-files/file.js";
import { FileCache } from "../../../lib/stages/static-files/file-cache.js";

describe("FileCache", () => {
  it("returns the bytes for the same state of the same file only", () => {
    const [file, other] = [fileOf(10), fileOf(10)];
    const cache = new FileCache(100);

    cache.reserve(file, 0);
    cache.put(file, Buffer.alloc(10, "a"));

    expect(cache.find(file, 1)?.toString()).to.equal("aaaaaaaaaa");
    expect(cache.find(other, 1)).to.equal(undefined);
  });

  it("lets one caller at a time read a file", () => {
    const file = fileOf(10);
    const cache = new FileCache(100);

    const reservations = [cache.reserve(file, 0), cache.reserve(file, 0)];

    expect(reservations).to.deep.equal([true, false]);
    expect(cache.find(file, 0)).to.equal(undefined);
  });

  it("contains at most its budget of bytes", () => {
    const cache = new FileCache(25);

    const reservations = [fileOf(10), fileOf(10), fileOf(10), fileOf(5), fileOf(1)].map((file) =>
      cache.reserve(file, 0),
    );

    expect(reservations).to.deep.equal([true, true, false, true, false]);
  });

  it("evicts files that were not requested recently", () => {
    const [idle, busy, fresh] = [fileOf(10), fileOf(10), fileOf(10)];
    const cache = new FileCache(20);
    for (const file of [idle, busy]) {
      cache.reserve(file, 0);
      cache.put(file, Buffer.alloc(10));
    }
    cache.find(busy, 9000);

    const reservations = [cache.reserve(fresh, 9999), cache.reserve(fresh, 11_000)];

    expect(reservations).to.deep.equal([false, true]);
    expect([cache.find(idle, 11_000), cache.find(busy, 11_000)?.length]).to.deep.equal([undefined, 10]);
  });

  it("does not evict files that are being read", () => {
    const cache = new FileCache(10);
    cache.reserve(fileOf(10), 0);

    expect(cache.reserve(fileOf(10), 100_000)).to.equal(false);
  });

  it("regains the space of a dropped file once", () => {
    const [first, second] = [fileOf(10), fileOf(10)];
    const cache = new FileCache(10);
    cache.reserve(first, 0);

    cache.drop(first);
    cache.drop(first);
    cache.put(first, Buffer.alloc(10));

    expect([cache.reserve(second, 0), cache.reserve(fileOf(10), 0)]).to.deep.equal([true, false]);
    expect(cache.find(first, 0)).to.equal(undefined);
  });
});

function fileOf(size: number): StaticFile {
  const stats = statSync(fileURLToPath(import.meta.url));
  stats.size = size;
  return new StaticFile(stats, "");
}
