/**
 * `npm run conduit:judge -- <collection>` runs a public RealWorld collection against samples/conduit: on a file of SQLite, and on PostgreSQL
 * where it is installed. The collection is the folder `specs/api/bruno` of a checkout of realworld-apps/realworld, or the file of a Postman
 * collection. The programs that run them come from npm.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Child } from "../../../support/child.js";
import { locate } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";

const BRUNO = ["--yes", "@usebruno/cli@3", "run", "-r", "--env", "local"];
const NEWMAN = ["--yes", "newman@6", "run"];
/** Of the user whom the Postman collection signs up. */
const USER = { USERNAME: "judge", EMAIL: "judge@example.org", PASSWORD: "correct horse" };

const [, , given] = process.argv;
const collection = resolve(given ?? ".");
const isPostman = collection.endsWith(".json") && existsSync(collection);
if (!isPostman && !existsSync(join(collection, "bruno.json"))) {
  console.error(
    "give the folder specs/api/bruno of a checkout of realworld-apps/realworld, or the file of a Postman collection",
  );
  process.exit(2);
}

let failed = await judgedOn("SQLite", {});
if (locate("postgres") === undefined) console.log("PostgreSQL is not installed");
else {
  await using server = await PostgresServer.start();
  failed = (await judgedOn("PostgreSQL", { DATABASE_URL: server.url })) || failed;
}
process.exitCode = failed ? 1 : 0;

/** Whether a request fails. */
async function judgedOn(engine: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  console.log(`\n${engine}\n`);
  const cwd = mkdtempSync(join(tmpdir(), "conduit-"));
  try {
    await using child = await Child.start("../../samples/conduit/main.js", environment, { cwd });
    await child.serves();
    const judge = isPostman ? runPostman(child.url) : runBruno(child.url);
    const [code] = (await once(judge, "exit")) as [number | null];
    return code !== 0;
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

function runBruno(url: string): ChildProcess {
  return spawn("npx", [...BRUNO, "--env-var", `host=${url}`], { cwd: collection, stdio: "inherit" });
}

function runPostman(url: string): ChildProcess {
  const variables = Object.entries({ APIURL: `${url}/api`, ...USER });
  const options = variables.flatMap(([name, value]) => ["--global-var", `${name}=${value}`]);
  return spawn("npx", [...NEWMAN, collection, ...options], { stdio: "inherit" });
}
