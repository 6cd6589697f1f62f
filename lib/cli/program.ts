/**
 * The commands, as a static table, and the parser of the command line. Help loads neither an application nor the file of a command: each
 * row imports its file when it runs.
 */
import { inspect } from "node:util";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import {
  argument,
  command,
  CommandError,
  flag,
  text,
  toOption,
  UsageError,
  type CommandContext,
  type CommandProcess,
  type CommandRow,
  type DescribedCommand,
  type ExitCode,
  type Parameter,
} from "./command.js";
import { NEW_COMMAND } from "./create/row.js";
import { DO_COMMANDS } from "./do/rows.js";
import { JOB_COMMANDS } from "./jobs/rows.js";
import { MAKE_COMMANDS } from "./make/rows.js";
import { readCommandList } from "./run/command-list.js";
import { escapeControls } from "./text-table.js";

export const COMMANDS: readonly CommandRow[] = [
  NEW_COMMAND,
  command("build", {
    summary: "compile the sources and the front end for a release",
    load: async () => (await import("./build.js")).build,
  }),
  command("dev", {
    summary: "run the application, and again after each change",
    parameters: {
      main: text("FILE", "the source that runs the application; by default main.ts beside its module"),
      port: text("PORT", "the port of the browser; by default PORT, APP_PORT or 3000"),
      host: text("HOST", "the address to listen on; by default 127.0.0.1"),
    },
    load: async () => (await import("./dev/dev.js")).dev,
  }),
  command("start", {
    summary: "run the compiled application as a release",
    parameters: { workers: text("N", "serve with N processes behind one port; auto is one for each processor") },
    load: async () => (await import("./start.js")).start,
  }),
  command("routes", {
    summary: "the routes of the application",
    json: true,
    load: async () => (await import("./see/routes.js")).routes,
  }),
  command("pipeline", {
    summary: "the stages in their order, on or off",
    parameters: { check: text("FILE", "compare with the output in a file; exit code 1 if they differ") },
    json: true,
    load: async () => (await import("./see/pipeline.js")).pipeline,
  }),
  command("graph", {
    summary: "the modules, and what is in them",
    parameters: {
      mermaid: flag("print the modules as a diagram of Mermaid"),
      diff: text("FILE", "print the differences from a graph that --json has written"),
    },
    json: true,
    load: async () => (await import("./see/graph.js")).graph,
  }),
  command("openapi", {
    summary: "the OpenAPI document of the contracts",
    parameters: { check: text("FILE", "compare with an earlier document; exit code 1 if a change breaks a client") },
    json: true,
    load: async () => (await import("./see/openapi.js")).openapi,
  }),
  command("typegen", {
    summary: "the types of the endpoints for a front end in another repository",
    parameters: {
      check: flag("compare with the file of --out; exit code 1 if it differs"),
      out: text("FILE", "write the file; otherwise it is printed"),
    },
    load: async () => (await import("./see/typegen.js")).typegen,
  }),
  command("explain", {
    summary: "what the application does with a request; exit code 1 if no route handles it",
    parameters: { method: argument("METHOD", "such as GET"), path: argument("PATH", "such as /links/7") },
    json: true,
    load: async () => (await import("./see/explain.js")).explain,
  }),
  command("config", {
    summary: "the environment variables that are read, without secrets",
    json: true,
    load: async () => (await import("./see/config.js")).config,
  }),
  command("doctor", {
    summary: "find faults of the setup, each with its fix; exit code 1 if there is one",
    parameters: { strict: flag("a warning gives exit code 1 too") },
    json: true,
    load: async () => (await import("./see/doctor.js")).doctor,
  }),
  ...DO_COMMANDS,
  ...JOB_COMMANDS,
  ...MAKE_COMMANDS,
  command("completion", {
    summary: "print the script that completes the words of this command in a shell",
    parameters: {
      shell: argument("bash|zsh|fish", "the shell"),
      line: text("TEXT", "print the words that may end this line, as the script asks"),
    },
    load: async () => (await import("./completion/completion.js")).complete(COMMANDS),
  }),
  command("version", {
    summary: "the versions of the framework and of Node",
    json: true,
    load: async () => (await import("./see/version.js")).version,
  }),
];

