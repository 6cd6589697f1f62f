/**
 * The error of a call whose response is not one of success, and of a stream that is not as its contract says. It has the members of the
 * problem document (RFC 9457), where the response is one. A connection that fails is the error of `fetch`, and an aborted call the reason
 * of its signal. It is no `FrameworkError`: a server that calls another one does not send on its status.
 *
 * @example
 * if (error instanceof ClientProblem && error.status === 404) return undefined;
 */
import type { ProblemBody } from "../endpoints/received.js";
import type { ManifestEntry } from "./manifest.js";
import { getMediaType, PROBLEM_TYPE } from "./media-type.js";

export class ClientProblem extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** The declared body or the problem document; of an unexpected response its first 64 KiB as bytes; of a stream `undefined`. */
  readonly body: unknown;
  /** The members of the problem document; empty where the body is none. */
  readonly problem: Partial<ProblemBody>;

  /** @internal */
  constructor(
    { method, path }: ManifestEntry,
    { status, headers }: Pick<Response, "headers" | "status">,
    body: unknown,
    fault = `responded ${status}`,
  ) {
    const isProblem = getMediaType(headers) === PROBLEM_TYPE;
    const problem: Partial<ProblemBody> = isProblem ? Object(body instanceof Uint8Array ? parseJson(body) : body) : {};
    super(`${method} ${path} ${fault} ${problem.title ?? ""}`.trim());
    this.name = "ClientProblem";
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.problem = problem;
  }
}

/** Returns `undefined` for a text that is not JSON. */
export function parseJson(source: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof source === "string" ? source : new TextDecoder().decode(source));
  } catch {
    return undefined;
  }
}
