/** The operation of one route (OpenAPI 3.1 section 4.8.10): its id is the dotted name of the endpoint, its tag the name of the table. */
import type { Contract } from "../endpoints/contract.js";
import { isSafeMethod } from "../endpoints/method.js";
import type { Path } from "../endpoints/path.js";
import type { ComponentSchemas, SchemaPlace } from "./component-schemas.js";
import type { JsonObject, OpenApiOptions } from "./document.js";
import { describeBody } from "./media-types.js";
import { type DocumentPath, listParameters } from "./parameters.js";
import { describeResponses } from "./responses.js";
import type { SecuritySchemes } from "./security-schemes.js";
import type { SharedResponses } from "./shared-responses.js";

export interface OperationRoute {
  readonly method: string;
  readonly id: string;
  /** The id of the QUERY whose POST the operation is. */
  readonly queryId: string | undefined;
  readonly tag: string;
  /** `GET /notes`, for messages. */
  readonly title: string;
  readonly path: Path;
  readonly documentPath: DocumentPath;
  readonly contract: Contract | undefined;
  readonly bearer: boolean;
  readonly isCsrfExempt: boolean;
  readonly isDeprecated: boolean;
  /** From then on the endpoint may be missing. */
  readonly sunset: string | undefined;
}

/** The parts of a document that operations share. */
export interface SharedParts {
  readonly components: ComponentSchemas;
  readonly responses: SharedResponses;
  readonly security: SecuritySchemes;
  readonly options: OpenApiOptions;
  /** The CSRF stage is on. */
  readonly checksCsrf: boolean;
  /** Visitors who read pages get errors as pages. */
  readonly hasErrorPages: boolean;
}

export function describeOperation(route: OperationRoute, parts: SharedParts): JsonObject {
  const { id, queryId = id, tag, title, contract = NO_CONTRACT, isDeprecated, sunset } = route;
  // The CSRF stage lets safe requests pass without a token.
  const bearer = route.bearer && !isSafeMethod(route.method);
  const { components, options } = parts;
  const context = { components, version: options.version ?? "3.1" } as const;
  const place = (part: string): SchemaPlace => ({ id: `${id}.${part.replace("responses.", "")}`, part, route: title });
  const parameters = listParameters({ ...route, contract, place }, components);
  const { body, guards } = contract;
  const isDeclared = contract.responses !== undefined;
  const { summary = id, description } = options.texts?.[id] ?? options.texts?.[queryId] ?? {};
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    ...(isDeprecated && { deprecated: true }),
    // OpenAPI has no member for the date.
    ...(sunset !== undefined && { "x-sunset": sunset }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: describeBody(body, { ...context, place: place("body") }) }),
    responses: describeResponses(
      { contract, place, isDeclared, refusals: listCsrfRefusals(route, parts) },
      context,
      parts.responses,
    ),
    security: parts.security.require({ guards, bearer, title }),
  };
}

function listCsrfRefusals(
  { method, bearer, isCsrfExempt }: OperationRoute,
  { checksCsrf }: SharedParts,
): readonly number[] {
  if (!checksCsrf || isCsrfExempt || isSafeMethod(method)) return [];
  return [bearer ? 401 : 403];
}

const NO_CONTRACT: Contract = { guards: [] };
