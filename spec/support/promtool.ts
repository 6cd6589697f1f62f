/** Checks by `promtool` of Prometheus. */
import { spawnSync } from "node:child_process";

/**
 * Checks a metrics page. Without promtool the spec is pending; with `CI=true` it fails, so that the check cannot disappear unnoticed.
 */
export function promtoolCheck(spec: Mocha.Context, text: string): string {
  const { complaints, error } = promtool(["check", "metrics"], { input: text });
  if (error === undefined) return complaints;
  if (process.env["CI"] === "true")
    throw new Error("promtool is missing: install Debian's prometheus", { cause: error });
  return spec.skip();
}

/** Its complaints are empty where its exit code is 0. */
export function promtool(
  args: readonly string[],
  options: { readonly cwd?: string; readonly input?: string },
): { readonly complaints: string; readonly error?: Error | undefined } {
  const { status, error, stdout, stderr } = spawnSync("promtool", args, { ...options, encoding: "utf8" });
  return { complaints: status === 0 ? "" : `exit ${String(status)}\n${stdout}${stderr}`, error };
}
