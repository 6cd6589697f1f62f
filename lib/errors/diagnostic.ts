/**
 * `StartupError` has all faults of an application. `build()` throws it before it builds the first instance, so that one start shows all
 * faults, each with its place and its fix. The message shows the first ten, and counts the others.
 *
 * Not for errors of a request: those are a `FrameworkError` with a status.
 */
import { FrameworkError } from "./framework-error.js";
import { printIfUncaught } from "./setup-error.js";

/** One fault. */
export interface Diagnostic {
  /** Stable, unique: `E_…`. */
  readonly code: string;
  /** The fault. Names the offending value. */
  readonly what: string;
  /** Class, parameter and position; or route; or builder call. */
  readonly where: string;
  /** The change that corrects it; empty where `what` has it. */
  readonly fix: string;
}

/** A setting that is allowed and probably a mistake. Logged when the application starts. */
export interface Warning {
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** An error that is one fault: where it ends a start, the report lists the fault with its code. */
export class DiagnosticError extends FrameworkError {
  constructor(
    readonly diagnostic: Diagnostic,
    options: { readonly cause?: unknown } = {},
  ) {
    const { code, what, where, fix } = diagnostic;
    super(`${what}; at ${where}${fix && `; fix: ${fix}`}`, { ...options, code });
  }
}

export class StartupError extends FrameworkError {
  readonly diagnostics: readonly Diagnostic[];

  /** @param options.head the first line of the message */
  constructor(
    diagnostics: readonly Diagnostic[],
    { head, ...options }: { readonly cause?: unknown; readonly head?: string } = {},
  ) {
    super(formatMessage(diagnostics, head), { code: "E_STARTUP", status: 500, ...options });
    this.diagnostics = diagnostics;
    hideStack(this);
    printIfUncaught(this);
  }
}

/**
 * Makes Node print only the message where the error ends the process. The message has the fix; the stack would show only lines of the
 * framework.
 *
 * @internal
 */
export function hideStack(error: FrameworkError): void {
  error.stack = `${error.name}: ${error.message}`;
  for (const [name, value] of Object.entries(error)) {
    Object.defineProperty(error, name, { value, enumerable: false, configurable: true, writable: true });
  }
}

/** The report is one screen. `StartupError.diagnostics` has all faults. */
const MAX_SHOWN = 10;

function formatMessage(diagnostics: readonly Diagnostic[], subject = "the application cannot start"): string {
  const { length } = diagnostics;
  const head = length === 1 ? subject : `${subject}: ${length} faults`;
  const shown = length > MAX_SHOWN ? diagnostics.slice(0, MAX_SHOWN) : diagnostics;
  const rows = shown.map(
    ({ code, what, where, fix }) => `  ${code} ${what}\n    at ${where}${fix && `\n    fix: ${fix}`}`,
  );
  const rest = diagnostics.slice(shown.length);
  return [head, ...rows, ...(rest.length === 0 ? [] : [`  and ${rest.length} more: ${countCodes(rest)}`])].join("\n");
}

/** `E_TYPE_ERASED (12), E_PORT`. */
function countCodes(diagnostics: readonly Diagnostic[]): string {
  const counts = new Map<string, number>();
  for (const { code } of diagnostics) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([code, count]) => (count === 1 ? code : `${code} (${count})`)).join(", ");
}
