/**
 * The state of a maintenance in a file, which all processes of one machine or of a shared volume read. The file is replaced in one step, and
 * every user can read it. Without the file the application is not in maintenance. The file works while the database is away.
 *
 * Not for processes on several machines without a shared volume: use Redis or a database.
 *
 * @example
 * builder.maintenance(new Maintenance().store(new FileMaintenanceStore("/srv/shop/maintenance.json")));
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lstat, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { FrameworkError } from "../../errors/framework-error.js";
import { createSetupError } from "../../errors/setup-error.js";
import { causeText } from "../../errors/thrown-value.js";
import { valueText } from "../../errors/value-text.js";
import {
  formatState,
  MAX_STATE_BYTES,
  type MaintenanceState,
  MaintenanceStore,
  parseState,
} from "./maintenance-store.js";

/** Opening a pipe does not wait for a writer, and a link as the last part of the path is not followed. Windows has neither flag. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
const READABLE_BY_ALL = 0o644;

export class FileMaintenanceStore extends MaintenanceStore {
  readonly path: string;

  /**
   * Reads nothing.
   *
   * @param path of the file, whose folder exists; a relative one starts at the working directory of the process
   * @throws FrameworkError `E_MAINTENANCE_FILE`
   */
  constructor(path: string) {
    super();
    // JavaScript callers may pass any value.
    if (typeof path !== "string" || path === "" || path.includes("\0"))
      throw createSetupError(
        "E_MAINTENANCE_FILE",
        `${valueText(path)} is no path of a file: new FileMaintenanceStore("/srv/shop/maintenance.json")`,
      );
    this.path = resolve(path);
  }

  override get name(): string {
    return `the file ${this.path}`;
  }

  override async read(): Promise<MaintenanceState | undefined> {
    const text = await this.withFileErrors("read", () => this.readText());
    return text === undefined ? undefined : parseState(text, this.name);
  }

  override write(state: MaintenanceState): Promise<void> {
    return this.withFileErrors("written", () => this.replace(formatState(state)));
  }

  private async readText(): Promise<string | undefined> {
    const handle = await this.orAbsent(open(this.path, READ));
    if (handle === undefined) return undefined;
    try {
      if (!(await handle.stat()).isFile()) throw new Error("it is no regular file");
      const buffer = Buffer.alloc(MAX_STATE_BYTES + 1);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  private async replace(text: string): Promise<void> {
    const found = await this.orAbsent(lstat(this.path));
    if (found?.isFile() === false) throw new Error("it is no regular file");
    const temporary = join(dirname(this.path), `.${basename(this.path)}.${randomBytes(8).toString("hex")}.tmp`);
    try {
      await writeFile(temporary, `${text}\n`, { flag: "wx", flush: true, mode: READABLE_BY_ALL });
      // The mask of the process may have removed a part of the mode.
      await chmod(temporary, READABLE_BY_ALL);
      await rename(temporary, this.path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
  }

  /** `undefined` if the file is missing. A missing folder, such as a volume that is not mounted, is an error. */
  private async orAbsent<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (Object(error).code !== "ENOENT") throw error;
      await stat(dirname(this.path));
      return undefined;
    }
  }

  private async withFileErrors<T>(how: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw new FrameworkError(`${this.name} cannot be ${how}: ${describe(cause)}`, {
        code: "E_MAINTENANCE_FILE",
        status: 503,
        cause,
      });
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "create its folder",
  ENOTDIR: "a part of its path is no folder",
  ELOOP: "it is a symbolic link; name the file itself",
  EACCES: "this user may not do that; give the rights on the file and its folder",
  EPERM: "this user may not do that; give the rights on the file and its folder",
  EROFS: "its file system is read-only; name a file that the application can write",
  ENOSPC: "the disk is full",
};

function describe(error: unknown): string {
  return REASONS[String(Object(error).code)] ?? causeText(error);
}
