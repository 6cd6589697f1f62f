/**
 * Everything that is wrong with an application, at once: thrown by `build()` before the first instance is made, so that one start
 * shows every fault and each says what, where and what to do.
 */
import { FrameworkError } from "./framework-error.js";

/** One fault. */
export interface Diagnostic {
  /** Stable, unique: `E_…`. */
  readonly code: string;
  /** What is wrong, naming the offending value. */
  readonly what: string;
  /** Class, parameter and position; or route; or builder call. */
  readonly where: string;
  /** What to change. */
  readonly fix: string;
}

export class StartupError extends FrameworkError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(findings: readonly Diagnostic[], options: { readonly cause?: unknown } = {}) {
    super(describe(findings), { code: "E_STARTUP", status: 500, ...options });
    this.diagnostics = findings;
    plain(this);
  }
}

/**
 * Has Node print the message and nothing else where the error ends the process: whoever starts an application is helped by what is
 * wrong with it, and not by a stack of the framework's own lines.
 *
 * @internal
 */
export function plain(error: FrameworkError): void {
  error.stack = `${error.name}: ${error.message}`;
  for (const [name, value] of Object.entries(error)) {
    Object.defineProperty(error, name, { value, enumerable: false, configurable: true, writable: true });
  }
}

function describe(findings: readonly Diagnostic[]): string {
  const head =
    findings.length === 1 ? "the application cannot start" : `the application cannot start: ${findings.length} faults`;
  const rows = findings.map(({ code, what, where, fix }) => `  ${code} ${what}\n    at ${where}\n    fix: ${fix}`);
  return [head, ...rows].join("\n");
}
