/** What is legal and probably not meant, told once when the application starts. */
import { existsSync } from "node:fs";
import type { Layer } from "../http/middleware.js";
import type { Pipeline } from "../pipeline/pipeline.js";
import type { Routes } from "../routing/routes.js";
import { StaticFiles } from "../stages/static-files/static-files.js";
import type { MadeStage } from "./stages.js";

export interface Warning {
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface WarningParts {
  readonly pipeline: Pipeline;
  readonly routes: Routes;
  readonly stages: readonly MadeStage[];
}

/** To be asked when serving begins: a directory may have been made since the application was built. */
export function warningsOf({ pipeline, routes, stages }: WarningParts): readonly Warning[] {
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
  return [...warnings, ...stages.flatMap(({ layer }) => warningOfFiles(layer))];
}

function warningOfFiles(layer: Layer): readonly Warning[] {
  // With a slash behind it only a directory exists.
  if (!(layer instanceof StaticFiles) || existsSync(`${layer.root}/`)) return [];
  return [
    {
      message: "the directory of .staticFiles(…) does not exist: nothing of it is served",
      fields: { root: layer.root },
    },
  ];
}
