import { expect } from "chai";
import { MemoryStorage } from "../../lib/storage/memory-storage.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { obeysStorage } from "../../lib/testing/contracts/obeys-storage.js";
import { findCode } from "./find-code.js";

describe("MemoryStorage", function () {
  this.timeout(60_000);
  it("obeys the contract of a storage", () => obeysStorage(new MemoryStorage()));

  it("refuses content above its bound, and keeps the old content", async () => {
    const storage = new MemoryStorage({ maxBytes: 10 });
    await storage.put("a", "12345");

    expect(await findCode(storage.put("b", "123456"))).to.equal("E_STORAGE_FULL");
    expect(await findCode(storage.put("b", endlessText()))).to.equal("E_STORAGE_FULL");

    await storage.put("a", "1234567890");
    expect((await storage.list()).files.map(({ key }) => key)).to.deep.equal(["a"]);
  });

  it("counts the bytes of deleted files no longer", async () => {
    const storage = new MemoryStorage({ maxBytes: 10 });
    await storage.put("a", "1234567890");
    await storage.delete("a");

    await storage.put("b", "1234567890");
  });

  it("refuses a file below another file, as a disk does", async () => {
    const storage = new MemoryStorage();
    await storage.put("a/b", "1");

    expect(await findCode(storage.put("a", "2"))).to.equal("E_STORAGE_CONFLICT");
    expect(await findCode(storage.put("a/b/c", "2"))).to.equal("E_STORAGE_CONFLICT");
    await storage.put("a/bc", "2");
  });

  it("dates files by its clock", async () => {
    const clock = new FakeClock();
    const storage = new MemoryStorage({ clock });

    expect((await storage.put("a", "1")).modified.getTime()).to.equal(clock.now());
  });

  it("refuses a bound that is not a whole number above 0", () => {
    expect(() => new MemoryStorage({ maxBytes: 0 }))
      .to.throw()
      .with.property("code", "E_STORAGE_LIMIT");
  });
});

async function* endlessText(): AsyncIterable<string> {
  for (;;) yield "text";
}
