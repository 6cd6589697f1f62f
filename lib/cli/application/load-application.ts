/**
 * Loads the application of the folder: finds its module, brings its output up to date, imports it and checks the export. Only the default
 * export counts: the builder of the application, or a function that returns it. Importing starts nothing, so that a command needs no
 * database.
 */
import { pathToFileURL } from "node:url";
import { ApplicationBuilder } from "../../app/builder.js";
import { Application } from "../../app/application.js";
import { findPlace, listFrames } from "../../errors/setup-error.js";
import { StartupError } from "../../errors/diagnostic.js";
import { causeText } from "../../errors/thrown-value.js";
import { CommandError, type CommandContext } from "../command.js";
import { storeCommandList } from "../run/command-list.js";
import { CommandOptions } from "../run/options.js";
import { bringUpToDate } from "./bring-up-to-date.js";
import { loadEnvironmentFile } from "./environment-file.js";
import { findApplication, type ApplicationFile } from "./find-application.js";
import { toSourcePlace } from "./source-place.js";

/** The time that the import and the exported function have together. */
const LOAD_TIMEOUT_MS = 5000;

export interface LoadedBuilder {
  readonly file: ApplicationFile;
  readonly builder: ApplicationBuilder;
  /** The variables that have their value from the file `.env`. */
  readonly fromFile: ReadonlySet<string>;
}

export interface LoadedApplication extends LoadedBuilder {
  readonly application: Application;
}

/**
 * @throws CommandError if the application is not found, throws, does not load within 5 seconds, or exports no builder
 * @throws StartupError with all faults of the application
 */
export async function loadApplication(context: CommandContext): Promise<LoadedApplication> {
  const loaded = await loadBuilder(context);
  const application = loaded.builder.build();
  if (isNamedByPackage(loaded.file))
    storeCommandList(
      loaded.file.root,
      application.commands.map((each) => new CommandOptions(each).described),
    );
  return { ...loaded, application };
}

/** Also where `--app` gives that module, as its source or compiled. */
function isNamedByPackage({ root, output }: ApplicationFile): boolean {
  try {
    return findApplication({ cwd: root, app: undefined }).output === output;
  } catch {
    return false;
  }
}

/** Without `build()`, for a command that changes the builder first. */
export async function loadBuilder(context: CommandContext): Promise<LoadedBuilder> {
  const file = findApplication(context);
  await bringUpToDate(file);
  const fromFile = loadEnvironmentFile(file.root, context.env);
  const exported = await withinTime(file, importDefault(file));
  if (exported instanceof ApplicationBuilder) return { file, builder: exported, fromFile };
  throw describeExport(file, exported);
}

async function importDefault(file: ApplicationFile): Promise<unknown> {
  try {
    const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(file.output).href);
    if (!("default" in module)) throw describeNoDefault(file, Object.keys(module));
    const { default: exported } = module;
    return typeof exported === "function" ? await exported() : exported;
  } catch (error) {
    throw error instanceof CommandError || error instanceof StartupError ? error : describeFailure(file, error);
  }
}

/** An import that waits for an event that never comes would keep the command waiting without a word. */
async function withinTime<T>(file: ApplicationFile, loading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(describeHang(file)), LOAD_TIMEOUT_MS);
  });
  const stopWatching = refuseExit(file);
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
    stopWatching();
  }
}

/** An application that ends the process while it loads would end the command as if it had succeeded. */
function refuseExit({ name }: ApplicationFile): () => void {
  const report = (): void => {
    process.stderr.write(
      `${name} ends the process while it loads\n  fix: call process.exit() in src/main.ts, not in the module of the application\n`,
    );
    process.exitCode = 1;
  };
  process.once("exit", report);
  return () => void process.off("exit", report);
}

function describeHang({ name }: ApplicationFile): CommandError {
  return new CommandError(`${name} does not load within ${LOAD_TIMEOUT_MS / 1000} s`, {
    where: `a top-level await of ${name} or of a module that it imports, or its exported function`,
    fix: "start nothing while it loads: call run() in src/main.ts, and connect in a subsystem or at the first use",
  });
}

function describeFailure({ name, output, root }: ApplicationFile, error: unknown): CommandError {
  const isSyntax = error instanceof SyntaxError;
  const place = findPlace(
    listFrames(error instanceof Error ? error.stack : undefined).filter((frame) => !/node:|node_modules/.test(frame)),
  );
  return new CommandError(
    `${name} ${isSyntax ? "or a module that it imports has an error of syntax" : "throws while it loads"}: ${causeText(error)}`,
    {
      where: place === undefined ? output : toSourcePlace(place, root),
      fix: isSyntax ? `correct it; node --check FILE names the line` : findFix(error),
      cause: error,
    },
  );
}

/** An application that connects while it loads fails where its database is away, although no command here needs it. */
function findFix(error: unknown): string {
  const { code } = Object(error);
  if (["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT", "EAI_AGAIN", "ECONNRESET"].includes(String(code)))
    return "connect when the application starts, not while its module loads: in a subsystem, or at the first use";
  if (code === "ERR_MODULE_NOT_FOUND") return "install the package, or correct the path of the import";
  return "correct the error; --verbose shows its stack";
}

function describeNoDefault({ name }: ApplicationFile, names: readonly string[]): CommandError {
  const others = names.length === 0 ? "it exports nothing" : `it exports ${names.join(", ")}`;
  return new CommandError(`${name} has no default export; ${others}`, {
    where: name,
    fix: "export default Application.create(…)…, without .build(): only the default export counts",
  });
}

function describeExport({ name }: ApplicationFile, exported: unknown): CommandError {
  const where = `the default export of ${name}`;
  const { name: kind } = Object(Object(exported).constructor);
  if (exported instanceof Application)
    return new CommandError(`${where} is built already`, {
      where: name,
      fix: "leave out .build(), and call it in src/main.ts",
    });
  if (kind === "ApplicationBuilder" || kind === "Application")
    return new CommandError(`${where} is of another copy of the framework than this command`, {
      where: name,
      fix: "run npx stagecraft in the folder of the application; npm ls @stagecraft/framework shows the copies",
    });
  return new CommandError(
    `${where} is no builder of an application: ${exported === undefined ? "undefined" : `a value of ${kind}`}`,
    {
      where: name,
      fix: "export Application.create(…) with its calls, without .build(), or a function that returns it",
    },
  );
}
