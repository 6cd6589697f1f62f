/**
 * `npm run conduit:judge -- <folder>` runs the public RealWorld collection against samples/conduit: on a file of SQLite, and on PostgreSQL
 * where it is installed. The folder is `specs/api/bruno` of a checkout of realworld-apps/realworld. Bruno's program comes from npm.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Child } from "../../../support/child.js";
import { locate } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";

const BRUNO = ["--yes", "@usebruno/cli@3", "run", "-r", "--env", "local"];

const [, , given] = process.argv;
const collection = resolve(given ?? ".");
if (!existsSync(join(collection, "bruno.json"))) {
  console.error("give the folder specs/api/bruno of a checkout of realworld-apps/realworld");
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
    const bruno = spawn("npx", [...BRUNO, "--env-var", `host=${child.url}`], { cwd: collection, stdio: "inherit" });
    const [code] = (await once(bruno, "exit")) as [number | null];
    return code !== 0;
  } finally {
    rmSync(cwd, { recursive: true });
  }
}
