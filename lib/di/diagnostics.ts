/**
 * The faults of modules, bindings and running providers, in words: a code, what, where, and the fix. Kept together so that they speak
 * alike and the guide can be compared with them. Those of constructor parameters: `parameter-findings.ts`; of missing providers:
 * `missing.ts`.
 */
import type { Diagnostic } from "../errors/diagnostic.js";
import type { Provider } from "./provider.js";
import { nameOf } from "./token.js";
import { FrameworkError } from "../errors/framework-error.js";

const LOADING = "the file that defines it was not loaded yet: the files import each other";

export function notAModule(value: unknown, where: string): Diagnostic {
  const [reason, fix] =
    value === undefined
      ? [`: ${LOADING}`, "take one of the two file imports away"]
      : ["", "decorate the class with @Module({ … }); a provider belongs under providers"];
  return { code: "E_NOT_A_MODULE", what: `${nameOf(value)} is not a module${reason}`, where, fix };
}

export function moduleCycle(path: readonly { readonly name: string }[]): Diagnostic {
  return {
    code: "E_MODULE_CYCLE",
    what: `modules import each other: ${path.map(({ name }) => name).join(" -> ")}`,
    where: `imports of ${path.at(-2)?.name ?? ""}`,
    fix: "move what both need into a module of its own and import that one from both",
  };
}

export function notAProvider(value: unknown, where: string, reason?: string): Diagnostic {
  const [what, fix] =
    value === undefined
      ? [`undefined where a class belongs: ${LOADING}`, "take one of the two file imports away"]
      : [
          reason ?? `${nameOf(value)} is no class and no binding`,
          "list a class, or provide(Token).useClass, .useValue or .useFactory",
        ];
  return { code: "E_PROVIDER_INVALID", what, where, fix };
}

export function unknownExport(value: unknown, module: string, isModule: boolean): Diagnostic {
  const name = nameOf(value);
  const fix = isModule
    ? `add ${name} to the imports of ${module}`
    : `add ${name} to the providers of ${module} or import a module that exports it`;
  return {
    code: "E_EXPORT_UNKNOWN",
    what: `${module} exports ${name}, which it neither provides nor imports`,
    where: `exports of ${module}`,
    fix: `${fix}; or take it out of exports`,
  };
}

export function dependencyCycle(path: readonly Provider[]): Diagnostic {
  const last = path.at(-2);
  return {
    code: "E_PROVIDER_CYCLE",
    what: `providers need each other: ${path.map(({ label }) => label).join(" -> ")}`,
    where: last === undefined ? "" : buildPlace(last),
    fix: "move what both need into a class of its own and inject that one into both",
  };
}

export function unusedOverride(slot: Provider): Diagnostic {
  return {
    code: "E_DOUBLE_UNUSED",
    what: `nothing injects ${nameOf(slot.token)}, so its double would do nothing`,
    where: `the double of ${nameOf(slot.token)}`,
    fix: "bind the double to the token that is injected, or leave it out",
  };
}

/** How messages about a running constructor or factory call the place. */
export function buildPlace({ source, scope, token }: Provider): string {
  const part =
    source.kind === "class" ? `constructor of ${nameOf(source.implementation)}` : `factory of ${nameOf(token)}`;
  return `${part}, in ${scope.name}`;
}

export function promiseFromFactory(slot: Provider): Diagnostic {
  return {
    code: "E_FACTORY_PROMISE",
    what: `the factory of ${nameOf(slot.token)} returned a promise, and nothing waits for it`,
    where: buildPlace(slot),
    fix: "return the object at once and do what has to be waited for in Subsystem.start()",
  };
}

export function providerFailed(slot: Provider, error: unknown): Diagnostic {
  return {
    code: "E_PROVIDER_FAILED",
    what: `${slot.label} could not be built: ${messageOf(error)}`,
    where: buildPlace(slot),
    fix: "see the cause; what opens files or connections belongs in Subsystem.start()",
  };
}

function messageOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return "it threw a value that cannot be printed";
  }
}

/**
 * Thrown by a container that cannot give what it was asked for, or whose provider threw: the same finding that a start would list.
 * Its message says what and where; the provider's own error is the `cause`.
 */
export class ResolutionError extends FrameworkError {
  constructor(
    readonly diagnostic: Diagnostic,
    options: { readonly cause?: unknown } = {},
  ) {
    super(`${diagnostic.what}; at ${diagnostic.where}; fix: ${diagnostic.fix}`, { ...options, code: diagnostic.code });
  }
}
