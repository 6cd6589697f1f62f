/**
 * The file for a front end in another repository: the types of the contracts by table and endpoint, and the manifests. The types of a call are
 * computed from it by the types of the package, as from the table, so that both have the same calls. It imports the package alone.
 */
import { toManifestEntry } from "../../../client/manifest.js";
import { CommandError } from "../../command.js";
import { Content, type FileRules } from "../../../endpoints/content.js";
import type { ContentDeclaration, Contract } from "../../../endpoints/contract.js";
import { formatRoute } from "../../../endpoints/endpoint.js";
import { StartupError } from "../../../errors/diagnostic.js";
import { ComponentSchemas, type SchemaPlace } from "../../../openapi/component-schemas.js";
import { isSchema, type Schema } from "../../../runtime/standard-schema.js";
import type { RouteDescriptor } from "../../../routing/route.js";
import { toMemberName, toMembers, toTypeText } from "./type-text.js";

const PREAMBLE = `/**
 * The endpoints of a server for its typed client. Written by \`stagecraft typegen\`: change the server, and write it anew.
 *
 * @example
 * const api = connect("links", { origin: "https://api.example" });
 */`;

const FUNCTIONS = `/** The client of a table. */
export function connect<N extends keyof Tables>(table: N, options: RouteClientOptions): Client<Tables[N]> {
  return client<Tables[N]>(manifests[table], options);
}

/** The types of a call, from the template \`P\` and the contract \`O\` of its endpoint. */
export interface CalledTypes<P extends string, O> {
  readonly "~request": RequestOf<P, O>;
  readonly "~success": SuccessOf<O>;
  readonly "~result": ResultOf<O>;
}

export interface JsonOf<T> {
  readonly "~standard": { readonly types?: { readonly input: T; readonly output: T } | undefined };
}
`;

const IMPORTS = ["Client", "RequestOf", "ResultOf", "RouteClientOptions", "RoutesManifest", "SuccessOf"];
/** Only contracts with other contents than JSON need them, and a compiler may refuse an import without a use. */
const IMPORTS_OF_CONTENTS = ["Bytes", "Content", "ReceivedEvent"];

interface NamedRoute extends RouteDescriptor {
  readonly table: string;
  readonly key: string;
}

/** @throws StartupError for each schema without a JSON Schema, as for the API document; CommandError without a named endpoint */
export function createClientFile(descriptors: readonly RouteDescriptor[]): string {
  const routes = listNamedRoutes(descriptors);
  if (routes.length === 0)
    throw new CommandError("no endpoint of the application has a name", {
      fix: 'name them by a table: routes("links", "/links", { … })',
    });
  const components = new ComponentSchemas();
  const tables = toSection(routes, (route) => [
    `/** ${toComment(`${route.name}: ${formatRoute(route)}${route.contract?.idempotent ? ", idempotent" : ""}`)} */`,
    `readonly ${toMemberName(route.key)}: CalledTypes<${JSON.stringify(route.path)}, ${toContractType(route, components)}>;`,
  ]);
  const { diagnostics } = components;
  if (diagnostics.length > 0) throw new StartupError(diagnostics, { head: "the types cannot be written" });
  const schemas = Object.entries(components.list()).flatMap(([name, schema]) => [
    `/** ${toComment(`schema ${name}`)} */`,
    `readonly ${toMemberName(name)}: ${toTypeText(schema, "  ")};`,
  ]);
  const manifests = toSection(routes, (route) => [
    `${toKey(route.key)}: ${JSON.stringify(toManifestEntry({ ...route, contract: route.contract, url: () => "" }))},`,
  ]);
  const toText = (sections: typeof tables, toName: (name: string) => string, end: string): string =>
    toMembers(
      sections.map(({ table, members }) => `${toName(table)}: ${toMembers(members, "  ")}${end}`),
      "",
    );
  const types = [
    `export interface Tables ${toText(tables, (name) => `readonly ${toMemberName(name)}`, ";")}\n`,
    `export interface Schemas ${toMembers(schemas, "")}\n`,
  ];
  const values = `export const manifests: { readonly [N in keyof Tables]: RoutesManifest } = ${toText(manifests, toKey, " as const,")};\n`;
  return [PREAMBLE, `${toImports(types.join(""))}\n`, FUNCTIONS, ...types, values].join("\n");
}

function toImports(types: string): string {
  const used = IMPORTS_OF_CONTENTS.filter((name) => new RegExp(`\\b${name}\\b`).test(types));
  const names = [...IMPORTS, ...used].toSorted().map((name) => `  type ${name},\n`);
  return `import {\n  client,\n${names.join("")}} from "@stagecraft/framework/routes";`;
}

