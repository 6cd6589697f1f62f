/** The file `.env` beside package.json: variables for the machine of a developer, which git ignores. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

/** Sets the variables of the file that the environment does not have. Returns their names. @param root the folder of package.json */
export function loadEnvironmentFile(root: string, env: NodeJS.ProcessEnv): ReadonlySet<string> {
  const path = join(root, ".env");
  if (!existsSync(path)) return new Set();
  const missing = Object.entries(parseEnv(readFileSync(path, "utf8"))).filter(([name]) => env[name] === undefined);
  for (const [name, value] of missing) env[name] = value;
  return new Set(missing.map(([name]) => name));
}
