/**
 * The difference between the security requirements of two operations (OpenAPI 3.1 section 4.8.30): a request meets one of them. It breaks a
 * client that meets one of the earlier operation, and none of the later one.
 */
import { type JsonObject, sortMembers } from "./document.js";
import { getMember, toObject } from "./reference-reader.js";

export interface SecurityChange {
  readonly isBreaking: boolean;
  readonly what: string;
}

/** A document, and an operation of it. */
export interface SecuredOperation {
  readonly document: object;
  readonly operation: JsonObject;
}

export function findSecurityChange(before: SecuredOperation, after: SecuredOperation): SecurityChange | undefined {
  const [earlier, later] = [listRequirements(before), listRequirements(after)];
  const isBreaking = !earlier.every((each) => meetsOne(each, later));
  if (!isBreaking && later.every((each) => meetsOne(each, earlier))) return undefined;
  const [was, is] = [earlier, later].map((all) => all.map(({ text }) => text).join(" or "));
  const what = was === is ? `the security scheme of ${was ?? ""} changed` : `${was ?? ""} became ${is ?? ""}`;
  return { isBreaking, what };
}

interface Requirement {
  /** For messages. */
  readonly text: string;
  /** The schemes by their definition, each with one of the scopes. The name of a scheme is not sent. */
  readonly parts: readonly string[];
}

/** Whether a request that meets the requirement meets one of the others. */
function meetsOne(requirement: Requirement, others: readonly Requirement[]): boolean {
  return others.some(({ parts }) => parts.every((part) => requirement.parts.includes(part)));
}

/** The requirements; one without a scheme for a public operation. */
function listRequirements({ document, operation }: SecuredOperation): readonly Requirement[] {
  const given = operation["security"] ?? Reflect.get(document, "security");
  const requirements: readonly unknown[] = Array.isArray(given) && given.length > 0 ? given : [{}];
  const schemes = getMember(getMember(document, "components"), "securitySchemes");
  return requirements.map((each) => {
    const entries = Object.entries(toObject(each));
    return {
      text: entries.map(([name]) => name).join(" and ") || "none",
      parts: entries.flatMap(([name, scopes]) => listParts(getMember(schemes, name) ?? name, scopes)),
    };
  });
}

function listParts(scheme: unknown, scopes: unknown): readonly string[] {
  const { description: _words, ...definition } = toObject(scheme);
  const text = JSON.stringify(typeof scheme === "string" ? scheme : sortMembers(Object.entries(definition)));
  return [text, ...(Array.isArray(scopes) ? scopes.map((scope) => `${text} ${String(scope)}`) : [])];
}
