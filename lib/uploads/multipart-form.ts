/**
 * Reads a multipart form (RFC 7578) while it arrives: texts into memory, files to the disk. Content beyond a limit is an error. The parser
 * alone would cut or drop such content without an error, and has no limit for the whole body or for the time.
 *
 * Not for urlencoded forms: `ctx.form`.
 */
import { setMaxListeners } from "node:events";
import { pipeline } from "node:stream/promises";
import type { Readable } from "node:stream";
import type { Busboy, FieldInfo, FileInfo } from "busboy";
import { BadRequestError, FrameworkError, PayloadTooLargeError } from "../errors/framework-error.js";
import { createTooLargeError } from "../http/body/collected-body.js";
import type { Exchange } from "../http/request/exchange.js";
import { nestFields } from "../http/body/form-fields.js";
import { keepConnectionOpen } from "../http/connection/unread-body.js";
import { createUnsupportedTypeError } from "../http/body/unsupported-type.js";
import type { UploadFields, UploadValue } from "../http/body/uploads.js";
import { markHandled } from "../runtime/mark-handled.js";
import { createParser, parseBoundary, ParserFeed } from "./multipart-parser.js";
import { FormTimeouts } from "./form-timeouts.js";
import type { RequestFiles } from "./received-file.js";
import type { CompleteUploadLimits } from "./upload-limits.js";

const MAX_NAME_LENGTH = 100;
const MAX_FILE_NAME_LENGTH = 255;
/** Codings that leave the bytes as they are (RFC 7578 section 4.7 forbids others). */
const IDENTITY: ReadonlySet<string> = new Set(["7bit", "8bit", "binary"]);

/** A part in the order of the body. The value of a file is set when it is on the disk. */
interface FormPart {
  readonly name: string;
  value: UploadValue | undefined;
}

export class MultipartForm {
  /** Bytes of the body that have arrived. */
  bytes = 0;
  private readonly parts: FormPart[] = [];
  private readonly receiving: Promise<void>[] = [];
  private readonly stop = new AbortController();
  private readonly boundary: string;
  private readonly parser: Busboy;
  private reading: Promise<void> | undefined = undefined;
  private failure: { readonly error: unknown } | undefined = undefined;

  /** @throws FrameworkError with status 400, 413 or 415 for a request whose head says that it cannot be read */
  constructor(
    private readonly exchange: Exchange,
    private readonly limits: CompleteUploadLimits,
    private readonly files: RequestFiles,
  ) {
    const { incoming } = exchange;
    // Each file that is being written adds a listener.
    setMaxListeners(0, this.stop.signal);
    this.boundary = parseBoundary(incoming.headers);
    this.parser = createParser(this.boundary, limits);
    if (Number(incoming.headers["content-length"] ?? 0) > this.maxBytes) throw createTooLargeError(this.maxBytes);
    if (incoming.readableEnded || incoming.destroyed || incoming.readableFlowing !== null)
      throw new FrameworkError(
        "the request's body was read already: ctx.uploads reads it once, and before other readers",
        {
          code: "E_BODY_BROKEN_OFF",
        },
      );
  }

  /**
   * The same promise for each caller. @throws FrameworkError with status 400, 408, 413, 415, 503 or 507; the reason of the request's signal
   */
  read(): Promise<void> {
    return (this.reading ??= markHandled(this.readOnce()));
  }

