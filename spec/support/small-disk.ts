/**
 * A file system of a few hundred kilobytes in memory, mounted in a temporary folder, so that a server meets a disk that is really full. Only
 * root can mount it, and not in every container: ask `canMount` before a test is declared.
 *
 * @example
 * if (canMount()) it("…", async () => {
 *   using disk = new SmallDisk(512);
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    new SmallDisk(64)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}

export class SmallDisk implements Disposable {
  private readonly root = mkdtempSync(join(tmpdir(), "framework-disk-"));
  private readonly atExit = (): void => this.remove();

  constructor(kilobytes: number) {
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k,mode=755`, "tmpfs", this.root], {
        stdio: "ignore",
      });
    } catch (error) {
      rmdirSync(this.root);
      throw error;
    }
    process.once("exit", this.atExit);
  }

  /** A new folder on the disk that belongs to the user. */
  folderOf(user: string): string {
    const folder = join(this.root, user);
    mkdirSync(folder);
    execFileSync("chown", [`${user}:`, folder]);
    return folder;
  }

  [Symbol.dispose](): void {
    process.off("exit", this.atExit);
    this.remove();
  }

  private remove(): void {
    // A server may have files open: the mount is removed at once, and its memory when they are closed.
    execFileSync("umount", ["--lazy", this.root], { stdio: "ignore" });
    rmdirSync(this.root);
  }
}
