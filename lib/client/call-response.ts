/**
 * The response of a call: its body by the content that the contract declares for its status. A response that the contract does not name
 * is a problem of the framework, or unexpected. Without declared responses the media type decides.
 */
import type { CallResponse, ProblemStatus, UnexpectedResponse } from "../endpoints/received.js";
import { readChunks, readEvents, readJsonLines } from "./body-streams.js";
import { parseJson } from "./client-problem.js";
import type { ManifestEntry, ManifestKind } from "./manifest.js";
import { getMediaType, guessKind, hasType, PROBLEM_TYPE } from "./media-type.js";

/** The maximum of bytes of an unexpected body. */
const MAX_UNEXPECTED_BYTES = 65_536;

const PROBLEM_STATUSES: ReadonlySet<number> = new Set<ProblemStatus>([
  400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503,
]);

export async function readResponse(
  entry: ManifestEntry,
  response: Response,
): Promise<CallResponse | UnexpectedResponse> {
  const { headers } = response;
  const status = getStatus(response, entry.responses);
  const type = getMediaType(headers);
  const kind = findKind(status, type, entry.responses);
  if (entry.method === "HEAD" && kind !== undefined) return { status, body: undefined, headers };
  if (kind !== "json" && kind !== undefined) return { status, body: await readBody(kind, entry, response), headers };
  const bytes = await readBytes(response, kind === "json" ? Infinity : MAX_UNEXPECTED_BYTES);
  const body = kind && parseJson(bytes);
  // A problem document is an object.
  if (type === PROBLEM_TYPE ? Object(body) === body : body !== undefined) return { status, body, headers };
  return { status: "unexpected", response: { status, headers, bytes: bytes.slice(0, MAX_UNEXPECTED_BYTES) } };
}

/** The content that the contract declares for a response, or `undefined` for an unexpected one. */
function findKind(status: number, type: string, responses: ManifestEntry["responses"]): ManifestKind | undefined {
  if (responses === undefined) return guessKind(type);
  // A part of a file needs no declaration.
  const kind = responses[status] ?? (status === 206 && responses["200"] === "file" ? "file" : undefined);
  if (kind !== undefined && hasType(kind, type)) return kind;
  return type === PROBLEM_TYPE && PROBLEM_STATUSES.has(status) ? "json" : undefined;
}

/** A browser hides the status of a redirect that it does not follow. */
function getStatus({ type, status }: Response, responses: ManifestEntry["responses"] = {}): number {
  if (type !== "opaqueredirect") return status;
  return Number(Object.keys(responses).find((each) => responses[each] === "redirect"));
}

async function readBody(kind: ManifestKind, entry: ManifestEntry, response: Response): Promise<unknown> {
  if (kind === "text") return response.text();
  if (kind === "file") return response.blob();
  if (kind === "bytes") return readBytes(response, Infinity);
  if (kind === "events") return readEvents({ entry, response });
  if (kind === "json-lines") return readJsonLines({ entry, response });
  await response.body?.cancel();
  return undefined;
}

/** Cancels a body after the chunk with which it has the maximum. */
async function readBytes(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: BlobPart[] = [];
  let length = 0;
  for await (const chunk of readChunks(response)) {
    chunks.push(chunk as Uint8Array<ArrayBuffer>);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
