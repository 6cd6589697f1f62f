/**
 * `ctx.request` for middleware written for Koa: Koa's own accessors, over the same request that the context holds. Made only for those
 * who ask.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type Koa from "koa";
import koaRequest from "koa/lib/request.js";
import type { Context } from "./context.js";

export class KoaRequestFace {
  readonly app: Koa;
  readonly req: IncomingMessage;
  readonly originalUrl: string | undefined;

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

// Koa defines many of these as accessors on its prototype; the class above answers first.
Object.setPrototypeOf(KoaRequestFace.prototype, koaRequest);
