/**
 * What a client receives from an endpoint, as types: the value of the status of success, and the responses by status. Nothing parses a
 * response in the client, so a value has the type that JSON leaves of it: a `Date` is a text.
 */
import type { FieldError } from "../errors/framework-error.js";
import type { Json } from "../runtime/json-value.js";
import type { Content } from "./content.js";
import type { StatusOf, SuccessStatus } from "./contract.js";

/** The type of a response for the client: of JSON the input of its schema, because the server sends the value of its handler. */
type ReceivedOf<D> = D extends {
  readonly "~standard": { readonly types?: { readonly input: infer I } | undefined };
}
  ? Json<I>
  : D extends Content<infer _K, infer _I, infer Output>
    ? Output
    : never;

type ResolvedStatus = SuccessStatus | 301 | 302 | 303 | 307 | 308;

/** A spread object has its statuses as texts in the eyes of the compiler. */
type ResolvedKey<R> = keyof R & (ResolvedStatus | `${ResolvedStatus}`);

/** The body with which a call resolves; `unknown` without `responses`. */
export type SuccessOf<O> = O extends { readonly responses: infer R }
  ? { [K in ResolvedKey<R>]: ReceivedOf<R[K]> }[ResolvedKey<R>]
  : unknown;

/** A response with one of the declared statuses. */
export interface CallResponse<S extends number = number, B = unknown> {
  readonly status: S;
  readonly body: B;
  readonly headers: Headers;
}

/** A response that no contract names, such as that of a proxy, or whose body is not the JSON that it says to be. */
export interface UnexpectedResponse {
  readonly status: "unexpected";
  readonly response: {
    readonly status: number;
    readonly headers: Headers;
    /** The first 64 KiB of the body. */
    readonly bytes: Uint8Array;
  };
}

/** The statuses of problems that the framework and guards respond with; every endpoint has them undeclared. */
export type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 408 | 413 | 415 | 422 | 429 | 500 | 503;

/** A problem document (RFC 9457). */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  /** Of a 422: the faults by the path of a value, such as `body.url`. */
  readonly errors?: Readonly<Record<string, readonly FieldError[]>>;
  readonly [extension: string]: unknown;
}

/** The responses that no contract declares. */
export type UndeclaredResponse = CallResponse<ProblemStatus, ProblemBody> | UnexpectedResponse;

/** The responses by their status, and those that no contract declares. Without `responses` a body that is not as its media type is unexpected. */
export type ResultOf<O> = O extends { readonly responses: infer R }
  ? { [K in keyof R]: CallResponse<ReceivedStatus<K, R[K]>, ReceivedOf<R[K]>> }[keyof R] | UndeclaredResponse
  : CallResponse | UnexpectedResponse;

/** A part of a file needs no declaration. */
type ReceivedStatus<K, D> = D extends Content<"file"> ? StatusOf<K> | 206 : StatusOf<K>;
