/**
 * `ctx.response` for middleware written for Koa: Koa's own accessors, over the same answer that the context holds. Made only for those
 * who ask.
 */
import { STATUS_CODES, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type Koa from "koa";
import koaResponse from "koa/lib/response.js";
import type { Context } from "./context.js";
import { lengthOf } from "./exchange.js";
import { checkStatusMessage } from "./status-line.js";

export class KoaResponseFace {
  readonly app: Koa;
  readonly req: IncomingMessage;
  private readonly raw: ServerResponse;

  constructor(readonly ctx: Context) {
    this.app = ctx.app;
    this.req = ctx.req;
    this.raw = ctx.raw;
  }

  /** Handed out like `ctx.res`: whoever writes by hand still gets a completed head. The accessors below do without. */
  get res(): ServerResponse {
    return this.ctx.res;
  }

  get request(): Koa.Request {
    return this.ctx.request;
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
    return this.raw.statusMessage || (STATUS_CODES[this.raw.statusCode] ?? "");
  }

  set message(text: string) {
    checkStatusMessage(text);
    if (!this.ctx.sealed) this.raw.statusMessage = text;
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
    const known = lengthOf(payload);
    if (known !== undefined || payload === undefined || payload === null) return known;
    return this.ctx.naturalType === "application/json" ? Buffer.byteLength(JSON.stringify(payload)) : undefined;
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

  /** Redirects to the `Referer` of the same host, or else to the alternative; Koa's own method throws for a `Referer` that does not parse. */
  back(alternative = "/"): void {
    const { ctx } = this;
    if (URL.canParse(ctx.get("Referer"), ctx.href)) koaResponse.back.call(this, alternative);
    else ctx.redirect(alternative);
  }

  remove(name: string): void {
    if (this.ctx.sealed || this.raw.headersSent) return;
    this.raw.removeHeader(name);
    if (name.toLowerCase() === "content-type") this.ctx.naturalType = undefined;
  }
}

// Koa defines many of these as accessors on its prototype; the class above answers first.
Object.setPrototypeOf(KoaResponseFace.prototype, koaResponse);
