/**
 * The responses that stand once in the components, and that each operation references: the problems of the pipeline and of guards (RFC 9457).
 * One of them is the default response of every operation: any problem whose status the operation does not list.
 */
import { PROBLEM_CONTENT_TYPE, Problem } from "../errors/problem.js";
import { nodeHttp } from "../runtime/node-http.js";
import type { Schema } from "../runtime/standard-schema.js";
import type { ComponentSchemas } from "./component-schemas.js";
import { type JsonObject, sortMembers } from "./document.js";
import { describePage, JSON_TYPE } from "./media-types.js";
import { toObject } from "./reference-reader.js";

const FIELD_ERROR = {
  type: "object",
  properties: { code: { type: "string" }, message: { type: "string" } },
  required: ["code"],
};

const PROBLEM = {
  type: "object",
  description: "A problem document (RFC 9457).",
  properties: {
    type: { type: "string", format: "uri-reference" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    instance: { type: "string", format: "uri-reference" },
  },
  required: ["type", "title", "status"],
};

const VALIDATION_PROBLEM = {
  ...PROBLEM,
  description: "A problem document with the faults by the path of a value, such as `body.url`.",
  properties: {
    ...PROBLEM.properties,
    errors: { type: "object", additionalProperties: { type: "array", items: FIELD_ERROR } },
  },
};

const UNPROCESSABLE = 422;
const ERROR_PAGE = "ErrorPage";
const OTHER = "OtherProblem";
const RETRY_AFTER = { description: "The seconds to wait.", schema: { type: "string" } };
const TEXT = { schema: { type: "string" } };

export class SharedResponses {
  private readonly responses = new Map<string, JsonObject>();

  /**
   * @param problem the schema of an application whose errors are no problem documents
   * @param hasErrorPages whether a client that names HTML in its `Accept`, as browsers do, gets a page instead
   */
  constructor(
    private readonly components: ComponentSchemas,
    private readonly problem: Schema | undefined,
    private readonly hasErrorPages: boolean,
  ) {}

  /**
   * Returns a reference to the response of this status.
   *
   * @param isVisited whether the front end visits the endpoint: its errors are pages for the front end too
   */
  reference(status: number, isVisited: boolean): JsonObject {
    if (status >= 400 && isVisited && this.hasErrorPages) return this.referenceErrorPage();
    const title = nodeHttp.STATUS_CODES[status] ?? `Status ${status}`;
    const name = title.replace(/[^A-Za-z]/g, "");
    if (!this.responses.has(name)) this.responses.set(name, this.describe(status));
    return { $ref: `#/components/responses/${name}` };
  }

  /** Returns a reference to the response of every status that an operation does not list. */
  referenceOther(isVisited: boolean): JsonObject {
    if (isVisited && this.hasErrorPages) return this.referenceErrorPage();
    const headers = { "Retry-After": RETRY_AFTER };
    const content = this.describeContent(503);
    this.responses.set(OTHER, { description: "Any other problem", headers, content });
    return { $ref: `#/components/responses/${OTHER}` };
  }

  /**
   * The contents of a declared error: a handler may return its JSON, or throw an error that is sent as a problem of these members.
   *
   * @param isOfKeys whether the store of idempotency keys sends the status too, as a problem without these members
   */
  addThrown(status: number, declared: JsonObject, isOfKeys: boolean): JsonObject {
    const thrown = this.problem === undefined && this.describeThrown(status, toObject(declared[JSON_TYPE]), isOfKeys);
    return { ...declared, ...thrown, ...this.getDocument() };
  }

  private describeThrown(status: number, { schema }: JsonObject, isOfKeys: boolean): JsonObject {
    // The framework itself sends the problem of wrong input.
    if (status === UNPROCESSABLE) return this.describeContent(status);
    const thrown = isOfKeys ? { anyOf: [schema, this.describeProblem(status)] } : schema;
    return { [PROBLEM_CONTENT_TYPE]: { schema: thrown } };
  }

  private referenceErrorPage(): JsonObject {
    const content = { ...describePage(this.components), ...this.describeContent(404) };
    this.responses.set(ERROR_PAGE, { description: "The page of an error, or its problem", content });
    return { $ref: `#/components/responses/${ERROR_PAGE}` };
  }

  private getDocument(): JsonObject {
    return this.hasErrorPages ? { "text/html": TEXT } : {};
  }

  list(): Readonly<Record<string, JsonObject>> {
    return sortMembers(this.responses);
  }

  private describe(status: number): JsonObject {
    const headers = listHeaders(status);
    return {
      description: new Problem(status).title,
      ...(headers !== undefined && { headers }),
      // A guard may refuse with a redirect.
      ...(status >= 400 && { content: this.describeContent(status) }),
    };
  }

  /** @param status of the example */
  private describeContent(status: number): JsonObject {
    const place = { id: "Error", part: "the option problem", route: "the API document" };
    if (this.problem !== undefined)
      return { [JSON_TYPE]: { schema: this.components.read(this.problem, place) }, ...this.getDocument() };
    const schema = this.describeProblem(status);
    return { [PROBLEM_CONTENT_TYPE]: { schema, example: createExample(status) }, ...this.getDocument() };
  }

  private describeProblem(status: number): JsonObject {
    const [name, problem] = status === UNPROCESSABLE ? ["ValidationProblem", VALIDATION_PROBLEM] : ["Problem", PROBLEM];
    return this.components.add(name, problem, { id: name, part: "the problem", route: "the framework" });
  }
}

function createExample(status: number): object {
  const errors = { "body.name": [{ code: "too_small", message: "at least 1 character" }] };
  return { ...new Problem(status).toJSON(), ...(status === UNPROCESSABLE && { errors }) };
}

function listHeaders(status: number): JsonObject | undefined {
  if (status < 400) return { Location: { schema: { type: "string", format: "uri-reference" }, required: true } };
  if (status === 401) return { "WWW-Authenticate": { ...TEXT, required: true } };
  if (status === 429 || status === 503) return { "Retry-After": RETRY_AFTER };
  return undefined;
}
