/**
 * The error of a call whose response is not one of success. It has the members of the problem document (RFC 9457), where the response is
 * one. A connection that fails is the error of `fetch`, and an aborted call the reason of its signal. It is no `FrameworkError`: a server
 * that calls another one does not send on its status.
 *
 * @example
 * if (error instanceof ClientProblem && error.status === 404) return undefined;
 */
import type { CallResponse, ProblemBody, UnexpectedResponse } from "../endpoints/received.js";
import type { ManifestEntry } from "./manifest.js";

export class ClientProblem extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** The declared body or the problem document; of an unexpected response its first 64 KiB as bytes. */
  readonly body: unknown;
  /** The members of the problem document; empty where the body is none. */
  readonly problem: Partial<ProblemBody>;

  constructor({ method, path }: ManifestEntry, outcome: CallResponse | UnexpectedResponse) {
    const isUnexpected = outcome.status === "unexpected";
    const { status, headers } = isUnexpected ? outcome.response : outcome;
    const body = isUnexpected ? outcome.response.bytes : outcome.body;
    const problem = headers.get("content-type")?.startsWith(PROBLEM) ? toMembers(body) : {};
    super(`${method} ${path} responded ${status}${problem.title === undefined ? "" : ` ${problem.title}`}`);
    this.name = "ClientProblem";
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.problem = problem;
  }
}

const PROBLEM = "application/problem+json";

function toMembers(body: unknown): Partial<ProblemBody> {
  if (!(body instanceof Uint8Array)) return Object(body);
  try {
    return Object(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    return {};
  }
}
