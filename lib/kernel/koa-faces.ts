/**
 * `ctx.request` and `ctx.response` for middleware written for Koa: Koa's own accessors, over the same request and answer that the
 * context holds. Made only for those who ask.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type Koa from "koa";
import koaRequest from "koa/lib/request.js";
import koaResponse from "koa/lib/response.js";
import type { Context } from "./context.js";
import { lengthOf } from "./exchange.js";

export class KoaRequestFace {
  readonly app: Koa;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly originalUrl: string | undefined;

  constructor(readonly ctx: Context) {
    this.app = ctx.app;
    this.req = ctx.req;
    this.res = ctx.raw;
    this.originalUrl = ctx.originalUrl;
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

export class KoaResponseFace {
  readonly app: Koa;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;

  constructor(readonly ctx: Context) {
    this.app = ctx.app;
    this.req = ctx.req;
    this.res = ctx.raw;
  }

  get request(): Koa.Request {
    return this.ctx.request;
  }

  get status(): number {
    return this.ctx.status;
  }

  set status(code: number) {
    this.ctx.status = code;
  }

  get body(): unknown {
    return this.ctx.body;
  }

  set body(value: unknown) {
    this.ctx.body = value;
  }

  get length(): number | undefined {
    const header = this.res.getHeader("Content-Length");
    if (header !== undefined) return Number.parseInt(String(header), 10) || 0;
    const { payload } = this.ctx;
    const known = lengthOf(payload);
    if (known !== undefined || payload === undefined || payload === null) return known;
    return this.ctx.naturalType === "application/json" ? Buffer.byteLength(JSON.stringify(payload)) : undefined;
  }

  set length(bytes: number | undefined) {
    if (bytes !== undefined && !this.res.hasHeader("Transfer-Encoding")) this.ctx.set("Content-Length", bytes);
  }

  set(name: string | Readonly<Record<string, string | string[]>>, value?: string | readonly string[]): void {
    this.ctx.set(name, value);
  }

  remove(name: string): void {
    if (!this.ctx.sealed && !this.res.headersSent) this.res.removeHeader(name);
  }
}

// Koa defines many of these as accessors on its prototypes; the classes above answer first.
Object.setPrototypeOf(KoaRequestFace.prototype, koaRequest);
Object.setPrototypeOf(KoaResponseFace.prototype, koaResponse);
