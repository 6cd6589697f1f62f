/**
 * The responses that stand once in the components, and that each operation references: the problems of the pipeline and of guards (RFC 9457).
 */
import { STATUS_CODES } from "node:http";
import { PROBLEM_CONTENT_TYPE, Problem } from "../errors/problem.js";
import type { Schema } from "../runtime/standard-schema.js";
import type { ComponentSchemas } from "./component-schemas.js";
import { type JsonObject, sortMembers } from "./document.js";
import { JSON_TYPE } from "./media-types.js";

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

export class SharedResponses {
  private readonly responses = new Map<string, JsonObject>();

  /** @param problem the schema of an application whose errors are no problem documents */
  constructor(
    private readonly components: ComponentSchemas,
    private readonly problem: Schema | undefined,
  ) {}

  /** Returns a reference to the response of this status. */
  reference(status: number): JsonObject {
    const title = STATUS_CODES[status] ?? `Status ${status}`;
    const name = title.replace(/[^A-Za-z]/g, "");
    if (!this.responses.has(name)) this.responses.set(name, this.describe(status));
    return { $ref: `#/components/responses/${name}` };
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

  private describeContent(status: number): JsonObject {
    const place = { id: "Error", part: "the option problem", route: "the API document" };
    if (this.problem !== undefined) return { [JSON_TYPE]: { schema: this.components.read(this.problem, place) } };
    const [name, schema] = status === 422 ? ["ValidationProblem", VALIDATION_PROBLEM] : ["Problem", PROBLEM];
    const problem = { id: name, part: `the problem ${status}`, route: "the framework" };
    return { [PROBLEM_CONTENT_TYPE]: { schema: this.components.add(name, schema, problem) } };
  }
}

function listHeaders(status: number): JsonObject | undefined {
  const text = { schema: { type: "string" } };
  if (status < 400) return { Location: { schema: { type: "string", format: "uri-reference" }, required: true } };
  if (status === 401) return { "WWW-Authenticate": { ...text, required: true } };
  if (status === 429 || status === 503) return { "Retry-After": text };
  return undefined;
}
