/** One line about anything that can be thrown, for sentences that name a cause. Where the thing itself can be handed on, hand it on. */
export function causeText(cause: unknown): string {
  try {
    return cause instanceof Error ? errorText(cause) : String(cause);
  } catch {
    return "a value that cannot be looked at";
  }
}

function errorText(error: Error): string {
  if (error.message !== "") return error.message;
  // A connection refused on all addresses of a host arrives as one of these, without a message of its own.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(causeText).join("; ");
  return String(error);
}
