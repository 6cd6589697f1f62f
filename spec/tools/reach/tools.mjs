/** The installed tools, and their processes. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const MODULES = fileURLToPath(new URL("node_modules", import.meta.url));

export function packageOf(name) {
  return JSON.parse(readFileSync(join(MODULES, name, "package.json"), "utf8"));
}

/** The JavaScript that `npx <command>` would run. */
export function binOf(name, command = name) {
  const { bin } = packageOf(name);
  return join(MODULES, name, typeof bin === "string" ? bin : bin[command]);
}

/** A program that a package brings for each platform in a package of its own. */
export function platformBin(name, file) {
  const { optionalDependencies } = packageOf(name);
  const platform = `${process.platform}-${process.arch}`;
  const found = Object.keys(optionalDependencies).find(
    (each) => each.split("/")[1].replace(/^bun-/, "").startsWith(platform) && !each.includes("musl"),
  );
  if (found === undefined) throw new Error(`${name} has no program for ${platform}`);
  return join(MODULES, found, file);
}

export async function execute(command, args, settings) {
  const env = { ...process.env, NO_COLOR: "1", CI: "true", ...settings.env };
  return await promisify(execFile)(command, args, { timeout: 120_000, maxBuffer: 2 ** 26, ...settings, env });
}

export async function node(cwd, ...args) {
  return await execute(process.execPath, args, { cwd });
}

/** The program of another version of Node, as npm has it: `npx` itself does not pass signals on. */
export async function nodeBin(version) {
  const args = ["--yes", "--package", `node@${version}`, "--", "node", "-p", "process.execPath"];
  const { stdout } = await execute("npx", args, {});
  return stdout.trim();
}

export async function nodeOf(version, cwd, ...args) {
  return await execute(await nodeBin(version), args, { cwd });
}
