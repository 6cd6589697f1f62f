/** The code of the error with which work fails; `no error` if it succeeds. */
export function findCode(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "no error",
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );
}
