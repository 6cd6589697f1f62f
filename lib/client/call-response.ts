/**
 * The response of a call: its body by the content that the contract declares for its status. A response that the contract does not name
 * is a problem of the framework, or unexpected. Without declared responses the media type decides.
 */
import type { CallResponse, ProblemStatus, UnexpectedResponse } from "../endpoints/received.js";
import { readChunks, readEvents, readJsonLines } from "./body-streams.js";
import type { ManifestEntry, ManifestKind } from "./manifest.js";

/** How much of an unexpected body is read. */
const MAX_UNEXPECTED_BYTES = 65_536;

const PROBLEM_STATUSES: ReadonlySet<number> = new Set<ProblemStatus>([
  400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503,
]);

export async function readResponse(
  { method, responses }: ManifestEntry,
  response: Response,
): Promise<CallResponse | UnexpectedResponse> {
  const { headers } = response;
  const status = getStatus(response, responses);
  const type = getMediaType(headers);
  const kind = responses === undefined ? guessKind(type) : (responses[status] ?? findRangeKind(status, responses));
  if (method === "HEAD" && kind !== undefined) return { status, body: undefined, headers };
  if (kind !== undefined && hasType(kind, type)) return { status, body: await readBody(kind, response), headers };
  if (type === "application/problem+json" && PROBLEM_STATUSES.has(status))
    return { status, body: await response.json(), headers };
  return { status: "unexpected", response: { status, headers, bytes: await readBytes(response) } };
}

/** A part of a file needs no declaration. */
function findRangeKind(status: number, responses: Readonly<Record<string, ManifestKind>>): "file" | undefined {
  return status === 206 && responses["200"] === "file" ? "file" : undefined;
}

/** A browser hides the status of a redirect that it does not follow. */
function getStatus({ type, status }: Response, responses: ManifestEntry["responses"] = {}): number {
  if (type !== "opaqueredirect") return status;
  return Number(Object.keys(responses).find((each) => responses[each] === "redirect"));
}

function getMediaType(headers: Headers): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function guessKind(type: string): ManifestKind {
  if (type === "") return "none";
  if (type === "text/event-stream") return "events";
  if (isJson(type)) return "json";
  return type.startsWith("text/") ? "text" : "bytes";
}

/** A proxy may respond with a page where JSON is declared. */
function hasType(kind: ManifestKind, type: string): boolean {
  if (kind === "json") return isJson(type);
  return kind !== "events" || type === "text/event-stream";
}

function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json");
}

async function readBody(kind: ManifestKind, response: Response): Promise<unknown> {
  if (kind === "json") return response.json();
  if (kind === "text") return response.text();
  if (kind === "events") return readEvents(response);
  if (kind === "json-lines") return readJsonLines(response);
  if (kind === "file") return response.blob();
  if (kind === "bytes") return new Uint8Array(await response.arrayBuffer());
  await response.body?.cancel();
  return undefined;
}

async function readBytes(response: Response): Promise<Uint8Array> {
  const bytes = new Uint8Array(MAX_UNEXPECTED_BYTES);
  let length = 0;
  for await (const chunk of readChunks(response)) {
    const taken = chunk.subarray(0, MAX_UNEXPECTED_BYTES - length);
    bytes.set(taken, length);
    length += taken.length;
    if (length === MAX_UNEXPECTED_BYTES) break;
  }
  return bytes.slice(0, length);
}
