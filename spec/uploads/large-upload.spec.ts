/** A file that is larger than the memory that a server may use for it. */
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { once } from "node:events";
import { expect } from "chai";
import { Child } from "../support/child.js";
import { BOUNDARY, FORM_TYPE } from "../support/multipart.js";

const MIB = 1_048_576;
const SIZE = 192 * MIB;

function* form(): Iterable<Buffer> {
  yield Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`);
  const chunk = Buffer.alloc(MIB, 0xee);
  for (let sent = 0; sent < SIZE; sent += MIB) yield chunk;
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
}

describe("an upload of 192 MiB", () => {
  it("takes a small part of its size in memory", async function () {
    this.timeout(180_000);
    this.slow(10_000);
    const folder = mkdtempSync(join(tmpdir(), "uploads-"));
    await using child = await Child.start("../uploads/killed-application.js", {
      UPLOADS: folder,
      LIMIT: String(2 * SIZE),
    });
    try {
      await child.serves();
      const before = child.residentMiB();
      let highest = before;
      const watch = setInterval(() => (highest = Math.max(highest, child.residentMiB())), 10);
      const asked = request({
        port: child.port,
        host: "127.0.0.1",
        method: "POST",
        headers: { "Content-Type": FORM_TYPE },
      });
      const answered = once(asked, "response");

      await pipeline(Readable.from(form()), asked);
      const [answer] = (await answered) as [Readable];

      clearInterval(watch);
      expect(await json(answer)).to.deep.equal({ file: { name: "a", size: SIZE, type: "application/octet-stream" } });
      expect(highest - before).to.be.below(80);
    } finally {
      child.kill("SIGKILL");
      await child.exitCode();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
