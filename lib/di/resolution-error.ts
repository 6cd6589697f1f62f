/**
 * Thrown by a container that cannot give what it was asked for, or whose provider threw: the same finding that a start would list.
 * Its message says what and where; the provider's own error is the `cause`.
 */
import { FrameworkError } from "../errors/framework-error.js";
import type { Finding } from "../errors/diagnostic.js";

export class ResolutionError extends FrameworkError {
  constructor(
    readonly finding: Finding,
    options: { readonly cause?: unknown } = {},
  ) {
    super(`${finding.what}; at ${finding.where}; cure: ${finding.cure}`, { ...options, code: finding.code });
  }
}
