/** Programs in a folder without `tsconfig.json`: samples/hello, whose decorators are then of the standard kind, and one without decorators. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NODES } from "./cells.mjs";
import { toProgram } from "./project.mjs";
import { responds, served } from "./served.mjs";
import { shownVersion } from "./table.mjs";
import { binOf, nodeBin, platformBin } from "./tools.mjs";

const HELLO = fileURLToPath(new URL("../../../samples/hello/app.ts", import.meta.url));
const PLAIN = fileURLToPath(new URL("without-decorators.ts", import.meta.url));

const RUNNERS = [
  ...NODES.map((version) => ({ tool: "Node", version, command: async () => [await nodeBin(version)] })),
  { tool: "tsx", package: "tsx", command: () => [process.execPath, binOf("tsx")] },
  { tool: "Bun", package: "bun", command: () => [platformBin("bun", "bin/bun")] },
  { tool: "Deno", package: "deno", command: () => [platformBin("deno", "deno"), "run", "--allow-all"] },
];

/** A row for each runner. */
export async function bareRows(parent, resultOf) {
  const folder = join(parent, "bare");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  writeFileSync(join(folder, "hello.ts"), toProgram(readFileSync(HELLO, "utf8")));
  cpSync(PLAIN, join(folder, "plain.ts"));
  const rows = [];
  for (const { tool, package: name, version = shownVersion(name), command: toCommand } of RUNNERS) {
    const command = await toCommand();
    const hello = () => responds(folder, "/hello/Ada", "Hello, Ada!\n", ...command, "hello.ts");
    const plain = () => served(folder, ...command, "plain.ts");
    const row = { Tool: tool, Version: version };
    row["Standard decorators"] = await resultOf(hello);
    row["Without decorators"] = await resultOf(plain);
    rows.push(row);
    console.error(Object.values(row).join("; "));
  }
  return rows;
}
