/**
 * `stagecraft build`: the files of a release. `tsc` compiles the sources into a new folder, which takes the place of `outDir` when there is
 * no error; so nothing of an older build is left, and a build that fails changes nothing. Specs are no part of a release, unless a source
 * imports them. An application with a `vite.config` gets the build of its front end as well, whose types `pages/tsconfig.json` checks, and
 * with `stagecraft.frontEnd.serverEntry` of package.json the bundle that renders its pages on the server.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { findApplication } from "./application/find-application.js";
import { readSettings } from "./application/package-settings.js";
import { getOutputFolders, readTypeScriptConfig, type TypeScriptConfig } from "./application/typescript-config.js";
import { CommandError, type CommandContext } from "./command.js";
import { hasFrontEnd } from "./dev/front-end.js";

/** As `exclude` of tsconfig.json. */
const SPECS = ["**/*.spec.*", "**/*.test.*", "**/spec", "**/test", "**/tests", "**/__tests__"];

export async function build(_values: unknown, context: CommandContext): Promise<void> {
  const { root, source, output } = findApplication(context);
  const config = readTypeScriptConfig(source);
  if (config === undefined)
    throw new CommandError("there is no tsconfig.json", {
      where: root,
      fix: "write one: the first steps of the guide show it",
    });
  const { outDir } = getOutputFolders(config.file, config.options);
  const next = `${outDir}.next`;
  try {
    rmSync(next, { recursive: true, force: true });
    // Vite empties a folder that it writes, so it comes before the compiler.
    if (hasFrontEnd(root)) await buildServerEntry(root, next, context);
    await compile(root, { ...config, outDir, next }, context);
    const pages = join(root, "pages/tsconfig.json");
    if (existsSync(pages)) await runTool(root, "typescript/bin/tsc", ["-p", pages, "--noEmit"], context);
    if (hasFrontEnd(root)) await runTool(root, "vite/bin/vite.js", ["build"], context);
    rmSync(outDir, { recursive: true, force: true });
    renameSync(next, outDir);
    await listCommands(root, output, context);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/** The bundle for `WorkerPageRenderer`: `pages/server.tsx` becomes `pages/server.js` in the folder of the release. */
async function buildServerEntry(root: string, next: string, context: CommandContext): Promise<void> {
  const { frontEnd: { serverEntry } = {} } = readSettings(root);
  if (serverEntry === undefined) return;
  const folder = join(next, dirname(serverEntry));
  await runTool(
    root,
    "vite/bin/vite.js",
    ["build", "--ssr", serverEntry, "--outDir", folder, "--emptyOutDir"],
    context,
  );
  // A manifest is for the tags of browsers.
  rmSync(join(folder, ".vite"), { recursive: true, force: true });
}

interface ReleaseConfig extends Pick<TypeScriptConfig, "file" | "exclude"> {
  readonly outDir: string;
  readonly next: string;
}

/** The options of the command line cannot exclude, so the compiler gets a file of settings for the time of the build. */
async function compile(
  root: string,
  { file, exclude = ["node_modules"], outDir, next }: ReleaseConfig,
  context: CommandContext,
): Promise<void> {
  const settings = join(dirname(file), `tsconfig.release-${process.pid}.json`);
  const lean = ["--outDir", next, "--declaration", "false", "--incremental", "false", "--noEmitOnError"];
  try {
    writeFileSync(settings, JSON.stringify({ extends: file, exclude: [...exclude, outDir, next, ...SPECS] }));
    await runTool(root, "typescript/bin/tsc", ["-p", settings, ...lean], context);
  } finally {
    rmSync(settings, { force: true });
  }
}

/**
 * For the help. An application that does not load where it is built, as without its variables, has no list. The compiled module is named,
 * because for a source the command would compile the specs too.
 */
async function listCommands(cwd: string, output: string, { env }: CommandContext): Promise<void> {
  const command = [join(import.meta.dirname, "main.js"), "routes", "--app", output];
  await once(spawn(process.execPath, command, { cwd, env, stdio: "ignore" }), "close");
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
