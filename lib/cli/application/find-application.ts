/**
 * Finds the module of the application: `--app FILE`, or `stagecraft.app` of the nearest package.json. Its source may be TypeScript; the
 * module that is imported is the JavaScript in the output folder of the nearest tsconfig.json.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { CommandError, type CommandContext } from "../command.js";
import { findUpwards } from "./find-upwards.js";
import { findOutput, isTypeScript } from "./typescript-config.js";

export interface ApplicationFile {
  /** The folder of package.json. */
  readonly root: string;
  /** The source as the user named it, for messages. */
  readonly name: string;
  /** The absolute path of the source. */
  readonly source: string;
  /** The absolute path of the JavaScript to import: the source itself if it is JavaScript. */
  readonly output: string;
}

/** @throws CommandError if package.json does not name the module, or the file does not exist */
export function findApplication({ cwd, app }: Pick<CommandContext, "cwd" | "app">): ApplicationFile {
  if (app !== undefined) expectModule(resolve(cwd, app), app, "--app");
  const root = findUpwards("package.json", app === undefined ? cwd : dirname(resolve(cwd, app)));
  if (root === undefined)
    throw new CommandError("there is no package.json", {
      where: `${app === undefined ? cwd : dirname(resolve(cwd, app))}, or a folder above it`,
      fix: "run the command in the folder of an application",
    });
  const name = app ?? readApplicationName(root);
  const source = resolve(app === undefined ? root : cwd, name);
  if (app === undefined) expectModule(source, name, `"stagecraft" in ${relativeTo(cwd, join(root, "package.json"))}`);
  return { root, name, source, output: isTypeScript(source) ? findOutput(source) : source };
}

/** The path from the folder in which the command runs. */
export function relativeTo(cwd: string, path: string): string {
  return relative(cwd, path) || ".";
}

function readApplicationName(root: string): string {
  const manifest = readManifest(join(root, "package.json"));
  const app: unknown = Object(Object(manifest).stagecraft).app;
  if (typeof app === "string" && app !== "") return app;
  throw new CommandError("package.json does not name the module of the application", {
    where: join(root, "package.json"),
    fix: 'add "stagecraft": { "app": "src/app.ts" }, or give --app FILE',
  });
}

/** @throws CommandError if the file is not JSON */
export function readManifest(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new CommandError("package.json is not JSON", { where: file, fix: "correct its syntax", cause });
  }
}

function expectModule(path: string, name: string, where: string): void {
  // A release may have the compiled files alone.
  if (!existsSync(path) && isTypeScript(path) && existsSync(findOutput(path))) return;
  const fix = "name the module whose default export is the builder of the application";
  expectFile(path, { name, where, extensions: /\.[cm]?[jt]s$/, kind: "file of JavaScript or TypeScript", fix });
}

interface ExpectedFile {
  /** As the user wrote it. */
  readonly name: string;
  /** Where the name is written. */
  readonly where: string;
  readonly extensions: RegExp;
  readonly kind: string;
  readonly fix: string;
}

/** @throws CommandError for a path that is no file, or has another extension */
export function expectFile(path: string, { name, where, extensions, kind, fix }: ExpectedFile): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true && extensions.test(path)) return;
  const fault = stats === undefined ? "does not exist" : stats.isFile() ? `is no ${kind}` : "is no file";
  throw new CommandError(`${name === "" ? "the empty name" : name} ${fault}`, { where, fix });
}
