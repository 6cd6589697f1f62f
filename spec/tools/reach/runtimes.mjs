/**
 * Bun and Deno beside Node: for each of some entry points a small program, with the contract of its port where it has one. The cells of
 * `cells.mjs` try the main one. The row of all entry points loads each of them: a driver without its package must name the package.
 */
import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { shownVersion } from "./table.mjs";
import { execute, platformBin } from "./tools.mjs";

const ENTRIES = {
  stages: "the stages of `@stagecraft/framework`, and `observe`",
  layers: "layers of `@stagecraft/framework`, with `obeysLayerContract`",
  requests: "valid and broken requests to `@stagecraft/framework`",
  inject: "the messages of `inject`, of `@stagecraft/framework`",
  session: "`session`, with `obeysSessionStore`",
  "db-sqlite": "`db/sqlite`, with `obeysDatabase`",
  pages: "`pages`",
  cache: "`cache`, with `obeysCache`",
  storage: "`storage`, with `obeysStorage`",
  "storage-fs": "`storage/fs`, with `obeysStorage`",
  jobs: "`jobs`, with `obeysQueue`",
  mail: "`mail`, with `obeysMailer`",
  uploads: "`uploads`",
  loads: "all entry points load",
};

const RUNTIMES = {
  Bun: { package: "bun", command: () => [platformBin("bun", "bin/bun")] },
  Deno: { package: "deno", command: () => [platformBin("deno", "deno"), "run", "--allow-all"] },
};

/** A row for each entry point. */
export async function runtimeRows(folder, resultOf) {
  cpSync(fileURLToPath(new URL("entries", import.meta.url)), folder, { recursive: true });
  const rows = [];
  for (const [program, text] of Object.entries(ENTRIES)) {
    const row = { "Entry point": text };
    for (const [name, runtime] of Object.entries(RUNTIMES)) {
      const [command, ...args] = runtime.command();
      row[`${name} ${shownVersion(runtime.package)}`] = await resultOf(() =>
        execute(command, [...args, `${program}.ts`], { cwd: folder, timeout: 60_000 }),
      );
    }
    rows.push(row);
    console.error(Object.values(row).join("; "));
  }
  return rows;
}
