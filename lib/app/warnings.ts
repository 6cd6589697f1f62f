/** What is legal and probably not meant, told once when the application starts. */
import type { Pipeline } from "../pipeline/pipeline.js";
import type { Routes } from "../routing/routes.js";

export interface Warning {
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export function warningsOf(pipeline: Pipeline, routes: Routes): readonly Warning[] {
  const warnings: Warning[] = [];
  if (pipeline.isOn("accessLog") && !pipeline.isOn("requestId")) {
    warnings.push({ message: "the access log is on and the request id is off: its lines have an empty request_id" });
  }
  const uncovered = routes.uncovered().map(({ method, path }) => `${method} ${path}`);
  if (uncovered.length > 0) {
    warnings.push({
      message: "routes merged after .middleware() are not covered by it",
      fields: { routes: uncovered },
    });
  }
  return warnings;
}
