/**
 * The empty data folder of a database server. Its creation takes seconds, so the first start on a machine creates one in the temporary folder,
 * and every server gets a copy.
 */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ServerTemplate {
  /** In the name of the template folder: program and version. */
  readonly template: string;
  /** The user of the server, which refuses to run as root. */
  readonly user: string;
  /** Fills the folder, which the user owns. */
  makeTemplate(folder: string): void;
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** Each check starts two processes, and a process with many loaded files starts others slowly. */
const known = new Map<string, Ids>();

/** Empty where this process is not root: then the server runs as the user of this process. */
export function idsOf(user: string): Ids | Record<string, never> {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
  const ids = known.get(user) ?? { uid: id("-u"), gid: id("-g") };
  known.set(user, ids);
  return ids;
}

/** Gives an empty folder to the user. */
export function own(user: string, folder: string): void {
  const { uid, gid } = idsOf(user);
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
}

/** The program `cp` preserves the user of a file, unlike `cpSync`. */
export function copyTemplate(server: ServerTemplate, to: string): void {
  const from = templateOf(server);
  if (process.platform === "linux") execFileSync("cp", ["-a", from, to]);
  else cpSync(from, to, { recursive: true });
}

/** One process creates the template, and the others wait for it. */
export function templateOf(server: ServerTemplate): string {
  const template = join(tmpdir(), `framework-template-${server.template}-${process.getuid?.() ?? 0}`);
  if (!existsSync(template)) inOneProcess(`${template}.lock`, () => makeTemplate(server, template));
  return template;
}

function makeTemplate(server: ServerTemplate, template: string): void {
  if (existsSync(template)) return;
  const folder = mkdtempSync(join(tmpdir(), "framework-template-"));
  try {
    own(server.user, folder);
    server.makeTemplate(folder);
    // Two processes may have taken the lock of a dead one: then the first template stays.
    if (!existsSync(template)) renameSync(folder, template);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const SLEEP_MS = 50;
const EMPTY_LOCK_MS = 5000;
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/** The lock is a file with the id of the process. A process that was killed leaves it, and the next one removes it. */
function inOneProcess(lock: string, work: () => void): void {
  while (!take(lock)) {
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    else Atomics.wait(sleeping, 0, 0, SLEEP_MS);
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/** An empty lock belongs to a process that has not written its id yet, unless it stays empty. */
function isAbandoned(lock: string): boolean {
  try {
    const holder = readFileSync(lock, "utf8");
    return holder === "" ? Date.now() - statSync(lock).mtimeMs > EMPTY_LOCK_MS : !isAlive(Number(holder));
  } catch {
    // Its holder has removed it.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
