/**
 * The schemas of the API of Kubernetes, as strict as the server is with `--validate=strict`: an object has no member that its schema does not
 * name. Only the kinds of the file are known.
 */
import { Ajv } from "ajv";
import { textOf } from "./sources.js";

const FILE = "spec/support/schemas/kubernetes.json";
const KINDS = "x-kubernetes-group-version-kind";

interface Definition {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly [KINDS]?: readonly { readonly group: string; readonly version: string; readonly kind: string }[];
}

interface Definitions {
  readonly definitions: Readonly<Record<string, Definition>>;
}

function readDefinitions(): Definitions {
  const text = (textOf(FILE) ?? "").replaceAll(
    '"format":"int-or-string","type":"string"',
    '"type":["integer","string"]',
  );
  const { definitions } = JSON.parse(text) as Definitions;
  const strict = Object.entries(definitions).map(([name, definition]) => [
    name,
    definition.properties === undefined ? definition : { ...definition, additionalProperties: false },
  ]);
  return { definitions: Object.fromEntries(strict) as Definitions["definitions"] };
}

/** The faults of an object; none if it is right. @throws Error if its kind is not known */
export function findFaults(object: object): readonly string[] {
  const { apiVersion, kind } = object as { readonly apiVersion?: unknown; readonly kind?: unknown };
  const { definitions } = readDefinitions();
  const [name] =
    Object.entries(definitions).find(([, { [KINDS]: kinds = [] }]) =>
      kinds.some((each) => each.kind === kind && [each.group, each.version].filter(Boolean).join("/") === apiVersion),
    ) ?? [];
  if (name === undefined) throw new Error(`there is no schema of ${String(apiVersion)} ${String(kind)}`);
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile({ definitions, $ref: `#/definitions/${name}` });
  if (validate(object)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${String(message)} ${JSON.stringify(params)}`,
  );
}
