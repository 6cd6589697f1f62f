/** What a promise is rejected with; one that resolves fails the test. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`rejected with what is no error: ${String(error)}`, { cause: error });
  }
  throw new Error("nothing was rejected");
}
