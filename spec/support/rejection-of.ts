/** The error that a promise rejects with. Fails the test if the promise resolves. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`the rejection is not an error: ${String(error)}`, { cause: error });
  }
  throw new Error("the promise did not reject");
}
