/**
 * The diagnostics of modules, bindings, constructors and factories. Those of constructor parameters are in `constructor-diagnostics.ts`,
 * those of missing providers in `missing-provider.ts`.
 */
import { describeBareUse } from "../errors/bare-decorator.js";
import { findForeignCopy } from "../errors/copy.js";
import { type Diagnostic, DiagnosticError } from "../errors/diagnostic.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { Provider } from "./provider.js";
import { describeToken } from "./token.js";

const NOT_LOADED = "the file that defines it is not loaded yet, because two files import each other";
const REMOVE_IMPORT = "remove one of the two imports";

export function notAModule(value: unknown, where: string): Diagnostic {
  const foreign = findForeignCopy(value, where);
  if (foreign !== undefined) return foreign;
  const [reason, fix] =
    value === undefined
      ? [`: ${NOT_LOADED}`, REMOVE_IMPORT]
      : ["", "decorate the class with @Module({ … }); a provider belongs under providers"];
  return { code: "E_NOT_A_MODULE", what: `${describeToken(value)} is not a module${reason}`, where, fix };
}

export function moduleCycle(path: readonly { readonly name: string }[]): Diagnostic {
  return {
    code: "E_MODULE_CYCLE",
    what: `modules import each other: ${path.map(({ name }) => name).join(" -> ")}`,
    where: `imports of ${path.at(-2)?.name ?? ""}`,
    fix: "move the shared providers into a third module, and import that module from both",
  };
}

export function notAProvider(value: unknown, where: string, reason?: string): Diagnostic {
  const foreign = findForeignCopy(value, where);
  if (foreign !== undefined) return foreign;
  const [what, fix] =
    value === undefined
      ? [`undefined stands in the place of a class: ${NOT_LOADED}`, REMOVE_IMPORT]
      : [
          reason ?? describeBareUse(value) ?? `${describeToken(value)} is neither a class nor a binding`,
          "list a class, or provide(Token).useClass, .useValue or .useFactory",
        ];
  return { code: "E_PROVIDER_INVALID", what, where, fix };
}

export function notAnEvent(value: unknown, where: string): Diagnostic {
  const [reason, fix] =
    value === undefined ? [`: ${NOT_LOADED}`, REMOVE_IMPORT] : ["", 'list values that event("…") has returned'];
  return { code: "E_NOT_AN_EVENT", what: `${describeToken(value)} is not an event${reason}`, where, fix };
}

export function unknownExport(value: unknown, module: string, isModule: boolean): Diagnostic {
  const where = `exports of ${module}`;
  const foreign = findForeignCopy(value, where);
  if (foreign !== undefined) return foreign;
  const name = describeToken(value);
  const fix = isModule
    ? `add ${name} to the imports of ${module}`
    : `add ${name} to the providers of ${module}, import a module that exports it`;
  return {
    code: "E_EXPORT_UNKNOWN",
    what: `${module} exports ${name}, which it neither provides nor imports`,
    where,
    fix: `${fix}, or remove it from the exports`,
  };
}

export function dependencyCycle(path: readonly Provider[]): Diagnostic {
  const last = path.at(-2);
  return {
    code: "E_PROVIDER_CYCLE",
    what: `providers need each other: ${path.map(({ label }) => label).join(" -> ")}`,
    where: last === undefined ? "" : describeBuildPlace(last),
    fix: "move the shared part into another class, and inject that class into both",
  };
}

export function unusedOverride({ token }: Provider): Diagnostic {
  return {
    code: "E_DOUBLE_UNUSED",
    what: `nothing injects ${describeToken(token)}, so its test override has no effect`,
    where: `the test override of ${describeToken(token)}`,
    fix: "bind the double to the token that is injected, or remove it",
  };
}

export function returnedPromise(provider: Provider): Diagnostic {
  const { source, token } = provider;
  const [code, origin] =
    source.kind === "class"
      ? ["E_CONSTRUCTOR_PROMISE", `the constructor of ${describeToken(source.implementation)}`]
      : ["E_FACTORY_PROMISE", `the factory of ${describeToken(token)}`];
  return {
    code,
    what: `${origin} returned a promise, and the container does not wait for promises`,
    where: describeBuildPlace(provider),
    fix: "return the object at once, and do the asynchronous work in Subsystem.start()",
  };
}

export function providerFailed(provider: Provider, error: unknown): Diagnostic {
  if (error instanceof DiagnosticError) return error.diagnostic;
  const where = describeBuildPlace(provider);
  // The error of inject has the mark of its copy.
  const foreign = findForeignCopy(error, where);
  if (foreign !== undefined) return foreign;
  // The message of an error of the framework has the fix, and its code has an entry in the guide.
  if (isExplained(error))
    return { code: error.code, what: `${provider.label} could not be built: ${error.message}`, where, fix: "" };
  return {
    code: "E_PROVIDER_FAILED",
    what: `${provider.label} could not be built: ${toText(error)}`,
    where,
    fix: "correct the code, or what it reads; open files and connections in Subsystem.start(), not in a constructor or a factory",
  };
}

function isExplained(error: unknown): error is FrameworkError {
  return error instanceof FrameworkError && error.code !== "E_INTERNAL";
}

/** The place of a running constructor or factory. */
export function describeBuildPlace({ source, scope, token }: Provider): string {
  const part =
    source.kind === "class"
      ? `constructor of ${describeToken(source.implementation)}`
      : `factory of ${describeToken(token)}`;
  return `${part}, in ${scope.name}`;
}

function toText(error: unknown): string {
  try {
    return String(error);
  } catch {
    return "it threw a value that cannot be printed";
  }
}

/**
 * A token could not be resolved. The error has the diagnostic that a start would list, and the error of the provider as its `cause`.
 */
export class ResolutionError extends DiagnosticError {}
