/** An OpenAPI document as data, with the members that the framework writes: https://spec.openapis.org/oas/v3.1.1.html. */
import type { Schema } from "../runtime/standard-schema.js";

/** A value of JSON with members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** About the API (section 4.8.2). */
export interface OpenApiInfo {
  /** By default the name of the application. */
  readonly title?: string;
  /** The version of the API, by default `0.0.0`. */
  readonly version?: string;
  readonly summary?: string;
  /** Markdown. */
  readonly description?: string;
  readonly termsOfService?: string;
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string };
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
}

/** The words for one operation. */
export interface OperationText {
  /** One line; by default the name of the endpoint. */
  readonly summary?: string;
  /** Markdown. */
  readonly description?: string;
}

export interface OpenApiOptions {
  readonly info?: OpenApiInfo;
  /** The servers; by default the origin of the document itself. */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[];
  /** By default `3.1`, whose documents name the items of a stream under `x-item-schema`. Those of `3.2` have `itemSchema`. */
  readonly version?: "3.1" | "3.2";
  /**
   * The security schemes (section 4.8.27) by the name that guards have as their `scheme`. `bearer` and `basic` are known without one.
   */
  readonly securitySchemes?: Readonly<Record<string, JsonObject>>;
  /** The schema of the JSON that an `ErrorMapping` sends instead of problem documents. */
  readonly problem?: Schema;
  /** The words for an operation by the dotted name of its endpoint, and for a tag by its name. */
  readonly texts?: Readonly<Record<string, OperationText>>;
  /** The routes that the document has: by default those with a contract or a name. */
  readonly include?: (route: {
    readonly method: string;
    readonly path: string;
    readonly name: string | undefined;
  }) => boolean;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: OpenApiInfo & { readonly title: string; readonly version: string };
  readonly servers: readonly JsonObject[];
  readonly tags: readonly JsonObject[];
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonObject>>;
    readonly responses: Readonly<Record<string, JsonObject>>;
    /** Absent where no operation needs one. */
    readonly securitySchemes?: Readonly<Record<string, JsonObject>>;
  };
}

/** Returns an object whose members stand in the order of their names. */
export function sortMembers<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  // Names are unique, so none is equal to another.
  return Object.fromEntries([...entries].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
