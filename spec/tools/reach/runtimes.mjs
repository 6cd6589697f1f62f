/** Bun and Deno beside Node: a small program for each of some entry points. The cells of `cells.mjs` try the main one. */
import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { shownVersion } from "./table.mjs";
import { execute, platformBin } from "./tools.mjs";

const ENTRIES = ["stages", "session", "db-sqlite", "pages"];

const RUNTIMES = [
  { name: "Bun", package: "bun", command: () => [platformBin("bun", "bin/bun")] },
  { name: "Deno", package: "deno", command: () => [platformBin("deno", "deno"), "run", "--allow-all"] },
];

/** A row for each runtime. */
export async function runtimeRows(folder, resultOf) {
  cpSync(fileURLToPath(new URL("entries", import.meta.url)), folder, { recursive: true });
  const rows = [];
  for (const runtime of RUNTIMES) {
    const row = { Runtime: runtime.name, Version: shownVersion(runtime.package) };
    for (const entry of ENTRIES) {
      const [command, ...args] = runtime.command();
      row[`\`${entry.replace("-", "/")}\``] = await resultOf(() =>
        execute(command, [...args, `${entry}.ts`], { cwd: folder, timeout: 30_000 }),
      );
    }
    rows.push(row);
  }
  return rows;
}
