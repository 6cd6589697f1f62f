/**
 * Stage layer: the three health endpoints. `{prefix}/live` reports whether the process is alive, `{prefix}/ready` whether it should receive
 * traffic, and `{prefix}` reports both. The responses come from the state of the application. The inner stages do not see these requests,
 * so they neither refuse nor count them and add no headers.
 *
 * @example
 * builder.healthPrefix("/internal/health");
 */
import type { LifecycleState } from "../lifecycle/state.js";
import type { Readiness, ReadinessReport } from "../lifecycle/readiness.js";
import type { Context } from "../http/request/context.js";
import { isPromise, StageLayer, type Run } from "../http/middleware.js";
import { describeToken } from "../di/token.js";
import type { Diagnostic } from "../errors/diagnostic.js";

export interface HealthResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for HEAD, whose headers are those of GET. */
  readonly body: string;
}

/** The prefix of the endpoints unless `.healthPrefix(path)` sets another one. */
export const HEALTH_PREFIX = "/up";

/** @internal */
export const METHOD_NOT_ALLOWED: HealthResponse = {
  status: 405,
  headers: { Allow: "GET, HEAD", "Cache-Control": "no-store", "Content-Length": "0" },
  body: "",
};

export class Health {
  private readonly paths: readonly string[];
  private readonly live: string;
  private readonly ready: string;

  /** @param prefix a value that `checkHealthPrefix` accepts */
  constructor(
    private readonly readiness: Readiness,
    private readonly prefix: string = HEALTH_PREFIX,
  ) {
    const paths = Health.listPaths(prefix);
    [, this.live, this.ready] = paths;
    this.paths = paths;
  }

  /** The three paths. The router must not have a route with one of them. */
  static listPaths(prefix: string): readonly [both: string, live: string, ready: string] {
    return [prefix, `${prefix}/live`, `${prefix}/ready`];
  }

  /**
   * The response for a path without its query, or `undefined` for other paths. It is a promise only if probes run; the promise never
   * rejects.
   */
  findResponse(method: string, path: string): HealthResponse | Promise<HealthResponse> | undefined {
    // Each request of the application passes this check, so the common case must be fast.
    if (!path.startsWith(this.prefix) || !this.paths.includes(path)) return undefined;
    if (method === "GET") return this.getResponse(path);
    if (method !== "HEAD") return METHOD_NOT_ALLOWED;
    const response = this.getResponse(path);
    return response instanceof Promise ? response.then(removeBody) : removeBody(response);
  }

  private getResponse(path: string): HealthResponse | Promise<HealthResponse> {
    if (path === this.live) return createLiveResponse(this.readiness.state);
    const createResponse = path === this.ready ? createReadyResponse : createOverallResponse;
    const report = this.readiness.report();
    return report instanceof Promise ? report.then(createResponse) : createResponse(report);
  }
}

function createLiveResponse(state: LifecycleState): HealthResponse {
  return createJsonResponse(isLive(state), { state });
}

function createReadyResponse(report: ReadinessReport): HealthResponse {
  return createJsonResponse(report.ready, report);
}

function createOverallResponse(report: ReadinessReport): HealthResponse {
  return createJsonResponse(report.ready, { ...report, live: isLive(report.state) });
}

function isLive(state: LifecycleState): boolean {
  return state !== "stopped";
}

/** The response with the value as JSON; 503 if the application is not healthy. @internal */
export function createJsonResponse(isHealthy: boolean, value: object): HealthResponse {
  const body = JSON.stringify(value);
  const headers = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Content-Length": String(Buffer.byteLength(body)),
  };
  return { status: isHealthy ? 200 : 503, headers, body };
}

/** @internal */
export function removeBody(response: HealthResponse): HealthResponse {
  return { ...response, body: "" };
}

export class HealthLayer extends StageLayer {
  constructor(private readonly health: Health) {
    super();
  }

  override wrap(inner: Run): Run {
    const { health } = this;
    return (ctx) => {
      const response = health.findResponse(ctx.method, ctx.path);
      if (response === undefined) return inner(ctx);
      return isPromise(response) ? response.then((ready) => writeResponse(ctx, ready)) : writeResponse(ctx, response);
    };
  }
}

/** @internal */
export function writeResponse(ctx: Context, { status, headers, body }: HealthResponse): void {
  ctx.setStatus(status);
  for (const name in headers) ctx.raw.setHeader(name, headers[name] ?? "");
  if (body !== "") ctx.payload = body;
}

/** The characters of a path segment, plain or percent-encoded (RFC 3986 section 3.3). No request has other characters. */
const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;

/**
 * The diagnostic for a prefix that is not accepted, or `undefined`. A prefix has a leading slash, at least one segment and no trailing
 * slash.
 */
export function checkHealthPrefix(prefix: unknown): Diagnostic | undefined {
  if (isPlainPath(prefix)) return undefined;
  return {
    code: "E_HEALTH_PREFIX",
    what: `${typeof prefix === "string" ? JSON.stringify(prefix) : describeToken(prefix)} cannot be the prefix of the health endpoints`,
    where: "Application.create().healthPrefix(path)",
    fix: "write a plain path with one leading and no trailing slash and at least one segment, for example /up",
  };
}

/** @internal */
export function isPlainPath(path: unknown): path is string {
  const [before, ...segments] = typeof path === "string" ? path.split("/") : [];
  return before === "" && segments.length > 0 && segments.every(isSegment);
}

function isSegment(text: string): boolean {
  return text !== "." && text !== ".." && SEGMENT.test(text);
}
