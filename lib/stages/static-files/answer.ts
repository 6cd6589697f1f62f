/**
 * A file as an answer: 200, 206, 304, 405, 412 or 416 (RFC 9110 sections 13 to 15). Errors have no body here; the stage that maps
 * errors gives them one, as to all others.
 */
import type { Readable } from "node:stream";
import type { Section } from "./disk.js";
import type { Coding } from "../../http/accept-encoding.js";
import { varyBy } from "../../http/vary.js";
import type { Context } from "../../http/context.js";
import { NodeHead } from "../../http/head.js";
import { evaluateConditions, isRangeCurrent, type StaticFile } from "./file.js";
import type { Place } from "./locator.js";

/**
 * Reads `Range` for a file (RFC 9110 section 14). One range of bytes is answered; several are not worth the multipart answer, which
 * is a known way to have a server send more than the file, so they get the whole file, as does whatever cannot be read.
 */
const ONE_RANGE = /^bytes=(\d*)-(\d*)$/i;

/** The part that is asked for; `undefined`: the whole file. */
export function readRange(header: string | undefined, size: number): Section | "unsatisfiable" | undefined {
  const [, from, to] = ONE_RANGE.exec(header ?? "") ?? [];
  if (from === undefined || to === undefined || (from === "" && to === "")) return undefined;
  if (from === "") return lastBytes(Number(to), size);
  const first = Number(from);
  const last = to === "" ? Infinity : Number(to);
  if (last < first) return undefined;
  return first < size ? { first, length: Math.min(last, size - 1) - first + 1 } : "unsatisfiable";
}

function lastBytes(count: number, size: number): Section | "unsatisfiable" {
  if (count === 0 || size === 0) return "unsatisfiable";
  const length = Math.min(count, size);
  return { first: size - length, length };
}

/** What is sent: the file, or a sibling that holds it compressed. */
export interface Representation {
  readonly file: StaticFile;
  readonly path: string;
  readonly coding: Coding | undefined;
  /** Whether another `Accept-Encoding` may get another answer. */
  readonly varies: boolean;
}

type Read = (section: Section) => Body | undefined | Promise<Body | undefined>;

/** Answers, or returns false where the file is not the one that was found any more, and nothing has been said. */
export function answerFile(ctx: Context, place: Place, chosen: Representation): Promise<boolean> {
  const { path, file } = chosen;
  return answer(ctx, place, chosen, (section) => place.library.read(path, file, section, ctx.clock));
}

/** The same for a file that changes all the time: it is taken as it is when it is opened. */
export async function answerChangingFile(ctx: Context, place: Place, chosen: Representation): Promise<boolean> {
  const open = await place.library.openNow(chosen.path, chosen.file);
  if (open === undefined) return false;
  try {
    return await answer(ctx, place, { ...chosen, file: open.file }, (section) => open.read(section));
  } finally {
    await open.release();
  }
}

async function answer(ctx: Context, place: Place, chosen: Representation, read: Read): Promise<boolean> {
  const { method, headers } = ctx.incoming;
  if (method !== "GET" && method !== "HEAD") return refuse(ctx, 405, "Allow", "GET, HEAD");
  const { file } = chosen;
  const verdict = evaluateConditions(headers, file);
  if (verdict === 412) return refuse(ctx, 412);
  if (verdict === 304) return answerHead(ctx, 304, place, chosen);
  if (method === "HEAD") return answerHead(ctx, 200, place, chosen);
  const range = isRangeCurrent(headers, file) ? readRange(headers.range, file.size) : undefined;
  if (range === "unsatisfiable") return refuse(ctx, 416, "Content-Range", `bytes */${file.size}`);
  const body = await read(range ?? { first: 0, length: file.size });
  if (body === undefined) return false;
  if (ctx.isAbandoned) discard(body);
  else answerBody(ctx, place, chosen, body, range);
  return true;
}

function refuse(ctx: Context, status: number, name?: string, value = ""): true {
  ctx.answerStatus(status);
  if (name !== undefined) ctx.raw.setHeader(name, value);
  return true;
}

function answerHead(ctx: Context, status: 200 | 304, place: Place, chosen: Representation): true {
  ctx.answerStatus(status);
  describe(ctx, place, chosen);
  if (status === 200) describeBody(ctx, chosen, chosen.file.size);
  return true;
}

function answerBody(ctx: Context, place: Place, chosen: Representation, body: Body, range?: Section): void {
  const { size } = chosen.file;
  ctx.answerStatus(range === undefined ? 200 : 206);
  ctx.answerBody(body);
  if (body instanceof Uint8Array) ctx.sharedBytes = body;
  describe(ctx, place, chosen);
  describeBody(ctx, chosen, range?.length ?? size);
  if (range === undefined) return;
  const { first, length } = range;
  ctx.raw.setHeader("Content-Range", `bytes ${first}-${first + length - 1}/${size}`);
}

function describe({ raw }: Context, { cacheControl, contentType }: Place, { file, varies }: Representation): void {
  raw.setHeader("ETag", file.etag);
  raw.setHeader("Last-Modified", file.lastModified);
  raw.setHeader("Cache-Control", cacheControl);
  if (varies) varyBy(new NodeHead(raw), "Accept-Encoding");
  // Not sent with a 304, but stages further out decide by it.
  raw.setHeader("Content-Type", contentType);
}

function describeBody({ raw }: Context, { coding }: Representation, length: number): void {
  raw.setHeader("Content-Length", length);
  // A range would be one of the plain file, whose bytes do not fit these.
  if (coding === undefined) raw.setHeader("Accept-Ranges", "bytes");
  else raw.setHeader("Content-Encoding", coding);
}

type Body = Uint8Array | Readable;

function discard(body: Body): void {
  if (!(body instanceof Uint8Array)) body.destroy();
}
