/** The error that a call throws. Fails the test if the call does not throw. */
export function errorOf(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`the thrown value is not an error: ${String(error)}`, { cause: error });
  }
  throw new Error("nothing was thrown");
}
