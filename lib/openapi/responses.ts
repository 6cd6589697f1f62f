/** The responses of an operation by their status: those of its contract, and references to those that every endpoint may send. */
import { Content } from "../endpoints/content.js";
import type { ContentDeclaration, Contract } from "../endpoints/contract.js";
import { nodeHttp } from "../runtime/node-http.js";
import { isSchema } from "../runtime/standard-schema.js";
import type { SchemaPlace } from "./component-schemas.js";
import type { JsonObject } from "./document.js";
import { type ContentContext, describeContent } from "./media-types.js";
import type { SharedResponses } from "./shared-responses.js";

/** Of the request itself. The problems of stages and of faults are the default response. */
const ALWAYS = [400];
const WITH_BODY = [413, 415];
const UNPROCESSABLE = 422;
/** Of a key that another request has, and of a request with a key and without a caller. */
const WITH_KEY = [403, 409, UNPROCESSABLE];

export interface ResponseSource {
  readonly contract: Partial<Contract>;
  readonly place: (part: string) => SchemaPlace;
  /** Without schemas the response may have any content. */
  readonly isDeclared: boolean;
  /** The statuses of the stages for this route alone. */
  readonly refusals: readonly number[];
}

interface ResponseContext extends ContentContext {
  readonly shared: SharedResponses;
  /** The endpoint takes an `Idempotency-Key`. */
  readonly hasKey: boolean;
}

export function describeResponses(
  { contract, place, isDeclared, refusals }: ResponseSource,
  context: Omit<ContentContext, "place">,
  shared: SharedResponses,
): Readonly<Record<string, JsonObject>> {
  const { responses = {}, guards = [] } = contract;
  const described = new Map<number, JsonObject>();
  const isVisited = Object.values(responses).some((each) => isPageOrRedirect(each));
  const refused = guards.flatMap(({ definition }) => definition.refusals);
  // A declared response is that of the contract, also where a guard has its status.
  for (const status of [...listUndeclared(contract), ...refusals, ...refused])
    if (!(status in responses)) described.set(status, shared.reference(status, isVisited));
  if (!isDeclared)
    described.set(200, { description: "The endpoint does not declare its responses.", content: { "*/*": {} } });
  for (const [status, content] of Object.entries(responses)) {
    const hasKey = contract.idempotent !== undefined;
    const each = { ...context, place: place(`responses.${status}`), shared, hasKey };
    for (const [key, response] of describeStatus(Number(status), content, each))
      if (key === Number(status) || !(key in responses)) described.set(key, response);
  }
  const sorted = [...described].toSorted(([left], [right]) => left - right);
  return {
    ...Object.fromEntries(sorted.map(([status, response]) => [String(status), response])),
    default: shared.referenceOther(isVisited),
  };
}

function isPageOrRedirect(declared: ContentDeclaration): boolean {
  return declared instanceof Content && (declared.kind === "page" || declared.kind === "redirect");
}

function listUndeclared({ params, query, headers, body, idempotent }: Partial<Contract>): readonly number[] {
  const isChecked = [params, query, headers, body].some((part) => part !== undefined);
  return [
    ...ALWAYS,
    ...(body === undefined ? [] : WITH_BODY),
    ...(isChecked ? [UNPROCESSABLE] : []),
    ...(idempotent === undefined ? [] : WITH_KEY),
  ];
}

/**
 * A file has two more statuses: 206 for a range of it, and 304 where it has not changed. A page has 409 for a front end of an earlier
 * version, which loads the page anew.
 */
function describeStatus(
  status: number,
  content: ContentDeclaration,
  context: ResponseContext,
): readonly (readonly [number, JsonObject])[] {
  const whole = describeResponse(status, content, context);
  const kind = content instanceof Content ? content.kind : undefined;
  if (kind === "page")
    return [
      [status, whole],
      [409, OUTDATED],
    ];
  if (kind !== "file") return [[status, whole]];
  const range = { "Content-Range": { schema: { type: "string" } } };
  return [
    [status, whole],
    [206, { ...describeResponse(206, content, context), headers: range }],
    [304, { description: getTitle(304) }],
  ];
}

const OUTDATED: JsonObject = {
  description: "Conflict: the front end is of an earlier version",
  headers: { "X-Inertia-Location": { required: true, schema: { type: "string", format: "uri-reference" } } },
};

function describeResponse(status: number, declared: ContentDeclaration, context: ResponseContext): JsonObject {
  const described = describeContent(declared, context);
  const isOfKeys = context.hasKey && WITH_KEY.includes(status);
  const content =
    status >= 400 && isSchema(declared) ? context.shared.addThrown(status, described, isOfKeys) : described;
  const kind = declared instanceof Content ? declared.kind : undefined;
  const location = { Location: { required: true, schema: { type: "string", format: "uri-reference" } } };
  return {
    description: getTitle(status),
    ...(kind === "redirect" && { headers: location }),
    ...(Object.keys(content).length > 0 && { content }),
    ...(kind === "page" && declared instanceof Content && { "x-page": declared.type }),
  };
}

function getTitle(status: number): string {
  return nodeHttp.STATUS_CODES[status] ?? `Status ${status}`;
}
