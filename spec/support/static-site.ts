/** A directory of files for one test, and a server for it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "../../lib/runtime/clock.js";
import type { Context } from "../../lib/http/request/context.js";
import type { Middleware } from "../../lib/http/middleware.js";
import { StaticFiles } from "../../lib/stages/static-files/static-files.js";
import type { StaticFilesOptions } from "../../lib/stages/static-files/options.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { Stack } from "./stack.js";

/** The content of a file beside the root, which the server must never send. */
export const SECRET = "this file is secret";
/** The default modification time of the files. */
export const MODIFIED = new Date("2026-03-01T12:00:00Z");
export const LAST_MODIFIED = "Sun, 01 Mar 2026 12:00:00 GMT";

export class StaticSite implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "static-")));
  readonly root = join(this.folder, "public");

  constructor() {
    mkdirSync(this.root);
    writeFileSync(join(this.folder, "secret.txt"), SECRET);
  }

  /** Creates a site before each test of a suite, and removes it afterwards. */
  static forEachTest(use: (site: StaticSite) => void): void {
    let site: StaticSite;
    beforeEach(() => use((site = new StaticSite())));
    afterEach(() => site.remove());
  }

  /** Writes a file below the root and returns its absolute path. */
  put(path: string, content: string | Buffer, modified = MODIFIED): string {
    const full = join(this.root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    utimesSync(full, modified, modified);
    return full;
  }

  serve(options: StaticFilesOptions = {}, around: readonly Middleware[] = [], clock?: Clock): Promise<Stack> {
    return Stack.of([...around, new StaticFiles({ root: this.root, ...options })], nothing, clock);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  [Symbol.dispose](): void {
    this.remove();
  }
}

/** A clock in the future, when the files have not changed for a long time, so that the file cache keeps them. */
export function muchLater(): FakeClock {
  return new FakeClock(Date.UTC(2100, 0));
}

function nothing(ctx: Context): void {
  ctx.setStatus(404);
}
