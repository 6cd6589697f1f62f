/**
 * Prometheus' own judge of a metrics page, `promtool check metrics`. Where it is not installed the spec is pending; under `CI=true`
 * that is a failure, so that the judge cannot get lost without a word.
 */
import { spawnSync } from "node:child_process";

export function promtoolCheck(spec: Mocha.Context, text: string): string {
  const { status, error, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text });
  if (error === undefined) return status === 0 ? "" : `exit ${String(status)}\n${String(stdout)}${String(stderr)}`;
  if (process.env["CI"] === "true")
    throw new Error("promtool is missing: install Debian's prometheus", { cause: error });
  return spec.skip();
}
