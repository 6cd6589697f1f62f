import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FsStorage } from "@stagecraft/framework/storage/fs";
import { obeysStorage } from "@stagecraft/framework/testing/contracts";

const root = mkdtempSync(join(tmpdir(), "reach-files-"));
try {
  const storage = new FsStorage({ root });
  await storage.start();
  await obeysStorage(storage);
  await storage.stop();
} finally {
  rmSync(root, { recursive: true });
}
console.log("works");
