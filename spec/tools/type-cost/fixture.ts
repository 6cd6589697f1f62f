/**
 * Programs of endpoints with contracts, as an application writes them: tables of ten below a prefix with a capture, each endpoint with a
 * guard, a schema for a capture, a body and two responses. Each program adds one piece to the one before it, so that the difference is the
 * cost of the piece.
 */

/** In the order in which they are added. */
export const PIECES = ["schemas", "import", "endpoint", "handler", "url", "client"] as const;

export type Piece = (typeof PIECES)[number];

const PER_TABLE = 10;

const HEADS: Readonly<Record<Piece, string>> = {
  schemas: 'import { z } from "zod";',
  import: `
import { type Context, type ContextOf, guard, Post, Reply, routes } from "@stagecraft/framework";
export const signedIn = guard<{ user: { id: string } }>("signed-in");
export const created = (ctx: Context<"id">) => Reply.created(ctx.path, ctx.params.id);`,
  endpoint: "",
  handler: "",
  url: "",
  client: 'import { client } from "@stagecraft/framework/routes";',
};

/** @param last the last piece of the program */
export function createFixture(last: Piece, endpoints: number): string {
  const pieces = PIECES.slice(0, PIECES.indexOf(last) + 1);
  const tables = Array.from({ length: endpoints / PER_TABLE }, (_, table) => table);
  const parts = tables.flatMap((table) => pieces.map((piece) => createPart(piece, table)));
  return [...pieces.map((piece) => HEADS[piece]), ...parts, ""].join("\n");
}

function createPart(piece: Piece, table: number): string {
  if (piece === "schemas") return createSchemas(table);
  const line = LINES[piece];
  if (line === undefined) return "";
  const lines = Array.from({ length: PER_TABLE }, (_, entry) => line(table, entry)).join("\n");
  if (piece === "endpoint")
    return `export const t${table} = routes("t${table}", "/teams/{team}/t${table}", {\n${lines}\n});`;
  if (piece === "client")
    return `export async function call${table}() {\nconst api = client(t${table}, { origin: "" });\n${lines}\n}`;
  return piece === "handler" ? `export class C${table} {\n${lines}\n}` : lines;
}

const LINES: Readonly<Partial<Record<Piece, (table: number, entry: number) => string>>> = {
  endpoint: (table, entry) =>
    `e${entry}: Post("/{id}/e${entry}", { guards: [signedIn], params: { id: z.uuid() }, body: New${table}, ` +
    `responses: { 201: Link${table}, 409: Taken${table} } }),`,
  handler: (table, entry) =>
    `@t${table}.e${entry} async m${entry}({ input, params, user }: ContextOf<typeof t${table}.e${entry}>) {` +
    ` const { url, tags } = await Promise.resolve(input.body);` +
    ` return Reply.created("/", { id: params.id + params.team + user.id, url, tags }); }`,
  client: (table, entry) =>
    `(await api.e${entry}({ params: { team: "red", id: "7" }, body: { url: "n${table}" } })).tags.length;`,
  url: (table, entry) => `export const url${table}_${entry} = t${table}.e${entry}.url("red", "7");`,
};

/** The types of schemas are computed where they are read: the program reads each, so that no later piece pays for it. */
function createSchemas(table: number): string {
  return `
const Link${table} = z.object({ id: z.uuid(), url: z.string(), tags: z.array(z.string()), n${table}: z.number().optional() });
const New${table} = z.object({ url: z.url(), tags: z.array(z.string()).default([]) });
const Taken${table} = z.object({ code: z.string(), n${table}: z.number() });
export const read${table} = {
  link: Link${table}["~standard"].types?.input.id,
  new: [New${table}["~standard"].types?.input.url, New${table}["~standard"].types?.output.url],
  taken: Taken${table}["~standard"].types?.input.code,
};`;
}
