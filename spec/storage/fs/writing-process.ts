/**
 * A process that stores endless content in a folder: `node writing-process.js <folder>`. It prints `writing` when a part of the content is
 * on the disk, and the code of the error if it cannot store the content. The spec kills it, or limits the size of its files.
 */
import { FsStorage } from "../../../lib/storage/fs/fs-storage.js";

const CHUNK = Buffer.alloc(65_536, "x");

async function* endless(): AsyncIterable<Buffer> {
  for (let at = 0; ; at++) {
    if (at === 40) process.stdout.write("writing\n");
    yield CHUNK;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

// Without a listener the signal of the limit ends the process; with one the write fails with EFBIG, as on a full disk.
process.on("SIGXFSZ", () => {});
const storage = new FsStorage({ root: process.argv[2] ?? "" });
await storage.put("old", "old", { type: "text/plain" });
try {
  await storage.put("old", endless(), { type: "image/png" });
} catch (error) {
  process.stdout.write(`${(error as { readonly code: string }).code}\n`);
}
