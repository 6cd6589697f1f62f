/**
 * `npm run new:try`: writes a project for each pair of `--database` and `--pages`, installs the packed package and the packages of the
 * project, and runs what its README says: the format, the tests, the build. Needs the npm registry. PostgreSQL and MariaDB are started.
 * `npm run new:try -- --pair sqlite,react --pair postgres,none` tries these pairs alone, and `--package FILE` takes a packed package.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { DATABASES, PAGES, type ProjectOptions } from "../../../lib/cli/create/options.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { ROOT } from "../../support/sources.js";

const NAME = "my-shop";
const MAX_MS = 300_000;

type Pair = Pick<ProjectOptions, "database" | "pages">;
type Environment = Readonly<Record<string, string | undefined>>;

const { values } = parseArgs({ options: { pair: { type: "string", multiple: true }, package: { type: "string" } } });
const work = mkdtempSync(join(tmpdir(), "new-project-"));
try {
  const packed = values.package ?? (await pack());
  for (const [index, pair] of choosePairs(values.pair).entries()) await tryPair(pair, index, packed);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function choosePairs(given: readonly string[] | undefined): readonly Pair[] {
  const pairs = DATABASES.flatMap((database) => PAGES.map((pages) => ({ database, pages })));
  if (given === undefined) return pairs;
  return given.map((text) => {
    const pair = pairs.find(({ database, pages }) => `${database},${pages}` === text);
    if (pair === undefined) throw new Error(`there is no pair ${text}: write --pair sqlite,react`);
    return pair;
  });
}

async function pack(): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--silent", "--pack-destination", work], { cwd: ROOT });
  return join(work, stdout.trim());
}

/** Every second project has accounts, where there is a database for them. */
async function tryPair({ database, pages }: Pair, index: number, packed: string): Promise<void> {
  const auth = database !== "none" && index % 2 === 1 ? ["--auth"] : [];
  const title = ["--database", database, "--pages", pages, ...auth, "--docker"];
  const began = Date.now();
  const parent = mkdtempSync(join(work, "project-"));
  const folder = join(parent, NAME);
  await using server = await startServer(database);
  const env = { ...process.env, NODE_ENV: undefined, DATABASE_URL: server.url, TEST_DATABASE_URL: server.url };
  await run(process.execPath, [join(ROOT, "dist/lib/cli/main.js"), "new", NAME, ...title], parent, env);
  await run("npm", ["install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", packed], folder, env);
  for (const script of ["format:check", "test", "build"]) await run("npm", ["run", script], folder, env);
  console.log(`${title.join(" ")}: works, in ${Math.round((Date.now() - began) / 1000)} s`);
}

async function run(program: string, args: readonly string[], cwd: string, env: Environment): Promise<void> {
  try {
    await promisify(execFile)(program, args, { cwd, env, timeout: MAX_MS, maxBuffer: 2 ** 26 });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    console.error(`${program} ${args.join(" ")}\n${stdout}${stderr}`);
    throw new Error(`${args.join(" ")} failed`, { cause: error });
  }
}

async function startServer(database: Pair["database"]): Promise<AsyncDisposable & { readonly url?: string }> {
  if (database === "postgres") return PostgresServer.start();
  if (database === "mysql") return MariadbServer.start();
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}
