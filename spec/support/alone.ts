/**
 * Files that mocha runs at the same time, and files that wait for the machine. A test with many connections or a bound on time calls
 * `alone()` in a `before` hook: the other processes finish their file and wait until this file has ended.
 *
 * @example
 * describe("a storm of clients", () => {
 *   before(alone());
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileOf } from "./file-of.js";

/** The files that call `alone()`. They come first in `.mocharc.json`, so that none of them waits for a long one. */
export const FILES_ALONE = ["journeys/drain-under-load.spec.js", "journeys/storm.spec.js"];

/**
 * The folder with one file for each process that runs specs, one for each that wants the machine for itself, and `ALONE` while one of them
 * has it.
 */
const VARIABLE = "SPECS_THAT_RUN";
const ALONE = "alone";
const WISH = "wish-";
const PAUSE_MS = 10;
/** Longer than the longest file takes on a busy machine. */
const LIMIT_MS = 900_000;

/** Whether this process has created the file `ALONE`. */
let isAlone = false;

/** Call it once a run, before the processes start. */
export function openTurns(): void {
  process.env[VARIABLE] = mkdtempSync(join(tmpdir(), "specs-"));
}

export function closeTurns(): void {
  const folder = process.env[VARIABLE];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

/**
 * For the hook before each file: waits while another file is alone, or wants to be. A file that runs alone says here that it wants to be. Otherwise a
 * long file could start between two of them, and the second one would wait for it.
 */
export function besideOthers(): (this: Mocha.Context) => Promise<void> {
  return async function () {
    this.timeout(LIMIT_MS);
    const file = fileOf(this.test?.parent) ?? "";
    if (FILES_ALONE.some((name) => file.endsWith(`/${name}`))) return wish();
    do {
      rmSync(pathOf(String(process.pid)), { force: true });
      while (isTaken()) await pause();
      writeFileSync(pathOf(String(process.pid)), "");
      // The other side writes its file before it checks this file, so that one of the two sees the other.
    } while (isTaken());
  };
}

/** For a `before` hook: waits until no other file runs. */
export function alone(): (this: Mocha.Context) => Promise<void> {
  return async function () {
    this.timeout(LIMIT_MS);
    wish();
    rmSync(pathOf(String(process.pid)), { force: true });
    while (!take()) await pause();
    while (readdirSync(pathOf()).some((name) => isAlive(name))) await pause();
  };
}

function wish(): void {
  writeFileSync(pathOf(WISH + process.pid), "");
}

/** Whether another process is alone, or wants to be. */
function isTaken(): boolean {
  return readdirSync(pathOf()).some(
    (name) => name === ALONE || (name.startsWith(WISH) && isAlive(name.slice(WISH.length))),
  );
}

/** For the hook after each file. */
export function endTurn(): void {
  rmSync(pathOf(String(process.pid)), { force: true });
  rmSync(pathOf(WISH + process.pid), { force: true });
  if (isAlone) rmSync(pathOf(ALONE), { force: true });
  isAlone = false;
}

/** Creates the file, unless another process has created it. In one process, the first of several files that run alone has it for all. */
function take(): boolean {
  if (isAlone) return true;
  try {
    writeFileSync(pathOf(ALONE), "", { flag: "wx" });
    isAlone = true;
    return true;
  } catch {
    // It exists.
    return false;
  }
}

/** A process that was killed leaves its file. */
function isAlive(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

function pathOf(name = ""): string {
  return join(process.env[VARIABLE] ?? "", name);
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PAUSE_MS);
  });
}
