/**
 * A small S3 service for specs: the objects of one bucket in memory, by the rules of S3: an object appears whole or not at all, a listing
 * is in the order of UTF-8 and in pages, the parts of an upload stay until it is completed or aborted, and no part but the last is below
 * 5 MiB. Each request must be signed; the verification is AWS's own code (`s3-signature.ts`).
 *
 * A spec that uses it sends one request with a wrong key, which must be 403.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSigned } from "./s3-signature.js";

export { CREDENTIALS } from "./s3-signature.js";
export const BUCKET = "spec-bucket";

const MIN_PART = 5_242_880;

interface S3Object {
  readonly body: Buffer;
  readonly etag: string;
  readonly modified: Date;
  /** Content type and metadata. */
  readonly headers: Readonly<Record<string, string>>;
}

interface OpenUpload {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Map<number, Buffer>;
}

/** An error response. */
class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
  ) {
    super(code);
  }
}

export class S3Server implements AsyncDisposable {
  /** The requests that reached the service: method and target. */
  readonly requests: string[] = [];
  /** Responds to a request instead of the service, if set; false lets the request pass. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined = undefined;
  private readonly objects = new Map<string, S3Object>();
  private readonly uploads = new Map<string, OpenUpload>();
  private readonly server: Server;
  private count = 0;

  private constructor() {
    this.server = createServer((request, response) => void this.receive(request, response));
  }

  static async start(): Promise<S3Server> {
    const started = new S3Server();
    started.server.listen(0, "127.0.0.1");
    await once(started.server, "listening");
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The uploads in parts that were neither completed nor aborted. */
  openUploads(): readonly string[] {
    return [...this.uploads.values()].map(({ key }) => key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
    if (this.intercept?.(request, response) === true) return;
    try {
      if (!(await isSigned(request))) throw new Refused(403, "SignatureDoesNotMatch");
      await this.respond(request, response);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      const { status, code } = error instanceof Refused ? error : new Refused(500, String(error));
      const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>refused</Message></Error>`;
      const isHead = request.method === "HEAD";
      response.writeHead(status, { "Content-Type": "application/xml", Connection: "close" }).end(isHead ? "" : text);
    }
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://host");
    const [, bucket, ...rest] = pathname.split("/").map(decodeURIComponent);
    const key = rest.join("/");
    if (bucket !== BUCKET) throw new Refused(404, "NoSuchBucket");
    const upload = query.get("uploadId");
    if (request.method === "GET" && key === "") return this.list(query, response);
    if (request.method === "HEAD" && key === "") return void response.end();
    if (request.method === "GET" || request.method === "HEAD") return this.give(key, query, request, response);
    if (request.method === "DELETE") return this.remove(key, upload, response);
    if (request.method === "POST" && query.has("uploads")) return this.beginUpload(key, request, response);
    const body = await bodyOf(request);
    if (request.method === "POST" && upload !== null) return this.complete(upload, body.toString(), response);
    if (request.method !== "PUT") throw new Refused(405, "MethodNotAllowed");
    const copied = request.headers["x-amz-copy-source"];
    if (typeof copied === "string") return this.copy(decodeURIComponent(copied), key, request, response);
    if (upload !== null) {
      this.uploadOf(upload).parts.set(Number(query.get("partNumber")), body);
      return void response.setHeader("ETag", etagOf(body)).end();
    }
    const { etag } = this.keep(key, body, headersOf(request));
    response.setHeader("ETag", etag).end();
  }

  private give(
    key: string,
    query: URLSearchParams,
    { method, headers }: IncomingMessage,
    response: ServerResponse,
  ): void {
    const object = this.objectOf(key);
    const { size } = { size: object.body.length };
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
    const first = Number(from ?? 0);
    if (from !== undefined && first >= size) throw new Refused(416, "InvalidRange");
    const end = to === undefined || to === "" ? size : Math.min(size, Number(to) + 1);
    for (const [name, value] of Object.entries(object.headers)) response.setHeader(name, value);
    response.setHeader("ETag", object.etag).setHeader("Last-Modified", object.modified.toUTCString());
    const disposition = query.get("response-content-disposition");
    if (disposition !== null) response.setHeader("Content-Disposition", disposition);
    if (from !== undefined) response.setHeader("Content-Range", `bytes ${first}-${end - 1}/${size}`).statusCode = 206;
    response.setHeader("Content-Length", end - first);
    response.end(method === "HEAD" ? undefined : object.body.subarray(first, end));
  }

  private list(query: URLSearchParams, response: ServerResponse): void {
    const prefix = query.get("prefix") ?? "";
    const after = Buffer.from(query.get("continuation-token") ?? "", "base64");
    const most = Number(query.get("max-keys") ?? 1000);
    const found = [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), after) > 0)
      .toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const page = found.slice(0, most);
    const isMore = found.length > most;
    const contents = page.map((key) => {
      const { body, etag, modified } = this.objectOf(key);
      const date = modified.toISOString();
      return `<Contents><Key>${escaped(key)}</Key><LastModified>${date}</LastModified><ETag>${escaped(etag)}</ETag><Size>${body.length}</Size></Contents>`;
    });
    const token = Buffer.from(page.at(-1) ?? "").toString("base64");
    const next = isMore ? `<NextContinuationToken>${token}</NextContinuationToken>` : "";
    xml(
      response,
      `<ListBucketResult><IsTruncated>${isMore}</IsTruncated>${contents.join("")}${next}</ListBucketResult>`,
    );
  }

  private remove(key: string, upload: string | null, response: ServerResponse): void {
    if (upload === null) this.objects.delete(key);
    else {
      this.uploadOf(upload);
      this.uploads.delete(upload);
    }
    response.writeHead(204).end();
  }

  private beginUpload(key: string, request: IncomingMessage, response: ServerResponse): void {
    const id = `upload-${++this.count}`;
    this.uploads.set(id, { key, headers: headersOf(request), parts: new Map() });
    xml(response, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  private complete(id: string, text: string, response: ServerResponse): void {
    const { key, headers, parts } = this.uploadOf(id);
    const numbers = [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, number]) => Number(number));
    const bodies = numbers.map((number) => parts.get(number) ?? Buffer.alloc(0));
    if (numbers.some((number, at) => number !== at + 1)) throw new Refused(400, "InvalidPartOrder");
    if (bodies.slice(0, -1).some((body) => body.length < MIN_PART)) throw new Refused(400, "EntityTooSmall");
    this.uploads.delete(id);
    const { etag } = this.keep(key, Buffer.concat(bodies), headers, etagOfParts(bodies));
    xml(response, `<CompleteMultipartUploadResult><ETag>${escaped(etag)}</ETag></CompleteMultipartUploadResult>`);
  }

  private copy(from: string, to: string, request: IncomingMessage, response: ServerResponse): void {
    const source = this.objectOf(from.replace(new RegExp(`^/?${BUCKET}/`), ""));
    const isReplaced = request.headers["x-amz-metadata-directive"] === "REPLACE";
    const { etag, modified } = this.keep(to, source.body, isReplaced ? headersOf(request) : source.headers);
    const date = modified.toISOString();
    xml(
      response,
      `<CopyObjectResult><ETag>${escaped(etag)}</ETag><LastModified>${date}</LastModified></CopyObjectResult>`,
    );
  }

  private keep(key: string, body: Buffer, headers: Readonly<Record<string, string>>, etag = etagOf(body)): S3Object {
    const object = { body, etag, modified: new Date(), headers };
    this.objects.set(key, object);
    return object;
  }

  private objectOf(key: string): S3Object {
    const object = this.objects.get(key);
    if (object === undefined) throw new Refused(404, "NoSuchKey");
    return object;
  }

  private uploadOf(id: string): OpenUpload {
    const upload = this.uploads.get(id);
    if (upload === undefined) throw new Refused(404, "NoSuchUpload");
    return upload;
  }
}

/** The whole body. As services that do not know them, this one refuses the chunks and trailers of AWS. */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const { headers } = request;
  if (headers["content-encoding"]?.includes("aws-chunked") === true || headers["x-amz-trailer"] !== undefined)
    throw new Refused(501, "NotImplemented");
  // Node's request gives buffers.
  const body = Buffer.concat((await request.toArray()) as Buffer[]);
  const hash = headers["x-amz-content-sha256"];
  if (
    typeof hash === "string" &&
    /^[0-9a-f]{64}$/.test(hash) &&
    hash !== createHash("sha256").update(body).digest("hex")
  )
    throw new Refused(400, "XAmzContentSHA256Mismatch");
  return body;
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const stored = Object.entries(headers).filter(([name]) => name === "content-type" || name.startsWith("x-amz-meta-"));
  return Object.fromEntries(stored.map(([name, value]) => [name, String(value)]));
}

function etagOf(body: Buffer): string {
  return `"${createHash("md5").update(body).digest("hex")}"`;
}

/** The hash of the hashes of the parts, and their number. */
function etagOfParts(bodies: readonly Buffer[]): string {
  const hashes = bodies.map((body) => createHash("md5").update(body).digest());
  return `"${createHash("md5").update(Buffer.concat(hashes)).digest("hex")}-${bodies.length}"`;
}

function xml(response: ServerResponse, text: string): void {
  response.setHeader("Content-Type", "application/xml").end(`<?xml version="1.0" encoding="UTF-8"?>${text}`);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
