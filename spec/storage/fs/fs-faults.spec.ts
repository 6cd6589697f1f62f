import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { FsStorage } from "../../../lib/storage/fs/fs-storage.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { canMount, SmallDisk } from "../../support/small-disk.js";
import { findCode } from "../find-code.js";
import { temporaryFolder } from "../temporary-folder.js";

const PROGRAM = fileURLToPath(new URL("writing-process.js", import.meta.url));

describe("FsStorage, when it is interrupted", function () {
  this.timeout(60_000);

  it("keeps the old file when its process is killed, and removes the rest at the next start", async () => {
    using folder = temporaryFolder();
    const child = spawn(process.execPath, [PROGRAM, folder.path], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "close");
    const clock = new FakeClock(Date.now() + 7_200_000);
    const storage = new FsStorage({ root: folder.path, clock });
    const before = folder.remaining().filter((name) => name.endsWith(".tmp"));

    expect((await storage.bytes("old", 100)).toString()).to.equal("old");
    await storage.start();
    await storage.swept;

    expect(before).to.have.length(1);
    expect(folder.remaining().filter((name) => name.endsWith(".tmp"))).to.deep.equal([]);
    expect((await storage.stat("old"))?.type).to.equal("text/plain");
    await storage.stop();
  });

  it("fails with 507 and leaves nothing when the disk takes no more", async () => {
    using folder = temporaryFolder();
    // A limit for the size of files, in blocks of 512 bytes: a write beyond it fails as on a full disk, for every user.
    const script = 'ulimit -f 8192; exec "$0" "$@"';
    const child = spawn("sh", ["-c", script, process.execPath, PROGRAM, folder.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    await once(child, "close");

    expect(output).to.equal("writing\nE_STORAGE_FULL\n");
    const storage = new FsStorage({ root: folder.path });
    expect((await storage.bytes("old", 100)).toString()).to.equal("old");
    expect(folder.remaining().filter((name) => name.endsWith(".tmp"))).to.deep.equal([]);
    expect(folder.remaining()).to.have.length(2);
  });

  if (canMount()) {
    it("fails with 507 on a disk that is full, keeps the old file, and works when there is room again", async () => {
      using disk = new SmallDisk(512);
      const storage = new FsStorage({ root: disk.folderOf("root") });
      await storage.put("old", "old", { type: "text/plain" });
      const large = Buffer.alloc(1_048_576, "x");

      for (const key of ["old", "new/folder/file"])
        expect(await findCode(storage.put(key, large)), key).to.equal("E_STORAGE_FULL");

      expect((await storage.bytes("old", 100)).toString()).to.equal("old");
      expect((await storage.list()).files.map(({ key }) => key)).to.deep.equal(["old"]);
      expect((await storage.put("old", large.subarray(0, 300_000))).size).to.equal(300_000);
    });
  }
});
