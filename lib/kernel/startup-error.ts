/**
 * Everything that is wrong with an application, at once: thrown by `build()` before the first instance is made, so that one start
 * shows every fault and each says what, where and what to do.
 */
import { FrameworkError } from "./errors.js";

/** One fault. */
export interface Finding {
  /** Stable, unique: `E_…`. */
  readonly code: string;
  /** What is wrong, naming the offending value. */
  readonly what: string;
  /** Class, parameter and position; or route; or builder call. */
  readonly where: string;
  /** What to change. */
  readonly cure: string;
}

export class StartupError extends FrameworkError {
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[], options: { readonly cause?: unknown } = {}) {
    super(describe(findings), { code: "E_STARTUP", status: 500, ...options });
    this.findings = findings;
  }
}

function describe(findings: readonly Finding[]): string {
  const head =
    findings.length === 1 ? "the application cannot start" : `the application cannot start: ${findings.length} faults`;
  const rows = findings.map(({ code, what, where, cure }) => `  ${code} ${what}\n    at ${where}\n    cure: ${cure}`);
  return [head, ...rows].join("\n");
}
