/** What a call throws; a call that does not throw fails the test. */
export function errorOf(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`thrown was not an error: ${String(error)}`, { cause: error });
  }
  throw new Error("nothing was thrown");
}
