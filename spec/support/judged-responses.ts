/**
 * Judges every response of an application that the process sends, or receives by `fetch` from a child process, while the specs of a suite run:
 * each is valid by the document of the application. A response that the document does not have is not judged: of another path or method, or of
 * another server.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type IncomingMessage, ServerResponse } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { OpenApiDocument } from "@stagecraft/framework/openapi";
import { expect } from "chai";
import { createResponseJudge, findOperation, type JudgedResponse } from "./response-judge.js";

const STARTED = "http.server.request.start";
/** Only applications of the framework send it; a spec may have other servers. */
const MARK = "x-request-id";

export class JudgedResponses {
  readonly faults: string[] = [];
  /** The ids of the operations whose responses were judged. */
  readonly operations = new Set<string>();
  readonly statuses = new Set<number>();
  private readonly fetch = globalThis.fetch;
  private readonly judge;

  constructor(private readonly document: OpenApiDocument) {
    this.judge = createResponseJudge(document);
  }

  start(): this {
    subscribe(STARTED, this.watch);
    globalThis.fetch = async (...request) => {
      const response = await this.fetch(...request);
      const [target, options] = request;
      const method = options?.method ?? (target instanceof Request ? target.method : "GET");
      await this.addFetched(response.redirected ? "GET" : method, response);
      return response;
    };
    return this;
  }

  stop(): void {
    unsubscribe(STARTED, this.watch);
    globalThis.fetch = this.fetch;
  }

  private readonly watch = (message: unknown): void => {
    // The type of the channel's messages.
    const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse };
    const readBody = recordBody(response);
    const { method = "", url = "" } = request;
    // A client that leaves a stream has got its head.
    response.once("close", () => {
      if (!response.headersSent) return;
      const headers = toHeaders(response);
      const isWhole = response.writableFinished && method !== "HEAD" && !isStream(headers);
      const text = isWhole ? decode(readBody(), headers.get("content-encoding")) : undefined;
      this.add({ method, path: url.replace(/\?.*/s, ""), status: response.statusCode, headers, text });
    });
  };

  private async addFetched(method: string, response: Response): Promise<void> {
    const { status, headers, url } = response;
    const text = method === "HEAD" || isStream(headers) ? undefined : await response.clone().text();
    this.add({ method, path: new URL(url).pathname, status, headers, text });
  }

  private add(response: JudgedResponse): void {
    const { method, path, status, headers } = response;
    const operation = findOperation(this.document, method, path);
    if (operation === undefined || !headers.has(MARK)) return;
    this.operations.add(operation.id);
    this.statuses.add(status);
    const fault = this.judge(response);
    if (fault !== undefined) this.faults.push(fault);
  }
}

/** Judges the responses of the specs of the suite around the call. */
export function judgeResponses(describeApplication: () => OpenApiDocument): void {
  let judged: JudgedResponses;

  before(() => void (judged = new JudgedResponses(describeApplication()).start()));
  afterEach(() => expect(judged.faults.splice(0)).to.deep.equal([]));
  after(() => judged.stop());
}

/** Records the bytes that are written from now on. */
function recordBody(response: ServerResponse): () => Buffer {
  const chunks: Buffer[] = [];
  for (const name of ["write", "end"] as const) {
    const send = response[name].bind(response) as (...args: readonly unknown[]) => unknown;
    Reflect.set(response, name, (...args: readonly unknown[]) => {
      const [chunk, encoding] = args;
      if (typeof chunk === "string")
        chunks.push(Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8"));
      else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
      return send(...args);
    });
  }
  return () => Buffer.concat(chunks);
}

function toHeaders(response: ServerResponse): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.getHeaders()))
    for (const each of [value ?? []].flat()) headers.append(name, String(each));
  return headers;
}

function isStream(headers: Headers): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") === true;
}

function decode(bytes: Buffer, encoding: string | null): string {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, deflate: inflateSync };
  const decoder = Object.entries(decoders).find(([name]) => name === encoding)?.[1];
  return (decoder?.(bytes) ?? bytes).toString("utf8");
}
