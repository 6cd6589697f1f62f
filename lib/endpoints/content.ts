/**
 * The content of a request or a response, as an endpoint declares it: JSON by a schema alone, any other content by `content`. A declaration
 * has no code of a server, so that a front end may import it.
 *
 * @example
 * Post("/", { body: content.form(NewLink), responses: { 303: content.redirect() } });
 */
import type { InferInput, InferOutput, Schema } from "../runtime/standard-schema.js";

export type ContentKind =
  "bytes" | "events" | "file" | "form" | "json-lines" | "multipart" | "none" | "page" | "redirect" | "text";

/** A content that is not JSON. `Input` is the type on the side that sends it, `Output` on the side that receives it. */
export class Content<K extends ContentKind = ContentKind, Input = unknown, Output = Input> {
  /** In types only. */
  declare readonly "~input": Input;
  /** In types only. */
  declare readonly "~output": Output;

  /** @internal */
  constructor(
    readonly kind: K,
    /** The media type; for a page the name of its component. */
    readonly type: string | undefined,
    readonly schema?: Schema,
  ) {}
}

/** The bytes that a handler may return. */
export type Bytes = Uint8Array | AsyncIterable<Uint8Array>;

/** A response with the status of a redirect, as `redirect()` of the server returns it. */
export interface RedirectValue {
  readonly kind: "redirect";
}

/** A page, as `page()` of the server returns it. */
export interface PageValue {
  readonly component: string;
}

export const content = {
  /** A form of the media type `application/x-www-form-urlencoded`. Its texts are converted as those of a query. */
  form: <S extends Schema>(schema: S) =>
    new Content<"form", InferInput<S>, InferOutput<S>>("form", "application/x-www-form-urlencoded", schema),
  text: (type = "text/plain") => new Content<"text", string>("text", type),
  bytes: (type = "application/octet-stream") => new Content<"bytes", Bytes, Uint8Array>("bytes", type),
  /** The status of a redirect, with `Location`. */
  redirect: () => new Content<"redirect", RedirectValue, undefined>("redirect", undefined),
  /** A page of the page protocol. */
  page: (component: string) => new Content<"page", PageValue, undefined>("page", component),
  /** A response without a body. */
  none: () => new Content<"none", undefined>("none", undefined),
} as const;
