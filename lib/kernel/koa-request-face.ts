/**
 * `ctx.request` for middleware written for Koa: Koa's own accessors, over the same request that the context holds. Made only for those
 * who ask.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type Koa from "koa";
import koaRequest from "koa/lib/request.js";
import type { Context } from "./context.js";
import { parseFields } from "./fields.js";
import { queryOf } from "./request-target.js";

/** The fields by which Koa negotiates (RFC 9110 section 12.5). */
const PREFERENCES = ["accept", "accept-charset", "accept-encoding", "accept-language"] as const;

/** Characters. Koa's time to read such a field grows with the square of its length: 16 KiB take half a second. */
const LONGEST_PREFERENCE = 1024;

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

  get response(): Koa.Response {
    return this.ctx.response;
  }

  get path(): string {
    return this.ctx.path;
  }

  set path(value: string) {
    this.ctx.path = value;
  }

  /**
   * Without the `?`. Koa's own getter throws for some targets in absolute form, and has Node print others in a deprecation warning.
   */
  get querystring(): string {
    return queryOf(this.ctx.url).slice(1);
  }

  set querystring(text: string) {
    const query = (text.startsWith("?") ? text.slice(1) : text).replaceAll("#", "%23");
    this.ctx.url = this.ctx.path + (query === "" ? "" : `?${query}`);
  }

  /**
   * As in Koa an object of its own, which may be written to and stays the same as long as the query does.
   *
   * @throws PayloadTooLargeError for more than a thousand fields, as `ctx.search` does
   */
  get query(): Record<string, string | readonly string[]> {
    const { querystring } = this;
    if (querystring !== this.queryText) {
      this.queryFields = { ...parseFields(querystring) };
      this.queryText = querystring;
    }
    return this.queryFields;
  }

  set query(fields: Readonly<Record<string, unknown>>) {
    Reflect.set(koaRequest, "query", fields, this);
  }

  /** Read by the `accepts` methods. A field that is too long counts as absent. */
  get accept(): unknown {
    return (this.clientPreferences ??= Reflect.get(koaRequest, "accept", { req: withoutLongPreferences(this.req) }));
  }

  set accept(preferences: unknown) {
    this.clientPreferences = preferences;
  }

  get ip(): string {
    return this.ctx.ip;
  }

  get ips(): string[] {
    return this.ctx.ips;
  }

  get protocol(): string {
    return this.ctx.protocol;
  }

  get secure(): boolean {
    return this.ctx.secure;
  }
}

function withoutLongPreferences(request: IncomingMessage): Pick<IncomingMessage, "headers"> {
  const long = PREFERENCES.filter((name) => (request.headers[name]?.length ?? 0) > LONGEST_PREFERENCE);
  if (long.length === 0) return request;
  const headers = { ...request.headers };
  for (const name of long) delete headers[name];
  return { headers };
}

// Koa defines many of these as accessors on its prototype; the class above answers first.
Object.setPrototypeOf(KoaRequestFace.prototype, koaRequest);