/** Runs one command. Never throws: an error of the command is printed, and becomes the exit code. */
export async function runCommand(argv: readonly string[], given: CommandProcess): Promise<ExitCode> {
  let code: ExitCode = 0;
  try {
    const options = createProgram(given);
    const called = findApplicationCommand(options, argv);
    const globals = createContext(given, options.opts<GlobalOptions>());
    if (called !== undefined && !called.wantsHelp) return await runOfApplication(called, globals);
    const listed = await listApplicationCommands(called, globals);
    if (typeof listed === "number") return listed;
    const program = createProgram(given);
    for (const row of COMMANDS)
      addRow(program, row, given, async (values, context) => {
        code = (await runRow(() => row.run(values, context), context)) ?? 0;
      });
    for (const each of listed) addDescribed(program, each).helpGroup("Commands of the application:");
    await program.parseAsync(argv[0] === "--version" ? ["version"] : argv, { from: "user" });
    return code;
  } catch (error) {
    // The parser has printed its errors, and help.
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** A command of the application as it is called, without the options of every command. */
interface ApplicationCall {
  readonly name: string;
  readonly words: readonly string[];
  readonly wantsHelp: boolean;
}

/** The names of the application have a group that no command of the table has, so that no application is loaded for another word. */
function findApplicationCommand(program: Command, argv: readonly string[]): ApplicationCall | undefined {
  const { operands, unknown } = program.parseOptions([...argv]);
  const [name = "", ...others] = operands;
  if (isOfTable(name) || !name.includes(":")) return undefined;
  const words = [...others, ...unknown];
  return { name, words, wantsHelp: words.some((word) => word === "--help" || word === "-h") };
}

function isOfTable(name: string): boolean {
  return COMMANDS.some((row) => row.name.split(":")[0] === name.split(":")[0]);
}

async function runOfApplication({ name, words }: ApplicationCall, context: CommandContext): Promise<ExitCode> {
  const run = async () => (await import("./run/run.js")).runApplicationCommand(name, words, context);
  return (await runRow(run, context)) ?? 0;
}

/** The application is loaded only for the help of a command that the list does not have. After an error, which is printed, its exit code. */
async function listApplicationCommands(
  called: ApplicationCall | undefined,
  context: CommandContext,
): Promise<readonly DescribedCommand[] | ExitCode> {
  // A list of an earlier version may have a name that is now one of the table.
  let listed: readonly DescribedCommand[] = readCommandList(context.cwd).filter(({ name }) => !isOfTable(name));
  if (called === undefined || listed.some(({ name }) => name === called.name)) return listed;
  const describe = async (): Promise<void> => {
    listed = await (await import("./run/run.js")).describeCommands(called.name, context);
  };
  return (await runRow(describe, context)) ?? listed;
}

type RunRow = (values: Readonly<Record<string, unknown>>, context: CommandContext) => Promise<void>;

function createProgram(given: CommandProcess): Command {
  return new Command("stagecraft")
    .description("The command of @stagecraft/framework.")
    .exitOverride()
    .configureOutput({ writeOut: (part) => given.stdout.write(part), writeErr: (part) => given.stderr.write(part) })
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .option(
      "--app <FILE>",
      "the module whose default export is the application; by default stagecraft.app of package.json",
      takeOnce,
    )
    .option("--verbose", "show the stack of an error");
}

function addRow(program: Command, row: CommandRow, given: CommandProcess, run: RunRow): void {
  const [last = "", group] = row.name.split(" ").toReversed();
  const parent = group === undefined ? program : findGroup(program, group);
  const added = addDescribed(parent, { ...row, name: last });
  const names = Object.keys(row.parameters).filter((name) => row.parameters[name]?.kind.includes("argument"));
  if (row.hasJson) added.option("--json", "print the result as one JSON value");
  added.action(async () => {
    const options = added.optsWithGlobals<GlobalOptions>();
    const positional = Object.fromEntries(names.map((name, at): [string, unknown] => [name, added.processedArgs[at]]));
    await run({ ...options, ...positional }, createContext(given, options));
  });
}

function addDescribed(program: Command, { name, summary, parameters }: DescribedCommand): Command {
  const added = program.command(name).description(summary).summary(summary);
  for (const [parameter, each] of Object.entries(parameters)) addParameter(added, parameter, each);
  return added;
}

/** `jobs list` and its siblings are commands of `jobs`, which alone shows its help. */
function findGroup(program: Command, group: string): Command {
  const names = COMMANDS.map(({ name }) => name.split(" ")).flatMap(([first, name]) => (first === group ? [name] : []));
  const summary = `${names.join(", ")}: stagecraft ${group} --help`;
  return program.commands.find((each) => each.name() === group) ?? program.command(group).summary(summary);
}

interface GlobalOptions extends Record<string, unknown> {
  readonly app?: string;
  readonly json?: true;
  readonly verbose?: true;
}

/** The parser would take the last value without a word. */
function takeOnce(value: string, previous: string | undefined): string {
  if (previous === undefined) return value;
  throw new InvalidArgumentError("It is given twice.");
}

function addParameter(added: Command, name: string, { kind, placeholder, summary }: Parameter<unknown>): void {
  const option = toOption(name);
  if (kind === "flag") added.option(option, summary);
  else if (kind === "text") added.option(`${option} <${placeholder}>`, summary, takeOnce);
  else if (kind === "texts") added.option(`${option} <${placeholder}...>`, summary);
  else {
    const inBrackets = {
      argument: `<${placeholder}>`,
      "optional argument": `[${placeholder}]`,
      arguments: `[${placeholder}...]`,
    };
    added.argument(inBrackets[kind], summary);
  }
}

/** The signal is not read here: the process handles signals only for a command that reads it. */
function createContext(given: CommandProcess, { app, json, verbose }: GlobalOptions): CommandContext {
  const { cwd, env, stdout, stderr, isInteractive } = given;
  return {
    cwd,
    env,
    stdout,
    stderr,
    isInteractive,
    get signal() {
      return given.signal;
    },
    app,
    isJson: json === true,
    isVerbose: verbose === true,
  };
}

async function runRow(run: () => Promise<void | ExitCode>, context: CommandContext): Promise<void | ExitCode> {
  try {
    return await run();
  } catch (error) {
    context.stderr.write(`${formatError(error, context.isVerbose)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** What, where and the fix; with `isVerbose` the error as Node prints it. The message of a server or of a job may have control characters. */
export function formatError(error: unknown, isVerbose: boolean): string {
  const lines = isVerbose ? inspect(error) : describeError(error);
  return lines.split("\n").map(escapeControls).join("\n");
}

function describeError(error: unknown): string {
  if (!(error instanceof CommandError)) return error instanceof Error ? error.message : inspect(error);
  const { message, where, fix } = error;
  return [
    message,
    ...(where === undefined ? [] : [`  at ${where}`]),
    ...(fix === undefined ? [] : [`  fix: ${fix}`]),
  ].join("\n");
}
