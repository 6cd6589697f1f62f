/**
 * Responds to a request with a file: 200, 206, 304, 405, 412 or 416 (RFC 9110 sections 13 to 15). Errors have no body here; the
 * error-mapping stage gives them one, like all other errors.
 */
import type { Readable } from "node:stream";
import type { Coding } from "../../http/request/accept-encoding.js";
import { varyBy } from "../../http/response/vary.js";
import { isGetOrHead } from "../../endpoints/method.js";
import type { Context } from "../../http/request/context.js";
import { refuse } from "../../http/failures/refuse.js";
import { NodeHead } from "../../http/response/response-head.js";
import { isPromise } from "../../http/middleware.js";
import { evaluateConditions, isRangeCurrent, readRange, type Section } from "../../http/response/conditions.js";
import type { StaticFile } from "./file.js";
import type { FileLocation } from "./locator.js";

/** The file that is sent: the requested one or its compressed sibling. */
export interface Representation {
  readonly file: StaticFile;
  readonly path: string;
  readonly coding: Coding | undefined;
  /** Whether the response depends on `Accept-Encoding`. */
  readonly varies: boolean;
}

type Read = (section: Section) => Body | undefined | Promise<Body | undefined>;

/** Sends the file. Returns false, without a response, if the file has changed since it was found. */
export function respondWithFile(ctx: Context, location: FileLocation, chosen: Representation): Promise<boolean> {
  const { path, file } = chosen;
  return respond(ctx, location, chosen, (section) => location.store.read(path, file, section, ctx.clock));
}

/** Sends a file that changes all the time, in the state at its opening. */
export async function respondWithChangingFile(
  ctx: Context,
  location: FileLocation,
  chosen: Representation,
): Promise<boolean> {
  const open = await location.store.openNow(chosen.path, chosen.file);
  if (open === undefined) return false;
  try {
    return await respond(ctx, location, { ...chosen, file: open.file }, (section) => open.read(section));
  } finally {
    await open.release();
  }
}

async function respond(ctx: Context, location: FileLocation, chosen: Representation, read: Read): Promise<boolean> {
  const { method, headers } = ctx.incoming;
  if (!isGetOrHead(method)) return refuseFile(ctx, 405, "Allow", "GET, HEAD");
  const { file } = chosen;
  const outcome = evaluateConditions(headers, file);
  if (outcome === 412) return refuseFile(ctx, 412);
  if (outcome === 304) return respondWithHead(ctx, 304, location, chosen);
  if (method === "HEAD") return respondWithHead(ctx, 200, location, chosen);
  const range = isRangeCurrent(headers, file) ? readRange(headers.range, file.size) : undefined;
  if (range === "unsatisfiable") return refuseFile(ctx, 416, "Content-Range", `bytes */${file.size}`);
  const reading = read(range ?? { first: 0, length: file.size });
  const body = isPromise(reading) ? await reading : reading;
  if (body === undefined) return false;
  if (ctx.isAbandoned) discard(body);
  else respondWithBody(ctx, location, chosen, body, range);
  return true;
}

function refuseFile(ctx: Context, status: number, name?: string, value = ""): true {
  refuse(ctx, status);
  if (name !== undefined) ctx.raw.setHeader(name, value);
  return true;
}

function respondWithHead(ctx: Context, status: 200 | 304, location: FileLocation, chosen: Representation): true {
  ctx.setStatus(status);
  setFileHeaders(ctx, location, chosen);
  if (status === 200) setBodyHeaders(ctx, chosen, chosen.file.size);
  return true;
}

function respondWithBody(
  ctx: Context,
  location: FileLocation,
  chosen: Representation,
  body: Body,
  range?: Section,
): void {
  const { size } = chosen.file;
  ctx.setStatus(range === undefined ? 200 : 206);
  ctx.setBody(body);
  if (body instanceof Uint8Array) ctx.sharedBytes = body;
  setFileHeaders(ctx, location, chosen);
  setBodyHeaders(ctx, chosen, range?.length ?? size);
  if (range === undefined) return;
  const { first, length } = range;
  ctx.raw.setHeader("Content-Range", `bytes ${first}-${first + length - 1}/${size}`);
}

function setFileHeaders(
  { raw }: Context,
  { cacheControl, contentType }: FileLocation,
  { file, varies }: Representation,
): void {
  raw.setHeader("ETag", file.etag);
  raw.setHeader("Last-Modified", file.lastModified);
  raw.setHeader("Cache-Control", cacheControl);
  if (varies) varyBy(new NodeHead(raw), "Accept-Encoding");
  // A 304 is sent without it, but outer stages use it for their decisions.
  raw.setHeader("Content-Type", contentType);
}

function setBodyHeaders({ raw }: Context, { coding }: Representation, length: number): void {
  raw.setHeader("Content-Length", length);
  // A range is a range of the plain file, so it does not apply to the encoded bytes.
  if (coding === undefined) raw.setHeader("Accept-Ranges", "bytes");
  else raw.setHeader("Content-Encoding", coding);
}

type Body = Uint8Array | Readable;

function discard(body: Body): void {
  if (!(body instanceof Uint8Array)) body.destroy();
}
