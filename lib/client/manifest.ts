/**
 * An endpoint as the client uses it: method, path, and the kinds of content of its body and its responses. A manifest is a table of them as
 * plain data, which `createManifest` writes.
 */
import type { Content, ContentKind } from "../endpoints/content.js";
import type { ContentDeclaration, Contract, ContractOptions } from "../endpoints/contract.js";
import type { Method } from "../endpoints/method.js";
import type { PathParameter } from "../endpoints/path.js";
import type { Schema } from "../runtime/standard-schema.js";

/** The content of a body or a response: JSON by a schema, or the kind of another content. */
export type ManifestKind = ContentKind | "json";

export interface ManifestEntry {
  readonly method: Method;
  /** The template with all prefixes. */
  readonly path: string;
  /** The contents that the body may have, by their media type. */
  readonly body?: Readonly<Record<string, ManifestKind>> | undefined;
  /** The contents of the responses by their status. */
  readonly responses?: Readonly<Record<string, ManifestKind>> | undefined;
  /** Whether each call has an `Idempotency-Key`. */
  readonly idempotent?: boolean | undefined;
}

export type RoutesManifest = Readonly<Record<string, ManifestEntry>>;

/** An endpoint of a table as the client reads it. */
export interface CalledEndpoint {
  readonly method: Method;
  readonly path: string;
  readonly contract: (Pick<Contract, "responses"> & Pick<ContractOptions, "body" | "idempotent">) | undefined;
  readonly url: (...values: readonly PathParameter[]) => string;
}

/** @param path the template with all prefixes */
export function toManifestEntry({ method, contract, path: own }: CalledEndpoint, path = own): ManifestEntry {
  const { body, responses, idempotent } = contract ?? {};
  return {
    method,
    path,
    body: body && toBodyKinds(body),
    responses: responses && mapKinds(responses),
    idempotent: idempotent && true,
  };
}

function toBodyKinds(body: NonNullable<ContractOptions["body"]>): Readonly<Record<string, ManifestKind>> {
  if (isSchema(body)) return { "application/json": "json" };
  return isContent(body) ? { [body.type ?? ""]: body.kind } : mapKinds(body);
}

function mapKinds(declared: Readonly<Record<string, ContentDeclaration>>): Readonly<Record<string, ManifestKind>> {
  return Object.fromEntries(
    Object.entries(declared).map(([key, each]) => [key, isSchema(each) ? "json" : each.kind] as const),
  );
}

/** The schemas of some libraries have a member `kind`, and those of others are functions. */
function isSchema(declared: object): declared is Schema {
  return "~standard" in declared;
}

function isContent(body: object): body is Content {
  return "kind" in body;
}
