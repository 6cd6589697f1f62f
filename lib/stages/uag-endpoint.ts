/**
 * Stage layer: serves the graph of the application as JSON under one path, for the tools of a developer. The graph names every route and
 * every class, so only a debug build has the endpoint, and only if the application enables it. As with the health endpoints, the inner
 * stages neither refuse nor count its requests.
 *
 * @example
 * builder.uagEndpoint(); // GET /_framework/uag.json
 */
import { describeToken } from "../di/token.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { profile } from "../runtime/profile.js";
import { isPlainPath, createJsonResponse, METHOD_NOT_ALLOWED, removeBody, writeResponse } from "./health.js";

/** The path unless `.uagEndpoint(path)` sets another one. */
export const UAG_PATH = "/_framework/uag.json";

export class UagEndpointLayer extends StageLayer {
  private response = createJsonResponse(true, {});

  /** @param path a value that `checkUagPath` accepts */
  constructor(private readonly path: string = UAG_PATH) {
    super();
  }

  /** Sets the body. The graph exists only when all stages are known. @internal */
  setGraph(graph: object): void {
    this.response = createJsonResponse(true, graph);
  }

  /** @internal */
  startWarnings(): readonly Warning[] {
    return profile === "release" ? [{ message: ".uagEndpoint(…) is ignored in a release build" }] : [];
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      if (ctx.path !== this.path) return inner(ctx);
      if (ctx.method === "GET") return writeResponse(ctx, this.response);
      return writeResponse(ctx, ctx.method === "HEAD" ? removeBody(this.response) : METHOD_NOT_ALLOWED);
    };
  }
}

/** The diagnostic for a path that is not plain or is a health endpoint; `undefined` for any other. */
export function checkUagPath(path: unknown, healthPaths: readonly string[]): Diagnostic | undefined {
  if (isPlainPath(path) && !healthPaths.includes(path)) return undefined;
  return {
    code: "E_UAG_PATH",
    what: `${typeof path === "string" ? JSON.stringify(path) : describeToken(path)} cannot be the path of the graph`,
    where: "Application.create().uagEndpoint(path)",
    fix: `write a plain path with one leading and no trailing slash, which is no health path, for example ${UAG_PATH}`,
  };
}