  /** The form that was read, in new objects. @throws FrameworkError with status 400 or 422 for names that contradict each other */
  fields(): UploadFields {
    return nestFields(this.parts.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])));
  }

  /** For a form that was read under other limits. @throws PayloadTooLargeError */
  expectWithin({ bytes, parts, fileBytes, fieldBytes }: CompleteUploadLimits): void {
    if (this.bytes > bytes) throw createTooLargeError(bytes);
    if (this.parts.length > parts) throw new PayloadTooLargeError(`More than ${parts} parts.`);
    for (const { value } of this.parts) {
      if (typeof value === "string" && Buffer.byteLength(value) > fieldBytes) throw tooLargePart("text", fieldBytes);
      if (typeof value === "object" && value.size > fileBytes) throw tooLargePart("file", fileBytes);
    }
  }

  /** Removes the files that the application has not moved. */
  removeFiles(): Promise<void> {
    return this.files.removeAll();
  }

  private async readOnce(): Promise<void> {
    try {
      await this.receive();
    } catch (error) {
      await this.files.removeAll();
      throw error;
    }
  }

  private async receive(): Promise<void> {
    const { incoming, abortSignal } = this.exchange;
    this.listen();
    const timeouts = new FormTimeouts(this.exchange, this.limits, (error) => this.fail(error));
    const aborted = (): void => this.fail(abortSignal.reason);
    const take = (chunk: Buffer): void => {
      timeouts.refresh();
      this.take(chunk.length);
    };
    // The response to a failure needs the connection.
    keepConnectionOpen(incoming);
    const feed = new ParserFeed(this.parser, this.boundary);
    if (abortSignal.aborted) aborted();
    abortSignal.addEventListener("abort", aborted);
    incoming.on("data", take);
    try {
      await pipeline(incoming, feed, { signal: this.stop.signal });
    } catch (error) {
      this.fail(this.toFormError(error));
    } finally {
      timeouts.stop();
      incoming.off("data", take);
      abortSignal.removeEventListener("abort", aborted);
    }
    await Promise.all(this.receiving);
    if (this.failure !== undefined) throw this.failure.error;
    if (feed.parts > this.parts.length) throw malformed("a part has no valid Content-Disposition");
  }

  private listen(): void {
    const tooMany = (): void => this.fail(new PayloadTooLargeError(`More than ${this.limits.parts} parts.`));
    this.parser
      .on("error", (error) => this.parserFailed(error))
      .on("file", (name, content, info) => this.file(name, content, info))
      .on("field", (name, value, info) => this.field(name, value, info))
      .on("partsLimit", tooMany)
      .on("filesLimit", tooMany)
      .on("fieldsLimit", tooMany);
  }

  /** Runs before the stream of the request is destroyed with the same error, which then appears to be an error of the request. */
  private parserFailed(error: unknown): void {
    if (this.exchange.incoming.errored === null) this.fail(this.toFormError(error));
  }

  private take(length: number): void {
    this.bytes += length;
    if (this.bytes > this.maxBytes) this.fail(createTooLargeError(this.maxBytes));
  }

  private file(name: string, content: Readable, { filename, encoding }: FileInfo): void {
    // In the same tick as the event: the parser destroys the stream with an error when the body is malformed.
    content.on("error", () => {});
    content.on("limit", () => this.fail(tooLargePart("file", this.limits.fileBytes)));
    const part = this.addPart(name, encoding);
    if (part === undefined) return void content.resume();
    const received = this.files.receive(content, toPlainName(filename), this.stop.signal);
    const stored = received.then(
      (file) => {
        // A browser sends an empty file input as a file without name and content.
        if (file.size > 0 || filename !== undefined) part.value = file;
      },
      (error: unknown) => this.fail(this.toFormError(error)),
    );
    this.receiving.push(markHandled(stored));
  }

  /** @param value `undefined` if the parser does not know the charset of the part */
  private field(name: string, value: string | undefined, { valueTruncated, encoding }: FieldInfo): void {
    const part = this.addPart(name, encoding);
    if (part === undefined) return;
    if (valueTruncated) this.fail(tooLargePart("text", this.limits.fieldBytes));
    if (value === undefined)
      this.fail(
        createUnsupportedTypeError("charset=another", "utf-8", "A part has a charset that is not read; send utf-8."),
      );
    part.value = value;
  }

  /** Adds the part in its order; `undefined` if the part is refused, which ends the reading. */
  private addPart(name: string | undefined, encoding: string): FormPart | undefined {
    const fault = this.failure?.error ?? this.findFault(name, encoding);
    if (fault !== undefined || name === undefined) {
      this.fail(fault);
      return undefined;
    }
    const part: FormPart = { name: unescapeName(name), value: undefined };
    this.parts.push(part);
    return part;
  }

  private findFault(name: string | undefined, encoding: string): FrameworkError | undefined {
    if (this.parts.length >= this.limits.parts)
      return new PayloadTooLargeError(`More than ${this.limits.parts} parts.`);
    if (name === undefined) return malformed("a part has no name");
    if (name.length > MAX_NAME_LENGTH) {
      return new PayloadTooLargeError(`The name of a part is longer than ${MAX_NAME_LENGTH} characters.`);
    }
    if (IDENTITY.has(encoding)) return undefined;
    const detail = "A part has a Content-Transfer-Encoding, and none is read.";
    return createUnsupportedTypeError(encoding, [...IDENTITY].join(", "), detail);
  }

  /** Stops the reading. The first error counts. */
  private fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = { error };
    // Not now: this may be an event of the parser, which cannot be destroyed inside one.
    process.nextTick(() => this.stop.abort());
  }

  /**
   * Converts the failure of a stream to an error with a status. The parser throws plain errors, whose messages hold no part of the body.
   */
  private toFormError(error: unknown): unknown {
    const { isClientGone, abortSignal, incoming } = this.exchange;
    if (isClientGone) return abortSignal.reason;
    if (error instanceof FrameworkError) return error;
    if (incoming.errored instanceof FrameworkError) return incoming.errored;
    if (incoming.errored !== null) return malformed("the body ended early", error);
    return malformed(error instanceof Error ? error.message : "the parser failed", error);
  }

  private get maxBytes(): number {
    return Math.min(this.limits.bytes, this.exchange.bodyLimit ?? Number.POSITIVE_INFINITY);
  }
}

/** Browsers escape these three characters in names, and no others (HTML, multipart/form-data encoding algorithm). */
function unescapeName(name: string): string {
  return name.replaceAll(/%(?:22|0d|0a)/gi, decodeURIComponent);
}

/** The joiners of scripts and emoji are a part of the name. Other invisible characters could disguise a name. */
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** The client's name of a file, for display, in one spelling. The parser has removed the folders. */
function toPlainName(name: string | undefined): string {
  const shown = unescapeName(name ?? "")
    .replaceAll(HIDDEN, "")
    .normalize("NFC")
    .slice(0, MAX_FILE_NAME_LENGTH);
  // The cut may have divided a character.
  return shown.replace(/\p{Cs}$/u, "");
}

function malformed(fault: string, cause?: unknown): BadRequestError {
  return new BadRequestError(`The multipart form is malformed: ${fault}.`, { code: "E_UPLOAD_MALFORMED", cause });
}

function tooLargePart(kind: "file" | "text", bytes: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`A ${kind} of the form is larger than ${bytes} bytes.`);
}
