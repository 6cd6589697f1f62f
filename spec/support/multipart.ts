/** Multipart forms as bytes, an application that reads them, and the files in its directory. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { Application, type ApplicationBuilder, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { UploadedFile, Uploads, type UploadsOptions } from "@stagecraft/framework/uploads";
import { Conversation } from "./conversation.js";

export const BOUNDARY = "----spec-boundary";
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
export const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

export interface SpecPart {
  readonly name: string;
  readonly filename?: string;
  readonly type?: string;
  readonly content: string | Buffer;
}

export function partBytes({ name, filename, type, content }: SpecPart): Buffer {
  const file = filename === undefined ? "" : `; filename="${filename}"`;
  const typed = type === undefined ? "" : `Content-Type: ${type}\r\n`;
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${typed}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from("\r\n")]);
}

export function formBytes(...parts: readonly SpecPart[]): Buffer {
  return Buffer.concat([...parts.map(partBytes), Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** A file of so many bytes that are not text. */
export function fileOf(bytes: number, name = "file"): SpecPart {
  return { name, filename: "a.bin", content: Buffer.alloc(bytes, 0xee) };
}

/** The head of a request with this body length; `undefined`: chunked. */
export function headOf(length: number | undefined, type = FORM_TYPE): string {
  const framing = length === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  return `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${framing}\r\n\r\n`;
}

/** An application with one route, and the directory of its uploads. */
export class UploadApp implements AsyncDisposable {
  private constructor(
    readonly app: TestApp,
    private readonly directory: string,
  ) {}

  static async start(
    handler: (ctx: Context) => unknown = summary,
    options: UploadsOptions = {},
    change: (builder: ApplicationBuilder) => ApplicationBuilder = (builder) => builder,
  ): Promise<UploadApp> {
    const directory = mkdtempSync(join(tmpdir(), "uploads-"));
    const routes = new Routes([Route.post("/", handler)]);
    const builder = Application.create()
      .routes(routes)
      .errorMapping()
      .provide(provide(Uploads).useValue(new Uploads({ directory, ...options })));
    return new UploadApp(await testApp(change(builder)), directory);
  }

  /** The files that lie there now. */
  files(): readonly string[] {
    return readdirSync(this.directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  }

  /** Their size in all. */
  bytes(): number {
    return readdirSync(this.directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  }

  post(body: Buffer | FormData, type = FORM_TYPE, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    if (body instanceof FormData) return fetch(this.app.url, { method: "POST", body });
    return this.app.post("/", { body: new Uint8Array(body), headers: { "Content-Type": type, ...headers } });
  }

  /** Without `Content-Length`. */
  postChunked(body: Buffer): Promise<Response> {
    return this.app.post("/", { body: Readable.from([body]), headers: { "Content-Type": FORM_TYPE } });
  }

  /** In chunks of these lengths, again and again. */
  postCut(body: Buffer, lengths: readonly number[]): Promise<Response> {
    const chunks: Buffer[] = [];
    for (let at = 0, turn = 0; at < body.length; turn++) {
      const length = lengths[turn % lengths.length] ?? body.length;
      chunks.push(body.subarray(at, at + length));
      at += length;
    }
    return this.app.post("/", { body: Readable.from(chunks), headers: { "Content-Type": FORM_TYPE } });
  }

  /** A connection on which the spec sends any bytes. */
  connect(): Promise<Conversation> {
    return Conversation.with(Number(new URL(this.app.url).port));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** The form as JSON: a file with its sniffed type, its size and the name of the client. */
async function summary(ctx: Context): Promise<unknown> {
  const form = await ctx.uploads();
  return Object.entries(form);
}

/** The content of the first file of a field. */
export function onlyFile(value: unknown): UploadedFile {
  const file: unknown = Array.isArray(value) ? value[0] : value;
  if (!(file instanceof UploadedFile)) throw new TypeError("no file");
  return file;
}
