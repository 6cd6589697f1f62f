/**
 * `stagecraft dev`: the options of the development server, from the command line, the environment and package.json. The program is `main.ts`
 * beside the module of the application, or `stagecraft.main` of package.json. An application with a `vite.config` has a front end;
 * `stagecraft.frontEnd` names the module that renders its pages on the server, and their stylesheet.
 */
import { dirname, join, resolve } from "node:path";
import { DEFAULT_PORT, parsePort } from "../../app/config.js";
import { loadEnvironmentFile } from "../application/environment-file.js";
import { expectFile, findApplication, relativeTo } from "../application/find-application.js";
import { findUpwards } from "../application/find-upwards.js";
import { readSettings, type PackageSettings } from "../application/package-settings.js";
import { readTypeScriptConfig, TYPESCRIPT } from "../application/typescript-config.js";
import { CommandError, UsageError, type CommandContext } from "../command.js";
import { develop } from "./develop.js";
import { hasFrontEnd } from "./front-end.js";

export interface DevValues {
  readonly main: string | undefined;
  readonly port: string | undefined;
  readonly host: string | undefined;
}

export async function dev({ main, port, host = "127.0.0.1" }: DevValues, context: CommandContext): Promise<void> {
  const root = findUpwards("package.json", context.cwd) ?? context.cwd;
  const given = { ...context.env };
  const readEnvironment = (): NodeJS.ProcessEnv => {
    const env = { ...given };
    loadEnvironmentFile(root, env);
    return env;
  };
  Object.assign(context.env, readEnvironment());
  const places = { port: findPort(port, context.env), host };
  const settings = readSettings(root);
  const program = main === undefined ? findMain(root, settings, context) : resolve(context.cwd, main);
  expectSource(program, main ?? relativeTo(context.cwd, program), main === undefined ? "package.json" : "--main");
  const frontEnd = hasFrontEnd(root) ? { root, ...settings.frontEnd } : undefined;
  const { allowedHosts } = settings;
  await develop({ main: program, root, readEnvironment, frontEnd, allowedHosts, ...places }, context);
}

function findMain(root: string, { main }: PackageSettings, context: CommandContext): string {
  return main === undefined ? join(dirname(findApplication(context).source), "main.ts") : resolve(root, main);
}

/** @throws CommandError unless the program is a source in a project of TypeScript */
function expectSource(program: string, name: string, where: string): void {
  const fix = "name the source that runs the application, for example src/main.ts";
  expectFile(program, { name, where, extensions: TYPESCRIPT, kind: "source of TypeScript", fix });
  if (readTypeScriptConfig(program) === undefined)
    throw new CommandError(`no folder above ${name} has a tsconfig.json`, {
      where,
      fix: "write a tsconfig.json with rootDir and outDir",
    });
}

function findPort(given: string | undefined, env: CommandContext["env"]): number {
  const port = parsePort(given);
  if (given !== undefined && port === undefined)
    throw new UsageError(`${given} is no port`, { where: "--port", fix: "write a number from 0 to 65535" });
  return port ?? parsePort(env["PORT"]) ?? parsePort(env["APP_PORT"]) ?? DEFAULT_PORT;
}
