/**
 * The contract of an endpoint: which values it takes, which it gives, and which guards stand before it. The types here are computed from
 * the options of an endpoint, once for each of them, and read by index: `ContextOf`.
 */
import type { Schema } from "../runtime/standard-schema.js";
import type { Content } from "./content.js";
import type { GuardList, UsedGuard } from "./guard.js";
import type { Idempotent, IdempotentOptions } from "./idempotent.js";
import type { Names, PathParameter } from "./path.js";

/** The content of a body: JSON by a schema, or another content. */
export type ContentDeclaration = Schema | Content;

/** No schema is one. The compiler ends its message with the text. */
export interface RecordOf<Text extends string> {
  /** In types only. */
  readonly "~standard"?: Text;
}

export interface ContractOptions {
  /** A schema for the text of a capture, by the name of the capture; also of a capture in the prefix of the table. */
  readonly params?: RecordOf<"params takes a schema for each capture: { id: schema }"> &
    Readonly<Record<string, Schema>>;
  /** The schema of the query. */
  readonly query?: Schema;
  /** The schema of the headers, by their names in lower case. */
  readonly headers?: Schema;
  /** The content of the body; several contents by their media type. */
  readonly body?: ContentDeclaration | Readonly<Record<string, ContentDeclaration>>;
  /** The content of the responses by their status. */
  readonly responses?: RecordOf<"responses takes a content for each status: { 200: schema }"> &
    Readonly<Record<number, ContentDeclaration>>;
  /** The guards, the first of which runs first. They run before all middleware of the route. */
  readonly guards?: GuardList;
  /**
   * Members of a response that its schema does not declare are left out, in a release build; a debug build refuses them. It replaces the
   * setting of the application.
   */
  readonly stripResponses?: boolean;
  /** A request with the same `Idempotency-Key` gets the same response, and the handler runs once. For a method that writes. */
  readonly idempotent?: true | IdempotentOptions;
}

/** The contract of an endpoint as the server and the client read it. */
export interface Contract extends Omit<ContractOptions, "params" | "responses" | "guards" | "idempotent"> {
  readonly params?: Readonly<Record<string, Schema>>;
  readonly responses?: Readonly<Record<number, ContentDeclaration>>;
  readonly guards: readonly UsedGuard[];
  readonly idempotent?: Idempotent;
}

// The types below see schemas through their interface only, so that two versions of a library may meet in one program.

/** The type on the side that sends the content. */
export type InputOf<D> = D extends {
  readonly "~standard": { readonly types?: { readonly input: infer I } | undefined };
}
  ? I
  : D extends { readonly "~input": infer I }
    ? I
    : { [K in keyof D]: InputOf<D[K]> }[keyof D];

/** The type on the side that receives the content. */
export type OutputOf<D> = D extends {
  readonly "~standard": { readonly types?: { readonly output: infer O } | undefined };
}
  ? O
  : D extends { readonly "~output": infer O }
    ? O
    : { [K in keyof D]: OutputOf<D[K]> }[keyof D];

type Part = "body" | "headers" | "query";

/** The type of `ctx.params`: the output of the schema of each capture, a text for the others. */
export type ParamsOf<P extends string, O> = O extends { readonly params: infer S }
  ? { readonly [N in Names<P>]: N extends keyof S ? OutputOf<S[N]> : string }
  : Readonly<Record<Names<P>, string>>;

/** The values that guards add. */
export type AddsOf<O> = O extends { readonly guards: readonly (infer G)[] } ? Adds<G> : unknown;

type Adds<G> = (G extends { readonly "~adds": infer A } ? (all: A) => void : never) extends (all: infer All) => void
  ? All
  : unknown;

/** The values that a handler may return. Written out, because the compiler would print the schemas as arguments of a further name. */
export type ReturnsOf<O> = O extends { readonly responses: infer R }
  ? | {
        // The statuses of a file besides the declared one: a range of it, and a file that has not changed.
        [K in keyof R]:
          | ReplyValue<R[K] extends Content<"file"> ? StatusOf<K> | 206 | 304 : StatusOf<K>, InputOf<R[K]>>
          | (R[K] extends Content<"page" | "redirect"> ? InputOf<R[K]> : never);
      }[keyof R]
    | PlainOf<R>
  : unknown;

/** A `Reply` of the server with its status and its value. */
export interface ReplyValue<S extends number, B> {
  readonly statusCode: S;
  /** In types only. */
  readonly "~value": B;
}

/** The compiler turns the numbers of an object that is spread into another one into texts. */
export type StatusOf<K> = K extends number ? K : K extends `${infer S extends number}` ? S : never;

export type SuccessStatus = 200 | 201 | 202 | 203 | 204 | 205 | 206;

/** The value of the one status of success without a `Reply` around it. */
type PlainOf<R, K extends keyof R = keyof R & (SuccessStatus | `${SuccessStatus}`)> =
  IsOne<K> extends true ? PlainValue<R[K]> : never;

type PlainValue<D> = D extends Content<"none"> ? void : InputOf<D>;

/** Whether a type has exactly one member. */
type IsOne<T, All = T> = [T] extends [never] ? false : T extends unknown ? ([All] extends [T] ? true : false) : never;

/** The values that a client gives to a call. A part that is optional, or that has optional members only, may be left out. */
export type RequestOf<P extends string, O> = {
  readonly [K in Exclude<keyof O & Part, OptionalPart<O>>]: InputOf<O[K]>;
} & { readonly [K in OptionalPart<O>]?: InputOf<O[K]> } & ([Names<P>] extends [never]
    ? unknown
    : string extends P
      ? unknown
      : { readonly params: RequestParams<P, O> });

type OptionalPart<O> = {
  [K in keyof O & Part]: undefined extends InputOf<O[K]> ? K : object extends InputOf<O[K]> ? K : never;
}[keyof O & Part];

type RequestParams<P extends string, O> = {
  readonly [N in Names<P>]: O extends { readonly params: { readonly [M in N]: infer S } }
    ? InputOf<S> & PathParameter
    : PathParameter;
};

/** The context of the handler of an endpoint: `ContextOf<typeof links.show>`. */
export type ContextOf<E extends { readonly "~context": unknown }> = E["~context"];

/**
 * What the handler of an endpoint may return: `show(): ReturnOf<typeof links.show>`. With it as the type of its result, the compiler names
 * the member of a value that does not fit.
 */
export type ReturnOf<E extends { readonly "~returns": unknown }> = E["~returns"];
