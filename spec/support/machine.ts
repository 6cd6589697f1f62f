/**
 * The programs that specs need and npm does not install: reference tools and servers. `npm test` installs missing programs when it runs as
 * root on Debian; elsewhere it prints the missing programs. A spec that needs a missing program is pending. With `CI=true` a pending spec fails.
 *
 * @example
 * describe("the shared rate limit", () => {
 *   before(needs("redis-server"));
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Each program and its Debian package. */
const PACKAGES = {
  curl: "curl",
  "redis-server": "redis-server",
  chromium: "chromium-headless-shell",
  promtool: "prometheus",
  prometheus: "prometheus",
  wrk: "wrk",
  postgres: "postgresql",
  mariadbd: "mariadb-server",
  sqlite3: "sqlite3",
  openssl: "openssl",
  python3: "python3",
  jwcrypto: "python3-jwcrypto",
  pgbouncer: "pgbouncer",
  "swift-proxy-server": "swift-proxy",
  haproxy: "haproxy",
  nginx: "nginx-light",
  caddy: "caddy",
  "systemd-analyze": "systemd",
} as const;

/** Files that are as good, the best first: a page in the headless shell takes a third of the time of a page in the whole browser. */
const FILES: Readonly<Partial<Record<Program, readonly string[]>>> = {
  chromium: ["chromium-headless-shell", "chromium"],
};

/** Debian keeps servers in folders that are not on the PATH of every user. */
const VERSIONS_OF_POSTGRES = "/usr/lib/postgresql";
const FOLDERS_BESIDE_PATH = ["/usr/sbin"];
/** Modules of Debian's Python are in a folder, and no programs. */
const FOLDER_OF_PYTHON = "/usr/lib/python3/dist-packages";

export type Program = keyof typeof PACKAGES;

/** The path of a program; `undefined` if it is neither on the PATH nor where Debian installs servers. */
export function locate(program: Program): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(delimiter);
  const places = program === "jwcrypto" ? [FOLDER_OF_PYTHON] : onPath;
  const folders = isServer(program) ? [...onPath, ...FOLDERS_BESIDE_PATH, ...postgresFolders()] : places;
  const names = FILES[program] ?? [program];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file));
}

function isServer(program: Program): boolean {
  return ["postgres", "mariadbd", "pgbouncer", "haproxy", "nginx"].includes(program);
}

/** The newest version first. */
function postgresFolders(): readonly string[] {
  if (!existsSync(VERSIONS_OF_POSTGRES)) return [];
  const versions = readdirSync(VERSIONS_OF_POSTGRES).toSorted((one, other) => Number(other) - Number(one));
  return versions.map((version) => join(VERSIONS_OF_POSTGRES, version, "bin"));
}

/** For `before`: the suite is pending if a program is missing. */
export function needs(...programs: readonly Program[]): (this: Mocha.Context) => void {
  return function () {
    if (programs.some((program) => locate(program) === undefined)) this.skip();
  };
}

/** Installs missing programs, or prints which are missing. Only `npm test` may install. */
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

/** Names the programs before it installs them. Prints a failure and returns, because the specs are then pending. */
function install(packages: readonly string[]): void {
  console.error(`npm test runs as root on Debian: apt-get installs ${packages.join(", ")}, which specs need`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    execFileSync("apt-get", ["update", "-q"], { env, stdio: "ignore" });
    const options = ["install", "-qy", "--no-install-recommends"];
    const installed = spawnSync("apt-get", [...options, ...packages], { env, stdio: "ignore" });
    // A package that this release does not have must not keep the others away.
    if (installed.status !== 0)
      for (const each of packages) spawnSync("apt-get", [...options, each], { env, stdio: "ignore" });
  } catch (error) {
    console.error(`apt-get failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
