/**
 * Reads multipart forms for `ctx.uploads`; the entry point `@stagecraft/framework/uploads`. It needs the package `busboy`. Provide one, and
 * every handler of the application may call `ctx.uploads(schema)`.
 *
 * Files go to a directory of this process first. Then the schema sees all texts and files with their sniffed types, and only then the
 * handler stores a file or moves it. The remaining files are removed with the response, also after a refusal, an error, or a client that
 * left. Files of a process that was killed are removed when the next process starts.
 *
 * Not for a body that is one file: `storage.put(key, ctx.req)`.
 *
 * @example
 * provide(Uploads).useFactory(() => new Uploads());
 * const { photo } = await ctx.uploads(z.object({ photo: z.instanceof(UploadedFile).refine((file) => file.hasType("image/*")) }));
 */
import { access, constants } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import type { Exchange } from "../http/request/exchange.js";
import { Extension } from "../http/request/extension.js";
import { isJsonType, readBytes, readJson } from "../http/body/body-reader.js";
import { createTooLargeError } from "../http/body/collected-body.js";
import type { Schema } from "../runtime/standard-schema.js";
import type { UploadLimits } from "../http/body/uploads.js";
import { Operations, type SubsystemHost } from "../lifecycle/operations.js";
import { Subsystem } from "../lifecycle/subsystem.js";
import { type Clock, SystemClock } from "../runtime/clock.js";
import { markHandled } from "../runtime/mark-handled.js";
import { MultipartForm } from "./multipart-form.js";
import { RequestFiles } from "./received-file.js";
import { validateForm } from "./taken-files.js";
import { TemporaryDirectory } from "./temporary-directory.js";
import { type CompleteUploadLimits, completeLimits, DEFAULT_UPLOAD_LIMITS, LIMIT_NAMES } from "./upload-limits.js";

/** Counter with the label `subsystem`: the bytes of the forms that were read, also of refused ones. */
export const UPLOAD_BYTES = "framework_upload_bytes_total";

export interface UploadsOptions extends UploadLimits {
  /**
   * The directory for the files of running requests. Several processes may share it. Unless set, a directory of the user in the system's
   * directory for temporary files.
   */
  readonly directory?: string;
}

/** A second reader gets the same form. */
const FormOfRequest = new Extension<MultipartForm>("multipart form");

const NAMES: OptionNames<UploadsOptions> = { ...LIMIT_NAMES, directory: true };

export class Uploads extends Subsystem {
  override readonly kind = "storage";
  override readonly name = "Uploads";
  private readonly limits: CompleteUploadLimits;
  private readonly base: string;
  private readonly isPublic: boolean;
  private operations: Operations | undefined = undefined;
  private counter = { value: 0 };
  private directory: TemporaryDirectory;

  /** Opens and creates nothing. @throws FrameworkError `E_OPTION`, `E_UPLOADS_LIMIT` */
  constructor(options: UploadsOptions = {}) {
    super();
    checkOptionNames(options, NAMES, "new Uploads");
    const { directory, ...limits } = options;
    this.limits = completeLimits(limits, DEFAULT_UPLOAD_LIMITS, "new Uploads");
    this.isPublic = directory === undefined;
    this.base = resolve(directory ?? join(tmpdir(), `framework-uploads-${process.getuid?.() ?? "user"}`));
    this.directory = this.createDirectory(new SystemClock());
  }

  override prepare(host: SubsystemHost): void {
    this.operations = new Operations({ target: "framework::uploads", span: "framework.uploads.read" }, host);
    host.metrics.describeCounter(UPLOAD_BYTES, "Bytes of multipart forms that were read.");
    this.counter = host.metrics.counter(UPLOAD_BYTES, { subsystem: host.name });
    this.directory = this.createDirectory(host.clock);
  }

  /** Removes the directories of killed processes, and creates the directory of this one. @throws FrameworkError `E_UPLOADS_DIRECTORY` */
  override async start(): Promise<void> {
    await this.directory.create();
    await this.directory.sweep();
    this.directory.startTouching();
  }

  override async stop(): Promise<void> {
    await this.directory.remove();
  }

  override async probe(): Promise<void> {
    await access(this.base, constants.W_OK);
  }

  /** @internal */
  readUploads(exchange: Exchange, schema: Schema | undefined, limits: UploadLimits | undefined): Promise<unknown> {
    const read = (): Promise<unknown> => this.read(exchange, schema, limits);
    return markHandled(this.operations === undefined ? read() : this.operations.run("read", read));
  }

  private async read(
    exchange: Exchange,
    schema: Schema | undefined,
    given: UploadLimits | undefined,
  ): Promise<unknown> {
    const limits = completeLimits(given, this.limits, "ctx.uploads");
    if (isJsonType(exchange.incoming.headers["content-type"])) return this.readJson(exchange, schema, limits);
    const form = FormOfRequest.find(exchange) ?? this.receive(exchange, limits);
    await form.read();
    form.expectWithin(limits);
    try {
      const fields = form.fields();
      return schema === undefined ? fields : await validateForm(schema, fields);
    } catch (error) {
      await form.removeFiles();
      throw error;
    }
  }

  /** The Inertia client sends a form without a file as JSON. */
  private async readJson(exchange: Exchange, schema: Schema | undefined, { bytes }: UploadLimits): Promise<unknown> {
    const { length } = await readBytes(exchange);
    this.counter.value += length;
    if (bytes !== undefined && length > bytes) throw createTooLargeError(bytes);
    return readJson(exchange, schema);
  }

  /** The form of a request that was not read before. */
  private receive(exchange: Exchange, limits: CompleteUploadLimits): MultipartForm {
    const form = new MultipartForm(exchange, limits, new RequestFiles(this.directory));
    FormOfRequest.set(exchange, form);
    removeAfter(exchange, form);
    const count = (): void => void (this.counter.value += form.bytes);
    form.read().then(count, count);
    return form;
  }

  private createDirectory(clock: Clock): TemporaryDirectory {
    return new TemporaryDirectory(this.base, this.isPublic, clock);
  }
}

/** The response closes when it is sent, and when the client has left. */
function removeAfter({ raw }: Exchange, form: MultipartForm): void {
  const remove = (): void => void form.removeFiles();
  if (raw.closed) remove();
  else raw.once("close", remove);
}