/** The endpoints of a file with their texts, for a comparison; the texts of the schemas too. */
export function listEndpoints(file: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let [indent, name] = ["", ""];
  for (const line of file.split(/\r?\n/)) {
    const [, margin, mark] = /^( +)\/\*\* (.+?)(?:: .*)? \*\/$/.exec(line) ?? [];
    if (margin !== undefined && mark !== undefined) [indent, name] = [margin, mark];
    // The end of the table, or of the interface.
    else if (!line.startsWith(indent)) name = "";
    if (name !== "") found.set(name, `${found.get(name) ?? ""}${line}\n`);
  }
  return found;
}

/** Those that a table or a resource has named, in the order of their names. A POST beside a QUERY has no call. */
function listNamedRoutes(descriptors: readonly RouteDescriptor[]): readonly NamedRoute[] {
  const queries = descriptors.filter(({ method }) => method === "QUERY");
  return descriptors
    .flatMap((route) => {
      const { name, method, path, contract } = route;
      const isBeside =
        contract !== undefined && queries.some((each) => each.path === path && each.contract === contract);
      if (name === undefined || (method === "POST" && isBeside)) return [];
      const dot = name.lastIndexOf(".");
      return [{ ...route, name, table: name.slice(0, Math.max(dot, 0)), key: name.slice(dot + 1) }];
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function toSection(routes: readonly NamedRoute[], toLines: (route: NamedRoute) => readonly string[]) {
  return [...new Set(routes.map(({ table }) => table))].map((table) => ({
    table,
    members: routes.filter((route) => route.table === table).flatMap(toLines),
  }));
}

const PARTS = ["query", "headers", "body"] as const;

function toContractType({ contract, ...route }: NamedRoute, components: ComponentSchemas): string {
  const { params, responses, ...parts }: Partial<Contract> = contract ?? {};
  const indent = "    ";
  const place = (part: string): SchemaPlace => ({ id: `${route.name}.${part}`, part, route: formatRoute(route) });
  const toType = (declared: ContentDeclaration, part: string, at: string) =>
    toDeclaredType(declared, (schema) => toTypeText(components.read(schema, place(part)), at));
  const toRecord = (record: Readonly<Record<string, ContentDeclaration>>, part: string): string =>
    toMembers(
      Object.entries(record).map(
        ([name, each]) => `readonly ${toMemberName(name)}: ${toType(each, `${part}.${name}`, `${indent}    `)};`,
      ),
      `${indent}  `,
    );
  const members = PARTS.flatMap((part) => {
    const declared = parts[part];
    if (declared === undefined) return [];
    const isOne = isSchema(declared) || declared instanceof Content;
    return [`readonly ${part}: ${isOne ? toType(declared, part, `${indent}  `) : toRecord(declared, part)};`];
  });
  if (params !== undefined) members.push(`readonly params: ${toRecord(params, "params")};`);
  if (responses !== undefined) members.push(`readonly responses: ${toRecord(responses, "responses")};`);
  return members.length === 0 ? "object" : toMembers(members, indent);
}

/** A response is sent as its input, so one side stands for both. */
function toDeclaredType(declared: ContentDeclaration, toType: (schema: Schema) => string): string {
  if (!(declared instanceof Content)) return `JsonOf<${toType(declared)}>`;
  const { kind, schema, files = {} } = declared;
  const value = schema === undefined ? "unknown" : toType(schema);
  const types: Readonly<Record<typeof kind, string>> = {
    text: "string",
    bytes: "Bytes, Uint8Array",
    file: "Bytes | undefined, Blob",
    none: "undefined",
    page: "unknown, undefined",
    redirect: "unknown, undefined",
    form: value,
    multipart: `${value}${toFilesType(files)}`,
    events: `unknown, AsyncIterable<ReceivedEvent<${value}>>`,
    "json-lines": `AsyncIterable<${value}>`,
  };
  return `Content<"${kind}", ${types[kind]}>`;
}

function toFilesType(files: FileRules): string {
  const members = Object.entries(files).map(([name, { optional, several }]) => {
    const type = several === true ? "readonly Blob[]" : "Blob";
    return `readonly ${toMemberName(name)}${optional === true ? `?: ${type} | undefined` : `: ${type}`};`;
  });
  return members.length === 0 ? "" : ` & { ${members.join(" ")} }`;
}

/** A quoted `__proto__` would set the prototype of the object. */
function toKey(name: string): string {
  return name === "__proto__" ? '["__proto__"]' : toMemberName(name);
}

function toComment(text: string): string {
  return text.replaceAll("*/", "*\\/").replaceAll(/\s+/g, " ");
}
