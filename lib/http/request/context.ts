/**
 * The argument of handlers and middleware: Koa's context, with typed `params`, readers of the request's body, and a signal that aborts when
 * the response is no longer needed. Middleware written for Koa finds all of Koa's members. Work outside a request has no context.
 *
 * @example
 * async show({ params }: Context<"id">) { return this.store.find(params.id); }
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type Koa from "koa";
import { expectAwait } from "../body/awaited-reading.js";
import { copyBytes, readForm, readJson, readSearch, readText } from "../body/body-reader.js";
import type { KoaApp, KoaCookies, KoaRequest, KoaResponse, Overridden } from "../koa/koa-types.js";
import { ContextCookies, type KoaRequestFace, type KoaResponseFace } from "../koa/koa-faces.js";
import { isEmptyStatus, checkFinalStatus } from "../response/head.js";
import { toFrameworkError } from "../failures/thrown-error.js";
import { ResponseState } from "../response/response-state.js";
import { Exchange } from "./exchange.js";
import packages from "../packages.cjs";
import { exposeResponse } from "../response/raw-response.js";
import { keepConnectionOpen } from "../connection/unread-body.js";
import { discardBody } from "../response/body-stream.js";
import { getPath, getQuery } from "./request-target.js";
import { bindFlow } from "../../tracing/flow.js";
import type { FormFields } from "../body/form-fields.js";
import type { InferOutput, Schema } from "../../runtime/standard-schema.js";
import type { UploadFields, UploadLimits } from "../body/uploads.js";

// Koa's members are inherited through the prototype (below), which the compiler does not see; so the type declares them.
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging, no-unused-vars -- both declarations name the parameters
export interface Context<Names extends string, Params extends object, Input> extends KoaMembers {}

type KoaMembers = Omit<Koa.ExtendableContext, Overridden | keyof Exchange>;

/** The captures of a path without schemas. */
type Texts<Names extends string> = Readonly<Record<Names, string>>;

