/**
 * `@Command(name, schema)` above a method: `npx stagecraft NAME` calls the method between the start and the stop of the subsystems of the
 * application. Its parameters are the values, which the schema has checked, and the streams and the signal of the process; it may omit
 * them. The class is a provider or a controller of any module. `build()` finds its methods, and refuses two methods for one name.
 *
 * The method returns nothing. It writes its result to `stdout`, and throws if it fails: the exit code is then 1.
 *
 * Not for work that the application does while it serves: that is a job or a schedule.
 *
 * @example
 * class Reports {
 *   @Command("reports:send", z.object({ month: z.string(), dryRun: z.boolean() }))
 *   async send({ month, dryRun }: { month: string; dryRun: boolean }, { stdout, signal }: CommandContext) { … }
 * }
 */
import { requireParentheses } from "../errors/bare-decorator.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import { recordDecorated } from "../di/unlisted.js";
import type { AnyHandler } from "../endpoints/handler.js";
import { MethodRecords, toDecoratedMethod } from "../endpoints/method-records.js";
import { isSchema, type Schema } from "../runtime/standard-schema.js";

/** The second parameter of a command, which a test writes as an object. Its public name is `CommandContext`. */
export interface CommandMethodContext {
  /** Receives the result. What the application prints itself goes to standard error. */
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Aborts at the first SIGINT or SIGTERM. The method then has `drainDeadlineMs`; a second signal ends the process at once. */
  readonly signal: AbortSignal;
}

/** The values of a command without a schema: it takes no options. */
export type NoValues = Readonly<Record<string, never>>;

/**
 * Every type, for a method that takes the values of the command and returns nothing. For other methods it is a type that neither a method nor its descriptor
 * has, and the compiler shows the name of its property as the reason.
 */
export type FitsCommand<H extends AnyHandler, Values> =
  TakesValues<Parameters<H>, Values> extends true
    ? ReturnType<H> extends void | Promise<void>
      ? unknown
      : { readonly "a command returns nothing: it writes its result to stdout": ReturnType<H> }
    : { readonly "method does not take the values of this command": Values };

type TakesValues<P extends readonly unknown[], Values> = P extends []
  ? true
  : P extends [unknown]
    ? [Values] extends P
      ? true
      : false
    : [Values, CommandMethodContext] extends P
      ? true
      : false;

/** The standard kind of call comes first, as in `Endpoint`. */
export interface CommandDecorator<Values> {
  <H extends AnyHandler>(method: H & FitsCommand<H, Values>, context: ClassMethodDecoratorContext): void;
  <H extends AnyHandler>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<H> & FitsCommand<H, Values>,
  ): void;
}

/** A method of an instance of the application. */
export interface ApplicationCommand {
  readonly name: string;
  readonly schema: Schema | undefined;
  /** `Reports.send`. */
  readonly place: string;
  readonly run: (values: unknown, context: CommandMethodContext) => unknown;
}

/** Groups and a name in lower case. Names of one word are those of the framework. */
const NAME = /^[a-z][a-z\d-]*(?::[a-z][a-z\d-]*)+$/;
const MAX_NAME = 100;

/** The groups of the commands of the framework. */
export const RESERVED_GROUPS: readonly string[] = ["db", "jobs", "key", "make", "migrate", "schedule"];

const commands = new MethodRecords<Pick<ApplicationCommand, "name" | "schema">>();

/**
 * @param name words of `a` to `z`, digits and `-`, joined by colons, such as `reports:send`; at most 100 characters
 * @param schema any Standard Schema of an object, whose members are the options: `dryRun` is `--dry-run`
 * @throws FrameworkError `E_COMMAND_NAME` for another name, and for a group of the framework; `E_DECORATOR_CALL` without parentheses or for
 *   a value that is no schema; `E_DECORATOR_KIND` above anything but a public instance method
 */
export function Command(name: string): CommandDecorator<NoValues>;
export function Command<Output>(name: string, schema: Schema<unknown, Output>): CommandDecorator<Output>;
export function Command(name: string, schema?: Schema, ...none: readonly never[]): CommandDecorator<never> {
  requireParentheses('Command("group:name")', ["method"], name, [schema, ...none]);
  checkName(name);
  if (schema !== undefined && !isSchema(schema))
    throw createSetupError("E_DECORATOR_CALL", `@Command("${name}") needs a Standard Schema, not ${valueText(schema)}`);
  return (target: object, ...rest: readonly unknown[]): void => {
    const method = toDecoratedMethod("Command(name)", target, rest);
    recordDecorated(method.declaredBy, "@Command");
    commands.add(method, { name, schema });
  };
}

function checkName(name: unknown): void {
  if (typeof name !== "string" || name.length > MAX_NAME || !NAME.test(name))
    throw createSetupError(
      "E_COMMAND_NAME",
      `${valueText(name)} is not the name of a command: write words of a to z, digits and "-" with colons between, such as "reports:send"`,
    );
  const [group = ""] = name.split(":");
  if (RESERVED_GROUPS.includes(group))
    throw createSetupError(
      "E_COMMAND_NAME",
      `the command "${name}" cannot be in the group "${group}", which the framework has: choose another group`,
    );
}

/**
 * The decorated methods of the instances and of their base classes. A method that a subclass decorates again has only the names of the
 * subclass.
 */
export function listCommands(instances: Iterable<unknown>): readonly ApplicationCommand[] {
  return [...instances].flatMap((instance) => {
    if (typeof instance !== "object" || instance === null) return [];
    return [...commands.getOfInstance(instance)].flatMap(([key, own]) =>
      own.map(({ name, schema }) => ({
        name,
        schema,
        place: `${instance.constructor.name}.${String(key)}`,
        // Read at each call, so that a test may replace the method of an instance. `@Command` decorates methods only.
        run: (...args) => (Reflect.get(instance, key) as ApplicationCommand["run"]).apply(instance, args),
      })),
    );
  });
}

/** One diagnostic for each command that has the name of an earlier one. */
export function checkCommands(all: readonly ApplicationCommand[]): readonly Diagnostic[] {
  const places = new Map<string, string>();
  return all.flatMap(({ name, place }) => {
    const earlier = places.get(name);
    places.set(name, place);
    if (earlier === undefined) return [];
    return {
      code: "E_COMMAND_TWICE",
      what: `the command ${name} has more than one method`,
      where: `${earlier} and ${place}`,
      fix: "give each method another name, or list the class in one module and export it",
    };
  });
}
