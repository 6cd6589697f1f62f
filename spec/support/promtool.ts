/**
 * Checks a metrics page with `promtool check metrics` of Prometheus. Without promtool the spec is pending; with `CI=true` it fails, so that
 * the check cannot disappear unnoticed.
 */
import { spawnSync } from "node:child_process";

export function promtoolCheck(spec: Mocha.Context, text: string): string {
  const { status, error, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text });
  if (error === undefined) return status === 0 ? "" : `exit ${String(status)}\n${String(stdout)}${String(stderr)}`;
  if (process.env["CI"] === "true")
    throw new Error("promtool is missing: install Debian's prometheus", { cause: error });
  return spec.skip();
}