/** Most targets: a path without a query, which needs no parsing. */
const PATH_ALONE = /^\/[^?#]*$/;

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging
export class Context<
  Names extends string = never,
  Params extends object = Texts<Names>,
  Input = unknown,
> extends Exchange {
  /** The underlying Koa application; set once for an application, on the prototype of its contexts. */
  declare readonly app: KoaApp;
  /** The application's classes for Koa's request and response; set on the prototype like `app`. @internal */
  declare readonly RequestFace: typeof KoaRequestFace;
  /** @internal */
  declare readonly ResponseFace: typeof KoaResponseFace;

  /** The target before any stage rewrote it; never logged. */
  originalUrl: string | undefined;

  private pathParams: Params | undefined = undefined;
  private inputValue: Input | undefined = undefined;
  private stateValue: Record<string, unknown> | undefined = undefined;
  private requestFace: KoaRequestFace | undefined = undefined;
  private responseFace: KoaResponseFace | undefined = undefined;
  private cookieJar: KoaCookies | undefined = undefined;
  private parsedUrl: string | undefined = undefined;
  private parsedPath = "";

  /** @internal */
  constructor(...args: ConstructorParameters<typeof Exchange>) {
    super(...args);
    this.originalUrl = this.incoming.url;
  }

  /** Aborts on timeout, when the client leaves and at the drain deadline; `reason` is a `FrameworkError` that may be rethrown. */
  get signal(): AbortSignal {
    return this.abortSignal;
  }

  /**
   * The path's captures, percent-decoded; with a schema in the contract of the endpoint, the schema's output. A Koa router that is used as
   * a layer assigns its captures for its handlers.
   */
  get params(): Params {
    // Before a route has matched there are no names to read.
    return (this.pathParams ??= Object.create(null) as Params);
  }

  set params(captures: Params) {
    this.pathParams = captures;
  }

  /** The outputs of the schemas for `body`, `query` and `headers` of the endpoint. Koa's members of these names have the values as sent. */
  get input(): Input {
    // The compiler knows the parts that the endpoint declares; without one there is nothing to read.
    return (this.inputValue ??= Object.create(null) as Input);
  }

  /** Node's request. Its listeners log as part of this request. */
  get req(): IncomingMessage {
    keepConnectionOpen(this.incoming);
    if (!this.requestIsShared) bindFlow(this.incoming);
    this.requestIsShared = true;
    return this.incoming;
  }

  get method(): string {
    return this.incoming.method ?? "GET";
  }

  set method(value: string) {
    this.incoming.method = value;
  }

  get url(): string {
    return this.incoming.url ?? "/";
  }

  set url(value: string) {
    this.incoming.url = value;
  }

  /** The path as it was sent: raw, without query and fragment; of an absolute-form target its path (RFC 9112 section 3.2.2). */
  get path(): string {
    const { url } = this.incoming;
    if (url !== this.parsedUrl) {
      this.parsedUrl = url;
      this.parsedPath = url !== undefined && PATH_ALONE.test(url) ? url : getPath(url ?? "/");
    }
    return this.parsedPath;
  }

  set path(value: string) {
    this.incoming.url = value + getQuery(this.url);
  }

  /** The client's address by the trusted-proxy rules; `""` where there is none. */
  get ip(): string {
    return this.proxies.clientIp(this.connection.peer, getHeaderLines(this.incoming, "x-forwarded-for"));
  }

  get ips(): string[] {
    return this.ip === "" ? [] : [this.ip];
  }

  get protocol(): string {
    return this.proxies.protocol(
      this.connection.peer,
      getHeaderLines(this.incoming, "x-forwarded-proto"),
      this.connection.scheme,
    );
  }

  get secure(): boolean {
    return this.protocol === "https";
  }

  /** A request header, any case; `""` where it is missing. `Referer` and `Referrer` are the same. */
  get(name: string): string {
    const { headers } = this.incoming;
    const lower = name.toLowerCase();
    const value =
      lower === "referrer" || lower === "referer" ? (headers["referrer"] ?? headers.referer) : headers[lower];
    return value === undefined ? "" : String(value);
  }

  /** The body as JSON; with a schema, the schema's output. Throws an error with status 400, 413, 415 or 422 if it cannot be read. */
  json(): Promise<unknown>;
  json<S extends Schema>(schema: S): Promise<InferOutput<S>>;
  json(schema?: Schema): Promise<unknown> {
    return expectAwait(this, "ctx.json", readJson(this, schema));
  }

  /** The body of an urlencoded form; with a schema, the schema's output. `tags[]` is a list and `user[name]` an object. */
  form(): Promise<FormFields>;
  form<S extends Schema>(schema: S): Promise<InferOutput<S>>;
  form(schema?: Schema): Promise<unknown> {
    return expectAwait(this, "ctx.form", readForm(this, schema));
  }

  /** A form with files, or JSON for one without; a file that the schema does not take is a 422. Needs `@stagecraft/framework/uploads`. */
  uploads(schema?: undefined, limits?: UploadLimits): Promise<UploadFields>;
  uploads<S extends Schema>(schema: S, limits?: UploadLimits): Promise<InferOutput<S>>;
  uploads(schema?: Schema, limits?: UploadLimits): Promise<unknown> {
    return expectAwait(this, "ctx.uploads", this.uploadReader.readUploads(this, schema, limits));
  }

  /** The body as UTF-8 text, of any media type. */
  text(): Promise<string> {
    return expectAwait(this, "ctx.text", readText(this));
  }

  /** The body as it was sent, of any media type: for a signature over it. The buffer belongs to the caller. */
  bytes(): Promise<Buffer> {
    return expectAwait(this, "ctx.bytes", copyBytes(this));
  }

  /**
   * The fields of the query, read as those of a form; with a schema, the schema's output, which is a promise if the schema is asynchronous.
   */
  search(): FormFields;
  search<S extends Schema>(schema: S): Promise<InferOutput<S>>;
  search(schema?: Schema): unknown {
    const read = readSearch(getQuery(this.url).slice(1), schema);
    return read instanceof Promise ? expectAwait(this, "ctx.search", read) : read;
  }

  // --- the response ---

  get status(): number {
    return this.raw.statusCode;
  }

  set status(code: number) {
    if (!this.headMayChange) return;
    checkFinalStatus(code);
    this.setStatus(code);
    this.raw.statusMessage = "";
    if (isEmptyStatus(code) && this.payload !== undefined) this.clearBody();
  }

  get body(): unknown {
    return this.getMutablePayload();
  }

  /** As in Koa: sets the status to 200 unless one was set, and to 204 for `null`. */
  set body(value: unknown) {
    if (!this.mayChange) {
      discardBody(value);
      return;
    }
    if (value !== undefined && value !== null) {
      this.setBody(value);
      return;
    }
    // The application has written the head by hand: without a further body the response ends here.
    if (this.headIsSent) {
      this.setBody("");
      return;
    }
    this.clearBody();
    if (!isEmptyStatus(this.raw.statusCode)) this.setStatus(204);
  }

  /** Sets response headers, as in Koa. */
  set(name: string | Readonly<Record<string, string | string[]>>, value?: string | number | readonly string[]): void {
    if (!this.headMayChange) return;
    if (typeof name !== "string") {
      for (const [each, text] of Object.entries(name)) this.raw.setHeader(each, text);
    } else if (name !== "" && value !== undefined) {
      this.raw.setHeader(name, value);
    }
  }

  /** Koa's switch: after `false` the application writes the response by hand. */
  get respond(): boolean | undefined {
    return !this.isWrittenByHand;
  }

  set respond(value: boolean | undefined) {
    if (!this.mayChange) return;
    if (value === false) {
      if (!this.isExposed) exposeResponse(this);
      this.leaveToApplication();
    } else if (this.isWrittenByHand) this.share();
  }

  /** Node's response. The application may write it by hand; stages still add their headers to its head. */
  get res(): ServerResponse {
    if (!this.isExposed) exposeResponse(this);
    return this.detached ?? this.raw;
  }

  // --- the objects of Koa, created at the first access ---

  /** Koa's cookies. A `secure` cookie may be set on plain HTTP too, because a proxy may end TLS. */
  get cookies(): KoaCookies {
    return (this.cookieJar ??= new ContextCookies(this));
  }

  get state(): Record<string, unknown> {
    return (this.stateValue ??= {});
  }

  set state(value: Record<string, unknown>) {
    this.stateValue = value;
  }

  get request(): KoaRequest {
    // Koa's members come through the prototype.
    return (this.requestFace ??= new this.RequestFace(this)) as unknown as KoaRequest;
  }

  get response(): KoaResponse {
    if (this.responseFace === undefined) {
      this.responseFace = new this.ResponseFace(this);
      // Koa's response gives access to Node's.
      exposeResponse(this);
    }
    return this.responseFace as unknown as KoaResponse;
  }

  /** Koa's way for a callback to report an error. While the response is open, the request fails with this error. */
  onerror(error?: unknown): void {
    if (!this.mayChange) return;
    if (error !== undefined && error !== null) this.lateError ??= { error };
    if (this.lateError !== undefined && this.headIsSent) this.raw.destroy();
  }

  /** The status of the response to a thrown value. @internal */
  getThrownStatus(thrown: unknown): number {
    return toFrameworkError(this, thrown)?.status ?? 500;
  }

  /** `undefined` for a path without captures. @internal */
  bindParams(params: Readonly<Record<string, unknown>> | undefined): void {
    // The compiler checked the names of the handler's parameters against the path.
    this.pathParams = params as Params | undefined;
  }

  /** @internal */
  bindInput(input: unknown): void {
    // The schemas of the endpoint have given these values.
    this.inputValue = input as Input;
  }
}

// All other members of Koa's context are inherited from Koa itself.
Object.setPrototypeOf(ResponseState.prototype, Object.getPrototypeOf(new packages.Koa().context) as object);

/** All lines of a header. Node makes this table for all headers at once, so it is read only if the request has the header. */
function getHeaderLines(incoming: IncomingMessage, name: string): readonly string[] | undefined {
  return incoming.headers[name] === undefined ? undefined : incoming.headersDistinct[name];
}
