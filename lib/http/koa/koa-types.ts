/**
 * Koa's types under names of this package, for the members that users see. A declaration file of an application can name these types also
 * where the package of Koa is out of its reach, as under pnpm. Inside the framework use the types of Koa.
 */
import type Cookies from "cookies";
import type Koa from "koa";

/** `builder.koa` and `ctx.app`. */
export interface KoaApp extends Koa {}

/** `ctx.cookies`. */
export interface KoaCookies extends Cookies {}

/** `ctx.request`. */
export interface KoaRequest extends Koa.Request {}

/** `ctx.response`. */
export interface KoaResponse extends Koa.Response {}

/** The members of Koa's context that `Context` declares itself. */
export type Overridden =
  | "app"
  | "params"
  | "search"
  | "req"
  | "res"
  | "request"
  | "response"
  | "state"
  | "status"
  | "body"
  | "path"
  | "method"
  | "url"
  | "set"
  | "get"
  | "ip"
  | "ips"
  | "protocol"
  | "secure"
  | "originalUrl"
  | "respond"
  | "onerror"
  | "cookies";
