/**
 * The directory of a process for files that end with their request. Its name identifies the process, so that the sweep at a later start
 * removes the directory of a killed process, and never that of a living one.
 *
 * A process is identified by its number and the moment of its start, within one host and one namespace (each container has a separate
 * namespace). The directory of another host or namespace, on a shared disk, counts as abandoned after ten minutes without a touch. A living
 * process touches its directory every minute.
 */
import { createHash, randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { lstat, mkdir, readdir, rm, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { FrameworkError } from "../errors/framework-error.js";
import { describeThrown } from "../errors/thrown-value.js";
import type { Clock, Timer } from "../runtime/clock.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::uploads");

const TOUCH_INTERVAL_MS = 60_000;
const ABANDONED_AFTER_MS = 600_000;
const WRITABLE_BY_OTHERS = 0o022;
/** The parts of a name: host, process, start of the process, random. */
const NAME = /^([0-9a-f]{12})-(\d+)-(\d+)-[0-9a-f]{16}$/;

export class TemporaryDirectory {
  readonly path: string;
  private readonly host = getHostId();
  private created: Promise<void> | undefined = undefined;
  private timer: Timer | undefined = undefined;

  /**
   * @param base the directory that processes share, which is created if it is missing
   * @param isPublic whether other users of the machine may have created it
   */
  constructor(
    private readonly base: string,
    private readonly isPublic: boolean,
    private readonly clock: Clock,
  ) {
    this.path = join(base, `${this.host}-${process.pid}-${getProcessStart()}-${randomBytes(8).toString("hex")}`);
  }

  /** Creates the directory, once. @throws FrameworkError `E_UPLOADS_DIRECTORY` */
  create(): Promise<void> {
    return (this.created ??= this.createBoth());
  }

  /** A path that no file has yet. */
  async createPath(): Promise<string> {
    await this.create();
    return join(this.path, randomBytes(16).toString("hex"));
  }

  /** Creates the directory again, after a cleaner of temporary files has removed it. */
  recreate(): Promise<void> {
    return (this.created = this.createBoth());
  }

  /** Removes the directories of processes that have ended. Returns their number. */
  async sweep(): Promise<number> {
    let removed = 0;
    for (const name of await readdir(this.base)) {
      if (!(await this.isAbandoned(name))) continue;
      await rm(join(this.base, name), { recursive: true, force: true });
      removed += 1;
    }
    if (removed > 0) log.debug("removed what a killed process had left", { directories: removed });
    return removed;
  }

  /** Touches the directory from now on, so that other hosts see that its process is alive. */
  startTouching(): void {
    this.timer = this.clock.setTimeout(
      () => {
        const now = new Date(this.clock.now());
        // A failure shows when the next file is written.
        utimes(this.path, now, now).catch(() => {});
        this.startTouching();
      },
      TOUCH_INTERVAL_MS,
      { background: true },
    );
  }

  /** Removes the directory and its files. */
  async remove(): Promise<void> {
    this.timer?.cancel();
    this.created = undefined;
    await rm(this.path, { recursive: true, force: true });
  }

  private async createBoth(): Promise<void> {
    try {
      await mkdir(this.base, { recursive: true, mode: 0o700 });
      if (this.isPublic) await expectOwnDirectory(this.base);
      await mkdir(this.path, { recursive: true, mode: 0o700 });
    } catch (error) {
      this.created = undefined;
      if (error instanceof FrameworkError) throw error;
      throw unusable(this.base, "cannot be created", error);
    }
  }

  private async isAbandoned(name: string): Promise<boolean> {
    const [, host, pid, start] = NAME.exec(name) ?? [];
    if (host === undefined) return false;
    if (host === this.host && Number(pid) === process.pid) return start !== getProcessStart();
    if (host === this.host && !isAlive(Number(pid))) return true;
    try {
      const { mtimeMs } = await lstat(join(this.base, name));
      return this.clock.now() - mtimeMs > ABANDONED_AFTER_MS;
    } catch (error) {
      log.debug("a directory was removed by another process", describeThrown(error));
      return false;
    }
  }
}

/** Another user of the machine could read or replace the files. @throws FrameworkError `E_UPLOADS_DIRECTORY` */
async function expectOwnDirectory(base: string): Promise<void> {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const found = await lstat(base);
  if (found.uid !== uid) throw unusable(base, "belongs to another user");
  if (found.isSymbolicLink() || (found.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw unusable(base, "may be changed by other users");
  }
}

function unusable(base: string, fault: string, cause?: unknown): FrameworkError {
  return new FrameworkError(
    `the directory ${JSON.stringify(base)} for uploads ${fault}: give new Uploads({ directory }) one of your own`,
    { code: "E_UPLOADS_DIRECTORY", ...(cause === undefined ? {} : { cause }) },
  );
}

/** Whether a process has the number. The process of another user refuses the signal with `EPERM`. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { readonly code?: unknown }).code === "EPERM";
  }
}

function getProcessStart(): string {
  return String(Math.trunc(performance.timeOrigin));
}

/** The host, and in Linux the namespace of process numbers, as a short text. */
function getHostId(): string {
  return createHash("sha256").update(`${hostname()} ${readNamespace()}`).digest("hex").slice(0, 12);
}

function readNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}
