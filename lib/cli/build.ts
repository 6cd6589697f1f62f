/**
 * `stagecraft build`: the files of a release. `tsc` compiles the sources into a new folder, which takes the place of `outDir` when there is
 * no error; so nothing of an older build is left, and a build that fails changes nothing. An application with a `vite.config` gets the
 * build of its front end as well, whose types `pages/tsconfig.json` checks.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { findApplication } from "./application/find-application.js";
import { getOutputFolders, readTypeScriptConfig } from "./application/typescript-config.js";
import { CommandError, type CommandContext } from "./command.js";
import { hasFrontEnd } from "./dev/front-end.js";

export async function build(_values: unknown, context: CommandContext): Promise<void> {
  const { root, source } = findApplication(context);
  const config = readTypeScriptConfig(source);
  if (config === undefined) throw new CommandError("there is no tsconfig.json", { where: root });
  const { outDir } = getOutputFolders(config.file, config.options);
  const next = `${outDir}.next`;
  const lean = ["--outDir", next, "--declaration", "false", "--incremental", "false", "--noEmitOnError"];
  try {
    await runTool(root, "typescript/bin/tsc", ["-p", config.file, ...lean], context);
    const pages = join(root, "pages/tsconfig.json");
    if (existsSync(pages)) await runTool(root, "typescript/bin/tsc", ["-p", pages, "--noEmit"], context);
    if (hasFrontEnd(root)) await runTool(root, "vite/bin/vite.js", ["build"], context);
    rmSync(outDir, { recursive: true, force: true });
    renameSync(next, outDir);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/** What the tool prints goes to standard error. */
async function runTool(root: string, tool: string, args: readonly string[], context: CommandContext): Promise<void> {
  const [name = tool] = tool.split("/");
  const child = spawn(process.execPath, [findTool(root, name, tool), ...args], {
    cwd: root,
    env: { ...context.env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => context.stderr.write(text));
  const [code, signal] = await once(child, "close");
  if (code === 0) return;
  throw new CommandError(`the build failed: ${name} ended with ${signal ?? `code ${code}`}`, {
    fix: "correct what it reports; the files of the last build are as they were",
  });
}

function findTool(root: string, name: string, tool: string): string {
  try {
    const folder = dirname(createRequire(join(root, "package.json")).resolve(`${name}/package.json`));
    return join(folder, tool.slice(name.length));
  } catch (cause) {
    throw new CommandError(`${name} is not installed`, { fix: `npm install --save-dev ${name}`, cause });
  }
}
