/**
 * What the specs need beyond npm: real judges and real servers. `npm test` installs what is missing where it runs as root on Debian,
 * and elsewhere says in one line what to install; specs that need a missing program are pending. Under `CI=true` pending is failure.
 *
 * @example
 * describe("the shared rate limit", () => {
 *   before(needs("redis-server"));
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Program → the Debian package that brings it. */
const PACKAGES = {
  curl: "curl",
  "redis-server": "redis-server",
  chromium: "chromium",
  promtool: "prometheus",
  prometheus: "prometheus",
  wrk: "wrk",
} as const;

export type Program = keyof typeof PACKAGES;

/** Where the program lies; `undefined` where it is not on PATH. */
export function locate(program: Program): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
}

/** For `before`: the suite is pending where the program is missing. */
export function needs(...programs: readonly Program[]): (this: Mocha.Context) => void {
  return function () {
    if (programs.some((program) => locate(program) === undefined)) this.skip();
  };
}

/** Brings the machine up to what the specs need, or says what is missing. Only `npm test` may install. */
export function prepareMachine(): void {
  const missing = missingPackages();
  if (missing.length > 0 && mayInstall()) install(missing);
  const left = missingPackages();
  if (left.length > 0) console.error(`specs that need them are pending: install ${left.join(", ")}\n`);
}

function missingPackages(): readonly string[] {
  const programs = Object.keys(PACKAGES) as Program[]; // The keys of a constant.
  return [...new Set(programs.filter((program) => locate(program) === undefined).map((program) => PACKAGES[program]))];
}

function mayInstall(): boolean {
  const isRoot = process.getuid?.() === 0;
  return process.env["npm_lifecycle_event"] === "test" && isRoot && existsSync("/etc/debian_version");
}

/** A failure to install is told and left at that: the specs in need are then pending. */
function install(packages: readonly string[]): void {
  console.error(`installing ${packages.join(", ")} for the specs`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    execFileSync("apt-get", ["update", "-q"], { env, stdio: "ignore" });
    execFileSync("apt-get", ["install", "-qy", "--no-install-recommends", ...packages], { env, stdio: "ignore" });
  } catch (error) {
    console.error(`apt-get failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
