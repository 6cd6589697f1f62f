/**
 * `ctx.request`, `ctx.response` and `ctx.cookies` for middleware written for Koa: the accessors of Koa for the request and the response of
 * the context. The context creates each of them at its first access. Handlers of this framework do not need them. Each application derives
 * separate classes, whose prototypes are `koa.request` and `koa.response`.
 */
import type { IncomingMessage, ServerResponse, OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type Koa from "koa";
import type Cookies from "cookies";
import { nodeHttp } from "../../runtime/node-http.js";
import type { Context } from "../request/context.js";
import { parseFields } from "../body/body-reader.js";
import { PROTOTYPE } from "../body/prototype-names.js";
import { getQuery } from "../request/request-target.js";
import { getBodyLength } from "../response/response-state.js";
import { checkStatusMessage } from "../response/head.js";
import { listSiteOrigins } from "../request/origin.js";
import { findSafeReferer } from "../request/safe-path.js";
import packages from "../packages.cjs";

const koa = new packages.Koa();
// Not exported, and not imported from Koa's files: Jest reads every export of a module, and Koa's getters throw without a request.
const koaRequest = Object.getPrototypeOf(koa.request) as object;
const koaResponse = Object.getPrototypeOf(koa.response) as object;

/** The fields by which Koa negotiates (RFC 9110 section 12.5). */
const PREFERENCES = ["accept", "accept-charset", "accept-encoding", "accept-language"] as const;

/** In characters. Koa reads such a field in quadratic time: 16 KiB take half a second. */
const MAX_PREFERENCE_LENGTH = 1024;

/** `ctx.request`. */
export class KoaRequestFace {
  readonly app: Koa;
  readonly req: IncomingMessage;
  readonly originalUrl: string | undefined;
  private queryText = "";
  private queryFields: Record<string, string | readonly string[]> = {};
  private clientPreferences: unknown = undefined;

  constructor(readonly ctx: Context) {
    this.app = ctx.app;
    this.req = ctx.req;
    this.originalUrl = ctx.originalUrl;
  }

  get res(): ServerResponse {
    return this.ctx.res;
  }

  set res(value: ServerResponse) {
    replace(this, "res", value);
  }

  get response(): Koa.Response {
    return this.ctx.response;
  }

  set response(value: Koa.Response) {
    replace(this, "response", value);
  }

  get path(): string {
    return this.ctx.path;
  }

  set path(value: string) {
    this.ctx.path = value;
  }

  /** Without the `?`. The getter of Koa throws for some targets in absolute form; for others Node prints a deprecation warning. */
  get querystring(): string {
    return getQuery(this.ctx.url).slice(1);
  }

  set querystring(text: string) {
    const query = (text.startsWith("?") ? text.slice(1) : text).replaceAll("#", "%23");
    this.ctx.url = this.ctx.path + (query === "" ? "" : `?${query}`);
  }

  /**
   * As in Koa, an object that middleware may change. It stays the same object as long as the query does not change. A field named
   * `__proto__` is not in it: middleware may copy the fields into another object.
   *
   * @throws PayloadTooLargeError for more than a thousand fields, as `ctx.search` does
   */
  get query(): Record<string, string | readonly string[]> {
    const { querystring } = this;
    if (querystring !== this.queryText) {
      const { [PROTOTYPE]: _dropped, ...fields } = parseFields(querystring);
      this.queryFields = fields;
      this.queryText = querystring;
    }
    return this.queryFields;
  }

  set query(fields: Readonly<Record<string, unknown>>) {
    Reflect.set(koaRequest, "query", fields, this);
  }

  /** The `accepts` methods read it. A field that is too long counts as absent. */
  get accept(): unknown {
    return (this.clientPreferences ??= Reflect.get(koaRequest, "accept", { req: dropLongPreferences(this.req) }));
  }

  set accept(preferences: unknown) {
    this.clientPreferences = preferences;
  }

  // As in Koa, the context has the assigned values too.

  get ip(): string {
    return this.ctx.ip;
  }

  set ip(address: string) {
    replace(this.ctx, "ip", address);
  }

  get ips(): string[] {
    return this.ctx.ips;
  }

  set ips(addresses: string[]) {
    replace(this.ctx, "ips", addresses);
  }

  get protocol(): string {
    return this.ctx.protocol;
  }

  set protocol(scheme: string) {
    replace(this.ctx, "protocol", scheme);
  }

  get secure(): boolean {
    return this.ctx.secure;
  }

  set secure(isSecure: boolean) {
    replace(this.ctx, "secure", isSecure);
  }
}

/** Replaces the inherited accessor of the object by this value. */
function replace<T extends object, K extends keyof T>(target: T, name: K, value: T[K]): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}

