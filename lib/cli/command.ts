/**
 * What every command shares: the context that it runs in, its handler, its parameters, and the errors that end it. A command writes its
 * result to `stdout`, messages to `stderr`, and nothing to `process`, so that a spec may run it with streams of its choice.
 *
 * This file and `program.ts` import nothing of the framework: help and completion load them.
 */

/** 0: done. 1: failed. 2: wrong use. */
export type ExitCode = 0 | 1 | 2;

export interface CommandOutput {
  write(text: string): unknown;
}

/** What the process gives to a command. */
export interface CommandProcess {
  readonly cwd: string;
  /** The command adds the variables of the file `.env` that it does not have. */
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: CommandOutput;
  readonly stderr: CommandOutput;
  /** Whether a person at a terminal can be asked: both ends are a terminal, and `CI` is not set. */
  readonly isInteractive: boolean;
  /** Aborts at the first SIGINT or SIGTERM. A command that never reads it is ended by the signal. */
  readonly signal: AbortSignal;
}

export interface CommandContext extends CommandProcess {
  /** `--app FILE`, as given. */
  readonly app: string | undefined;
  /** With `--json` the result is one JSON value on `stdout`, and nothing else is there. */
  readonly isJson: boolean;
  /** With `--verbose` an error shows its stack. */
  readonly isVerbose: boolean;
}

/** Without a result the exit code is 0. The process ends when the handler has ended, whatever is open. */
export type CommandHandler<V> = (values: V, context: CommandContext) => Promise<void | ExitCode>;

/** An option, or an argument by position. `T` is the type of its value. */
export interface Parameter<T> {
  readonly kind: "flag" | "text" | "texts" | "argument" | "optional argument" | "arguments";
  /** The name of the value in the help; of a value from a fixed set all of them, as `low|high`. */
  readonly placeholder: string;
  readonly summary: string;
  /** Names the type of the value; no value has this member. */
  readonly type?: T;
}

/** `--strict` */
export function flag(summary: string): Parameter<true | undefined> {
  return { kind: "flag", placeholder: "", summary };
}

/** `--check FILE` */
export function text(placeholder: string, summary: string): Parameter<string | undefined> {
  return { kind: "text", placeholder, summary };
}

/** A word by its position, which must be given. The arguments of a command stand before its options. */
export function argument(placeholder: string, summary: string): Parameter<string> {
  return { kind: "argument", placeholder, summary };
}

export function optionalArgument(placeholder: string, summary: string): Parameter<string | undefined> {
  return { kind: "optional argument", placeholder, summary };
}

/** All remaining words: the last argument of a command. */
export function restArguments(placeholder: string, summary: string): Parameter<readonly string[]> {
  return { kind: "arguments", placeholder, summary };
}

/** `dryRun` is `--dry-run`. */
export function toOption(name: string): string {
  return `--${name.replaceAll(/(?<=[a-z\d])[A-Z]/g, "-$&").toLowerCase()}`;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

export type ParameterValues<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

/** A command in the help and in the completion. */
export interface DescribedCommand {
  readonly name: string;
  /** One line for the help, without a full stop. */
  readonly summary: string;
  readonly parameters: Parameters;
}

/** A row of the table of commands. */
export interface CommandRow extends DescribedCommand {
  readonly hasJson: boolean;
  readonly run: CommandHandler<Readonly<Record<string, unknown>>>;
}

interface CommandDefinition<P extends Parameters> {
  readonly summary: string;
  readonly parameters?: P;
  /** Whether the command takes `--json`. */
  readonly json?: boolean;
  /** Imports the file of the command, when it runs. */
  readonly load: () => Promise<CommandHandler<ParameterValues<P>>>;
}

/** `command("explain", { summary, parameters: { method: argument("METHOD", …) }, load: async () => (await import("./see/explain.js")).explain })` */
export function command<const P extends Parameters>(name: string, definition: CommandDefinition<P>): CommandRow {
  const { summary, parameters, json = false, load } = definition;
  return {
    name,
    summary,
    parameters: parameters ?? {},
    hasJson: json,
    // The parser has read the values by these parameters.
    run: async (values, context) => (await load())(values as ParameterValues<P>, context),
  };
}

/** Ends a command with exit code 1. The message says what failed. */
export class CommandError extends Error {
  /** The file, or the place in it. */
  readonly where: string | undefined;
  readonly fix: string | undefined;

  constructor(what: string, { where, fix, cause }: CommandErrorDetails = {}) {
    super(what, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.where = where;
    this.fix = fix;
  }
}

export interface CommandErrorDetails {
  readonly where?: string | undefined;
  readonly fix?: string | undefined;
  readonly cause?: unknown;
}

/** Ends a command with exit code 2: it was called in a wrong way. */
export class UsageError extends CommandError {}
