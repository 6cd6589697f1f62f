/** `stagecraft version`: the versions of the framework and of Node. It loads no application. */
import { readFileSync } from "node:fs";
import type { CommandContext } from "../command.js";

export async function version(_values: unknown, { stdout, isJson }: CommandContext): Promise<void> {
  const framework = readFrameworkVersion();
  const node = process.versions.node;
  stdout.write(
    isJson ? `${JSON.stringify({ framework, node })}\n` : `@stagecraft/framework ${framework}, Node ${node}\n`,
  );
}

/** The version of the copy that this command belongs to. */
export function readFrameworkVersion(): string {
  const text = readFileSync(new URL("../../../../package.json", import.meta.url), "utf8");
  // npm has checked the form of this file.
  return (JSON.parse(text) as { readonly version: string }).version;
}