function dropLongPreferences(request: IncomingMessage): Pick<IncomingMessage, "headers"> {
  const long = PREFERENCES.filter((name) => (request.headers[name]?.length ?? 0) > MAX_PREFERENCE_LENGTH);
  if (long.length === 0) return request;
  const headers = { ...request.headers };
  for (const name of long) delete headers[name];
  return { headers };
}

// Koa defines many of these as accessors on its prototype; the members of the class come first.
Object.setPrototypeOf(KoaRequestFace.prototype, koaRequest);

/** `ctx.response`. */
export class KoaResponseFace {
  readonly app: Koa;
  readonly req: IncomingMessage;
  private readonly raw: ServerResponse;

  constructor(readonly ctx: Context) {
    this.app = ctx.app;
    this.req = ctx.req;
    this.raw = ctx.raw;
  }

  /** Like `ctx.res`: stages still add their headers to a head that is written by hand. The accessors below need no shared response. */
  get res(): ServerResponse {
    return this.ctx.res;
  }

  set res(value: ServerResponse) {
    replace(this, "res", value);
  }

  get request(): Koa.Request {
    return this.ctx.request;
  }

  set request(value: Koa.Request) {
    replace(this, "request", value);
  }

  get socket(): Socket | null {
    return this.raw.socket;
  }

  get headerSent(): boolean {
    return this.raw.headersSent;
  }

  get writable(): boolean {
    return !this.raw.writableEnded && (this.raw.socket?.writable ?? true);
  }

  get status(): number {
    return this.ctx.status;
  }

  set status(code: number) {
    this.ctx.status = code;
  }

  get message(): string {
    return this.raw.statusMessage || (nodeHttp.STATUS_CODES[this.raw.statusCode] ?? "");
  }

  set message(text: string) {
    checkStatusMessage(text);
    if (this.ctx.mayChange) this.raw.statusMessage = text;
  }

  get body(): unknown {
    return this.ctx.body;
  }

  set body(value: unknown) {
    this.ctx.body = value;
  }

  get length(): number | undefined {
    const header = this.raw.getHeader("Content-Length");
    if (header !== undefined) return Number.parseInt(String(header), 10) || 0;
    const { payload } = this.ctx;
    const known = getBodyLength(payload);
    if (known !== undefined || payload === undefined || payload === null) return known;
    return this.ctx.inferredType === "application/json" ? Buffer.byteLength(JSON.stringify(payload)) : undefined;
  }

  set length(bytes: number | undefined) {
    if (bytes !== undefined && !this.raw.hasHeader("Transfer-Encoding")) this.ctx.set("Content-Length", bytes);
  }

  get header(): OutgoingHttpHeaders {
    return this.raw.getHeaders();
  }

  get headers(): OutgoingHttpHeaders {
    return this.raw.getHeaders();
  }

  get(name: string): number | string | string[] | undefined {
    return this.raw.getHeader(name);
  }

  has(name: string): boolean {
    return this.raw.hasHeader(name);
  }

  set(name: string | Readonly<Record<string, string | string[]>>, value?: string | readonly string[]): void {
    this.ctx.set(name, value);
  }

  /** Redirects to the `Referer` of this site, or else to the alternative. The method of Koa compares `Host` as text. */
  back(alternative = "/"): void {
    const { ctx } = this;
    const referer = ctx.get("Referer");
    ctx.redirect(findSafeReferer(referer, listSiteOrigins(ctx)) === undefined ? alternative : referer);
  }

  remove(name: string): void {
    if (!this.ctx.headMayChange) return;
    this.raw.removeHeader(name);
    if (name.toLowerCase() === "content-type") this.ctx.inferredType = undefined;
  }
}

// Koa defines many of these as accessors on its prototype; the members of the class come first.
Object.setPrototypeOf(KoaResponseFace.prototype, koaResponse);

/**
 * `ctx.cookies`. A cookie is `Secure` if the client used HTTPS, unless the call says otherwise. Unlike Koa's, it never throws because the
 * connection to this process is not encrypted: a proxy may decrypt.
 */
export class ContextCookies extends packages.Cookies {
  private readonly isSecure: boolean;

  constructor(private readonly ctx: Context) {
    const { keys } = ctx.app;
    // With `secure` the library refuses no cookie; `set` gives each its default.
    super(ctx.incoming, ctx.raw, { secure: true, ...(keys !== undefined && { keys }) });
    this.isSecure = ctx.secure;
  }

  override set(name: string, value?: string | null, options?: Cookies.SetOption): this {
    if (!this.ctx.mayChange) return this;
    return super.set(name, value, { secure: this.isSecure, ...options });
  }
}
