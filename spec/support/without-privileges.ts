/** Root passes every permission check. A test of a refusal therefore runs as another user. */
const NOBODY_UID = 65_534;

export async function withoutPrivileges<T>(run: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return run();
  process.seteuid?.(NOBODY_UID);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}
