/**
 * The content of a request or a response, as an endpoint declares it: JSON by a schema alone, any other content by `content`. A declaration
 * has no code of a server, so that a front end may import it.
 *
 * @example
 * Post("/", { body: content.form(NewLink), responses: { 303: content.redirect() } });
 * Post("/photos", { body: content.multipart(Caption, { photo: { types: ["image/*"], bytes: 2_000_000 } }) });
 * Get("/changes", { responses: { 200: content.events(Change) } });
 */
import type { UploadedFile, UploadLimits } from "../http/body/uploads.js";
import type { ServerSentEvent } from "../http/response/event-stream.js";
import type { Json } from "../runtime/json-value.js";
import type { InferInput, InferOutput, Schema } from "../runtime/standard-schema.js";

export type ContentKind =
  "bytes" | "events" | "file" | "form" | "json-lines" | "multipart" | "none" | "page" | "redirect" | "text";

/** The rules for the files of one name in a multipart form. */
export interface FileRule {
  /** The media types, detected from the content: `image/png`, or `image/*` for all images except SVG. All types unless set. */
  readonly types?: readonly string[];
  /** The maximum of bytes of a file; the limit of the form applies too. */
  readonly bytes?: number;
  /** The form may lack the file. */
  readonly optional?: boolean;
  /** The form may repeat the name: the value is a list. */
  readonly several?: boolean;
}

export type FileRules = Readonly<Record<string, FileRule>>;

/** The compiler does not refuse unknown members of a type that it infers. */
type KnownRules<F> =
  Exclude<{ [N in keyof F]: keyof F[N] }[keyof F], keyof FileRule> extends never
    ? unknown
    : "a rule for files has the options types, bytes, optional and several";

/** A content that is not JSON. `Input` is the type on the side that sends it, `Output` on the side that receives it. */
export class Content<K extends ContentKind = ContentKind, Input = unknown, Output = Input> {
  /** In types only. */
  declare readonly "~input": Input;
  /** In types only. */
  declare readonly "~output": Output;

  /** @internal */
  constructor(
    readonly kind: K,
    /** The media type; for a page the names of its components, with commas between them. */
    readonly type?: string,
    /** The schema of a form, of the data of each event, or of each JSON line. */
    readonly schema?: Schema,
    /** Of a multipart form. */
    readonly files?: FileRules,
    /** Of a multipart form. */
    readonly limits?: UploadLimits,
  ) {}
}

/** The bytes that a handler may return. */
export type Bytes = Uint8Array | AsyncIterable<Uint8Array>;

/** A response with the status of a redirect, as `redirect()` and `external()` of the server return it. */
export interface RedirectValue {
  readonly kind: "redirect" | "redirect to another site";
}

/** A page, as `page()` of the server returns it. */
export interface PageValue<C extends string = string> {
  readonly component: C;
}

/**
 * An event whose data is sent as JSON, a text too. One with a name has data. A text is an event too where the data is a text.
 */
export type EventOf<T> =
  | (ServerSentEvent<T> & { readonly data: T })
  | (ServerSentEvent<T> & { readonly event?: never })
  | (string extends T ? string : never);

/** An event as a client receives it. */
export interface ReceivedEvent<T = unknown> {
  /** `message` for an event without a name. */
  readonly event: string;
  /** The value of the JSON; of an endpoint without `responses` the text. */
  readonly data: T;
  /** The id of the last event that had one, for the header `Last-Event-ID` of a later call. */
  readonly id: string | undefined;
}

/** The files of a multipart form by their rules. `V` is the type of one file. */
export type FilesOf<F, V> = {
  readonly [N in keyof F as F[N] extends { readonly optional: true } ? never : N]: FilesOfRule<F[N], V>;
} & {
  readonly [N in keyof F as F[N] extends { readonly optional: true } ? N : never]?: FilesOfRule<F[N], V> | undefined;
};

type FilesOfRule<R, V> = R extends { readonly several: true } ? readonly V[] : V;

export const content = {
  /** A form of the media type `application/x-www-form-urlencoded`. Its texts are converted as those of a query. */
  form: <S extends Schema>(schema: S) =>
    new Content<"form", InferInput<S>, InferOutput<S>>("form", "application/x-www-form-urlencoded", schema),
  /**
   * A form with files. The schema sees the texts, which are converted as those of a query; `files` has the rules of the files by name. A
   * file without a rule is a 422. The server needs `Uploads` of `@stagecraft/framework/uploads`.
   */
  multipart: <S extends Schema, const F extends FileRules>(
    schema: S,
    files: F & KnownRules<F>,
    limits?: UploadLimits,
  ) =>
    new Content<"multipart", InferInput<S> & FilesOf<F, Blob>, InferOutput<S> & FilesOf<F, UploadedFile>>(
      "multipart",
      "multipart/form-data",
      schema,
      files,
      limits,
    ),
  text: (type = "text/plain") => new Content<"text", string>("text", type),
  bytes: (type = "application/octet-stream"): Content<"bytes", Bytes, Uint8Array> =>
    new Content<"bytes", Bytes, Uint8Array>("bytes", type),
  /** A file of a response, whole or a range of it, as `storage.download` returns it: the statuses 206 and 304 need no declaration. */
  file: (type = "application/octet-stream") => new Content<"file", Bytes | undefined, Blob>("file", type),
  /** Server-sent events. The schema is that of the data of each event, which is sent as JSON: a text has quotes. */
  events: <S extends Schema>(schema: S) =>
    new Content<"events", AsyncIterable<EventOf<InferInput<S>>>, AsyncIterable<ReceivedEvent<Json<InferInput<S>>>>>(
      "events",
      "text/event-stream",
      schema,
    ),
  /**
   * One JSON text a line. The schema is that of a line. No media type for it is registered; clients also know `application/jsonl`.
   */
  jsonLines: <S extends Schema>(schema: S, type = "application/x-ndjson") =>
    new Content<"json-lines", AsyncIterable<InferInput<S>>, AsyncIterable<Json<InferInput<S>>>>(
      "json-lines",
      type,
      schema,
    ),
  /** The status of a redirect, with `Location`. */
  redirect: () => new Content<"redirect", RedirectValue, undefined>("redirect"),
  /** A page of the page protocol: of the component, or of one of several. */
  page: <const C extends string>(...components: readonly C[]) =>
    new Content<"page", PageValue<C>, undefined>("page", String(components)),
  /** A response without a body. */
  none: () => new Content<"none", undefined>("none"),
} as const;
