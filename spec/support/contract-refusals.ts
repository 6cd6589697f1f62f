/**
 * Handlers and guards that do not fit a contract, and how the compiler refuses them: the last line of its message is a sentence of the
 * framework, and no line shows a type of the schema library, which nobody can read there.
 */
import { CHECKED, getLastLine, splitMessages } from "./compiler-messages.js";
import { Consumer } from "./consumer.js";

const HEAD = `
import {
  content, Controller, Get, guard, Guards, Post, Problem, Redirect, Reply, resource, Route, RouteGroup, routes, type Context, type ContextOf,
} from "@stagecraft/framework";
import { z } from "zod";

const signedIn = guard<{ user: { id: string } }>("signed-in");
const role = guard<{ role: string }, [name: string]>("role");
const Link = z.object({ id: z.uuid(), url: z.string(), tags: z.array(z.string()) });
const NewLink = z.object({ url: z.url(), tags: z.array(z.string()).default([]) });
const Taken = z.object({ code: z.string() });
const links = routes("links", "/teams/{team}/links", {
  index: Get("/", { query: z.object({ page: z.coerce.number().default(1) }), responses: { 200: z.array(Link) } }),
  store: Post("/", { body: NewLink, responses: { 201: Link, 409: Taken } }),
  show: Get("/{id}", { params: { id: z.coerce.number() }, guards: [signedIn], responses: { 200: Link } }),
  form: Post("/form", { headers: z.object({ dnt: z.string() }), body: content.form(NewLink), responses: { 200: Link } }),
  either: Post("/either", { body: NewLink, responses: { 200: Link, 201: Link } }),
  gone: Post("/{id}/gone", { responses: { 204: content.none() } }),
  moved: Get("/{id}/moved", { responses: { 303: content.redirect() } }),
  plain: Get("/plain"),
});
const two = routes("two", "/two", { plain: Get("/"), store: Post("/", { body: NewLink, responses: { 201: Link } }) });
declare const schema: { readonly "~standard": { readonly version: 1; readonly vendor: string; validate(value: unknown): { readonly value: string } } };
const link: z.output<typeof Link> = { id: "", url: "", tags: [] };
`;

const CONTEXT = 'its schemas and its guards do not give"';
const RETURNS = "a status that the responses of /teams/{team}/links";
const ADDS = '"the method does not return the values that this guard adds to the context"';
const ANY = '"this method returns any: give its result a type"';
const LIST = '"guards takes a list: [signedIn]"';
const ARGUMENTS =
  '"the method asks for arguments that this guard does not take, or for values of guards that it does not name in after"';

/** Members of a class, each with the end of the message. */
const HANDLERS: Readonly<Record<string, string>> = {
  "@links.store a(ctx: ContextOf<typeof links.show>) { return Reply.json({ code: `${ctx.params.id}` }, 409); }":
    CONTEXT,
  "@links.plain a(ctx: ContextOf<typeof links.store>) { return ctx.input.body.url; }": CONTEXT,
  "@links.index a(ctx: ContextOf<typeof links.store>) { return [{ ...link, id: ctx.input.body.url }]; }": CONTEXT,
  "@links.store a(ctx: ContextOf<typeof links.form>) { return { ...link, id: ctx.input.headers.dnt }; }": CONTEXT,
  "@links.show a({ params }: Context<'id'>) { return { ...link, id: params.id.toUpperCase() }; }": CONTEXT,
  "@links.plain a({ params }: Context<'slug'>) { return params.slug; }": CONTEXT,
  "@links.plain a(ctx: Context, more: string) { return ctx.path + more; }": CONTEXT,
  "@links.store a({ user }: Context & { user: { id: string } }) { return { ...link, id: user.id }; }": CONTEXT,
  "@links.show a({ role }: Context & { role: string }) { return { ...link, id: role }; }": CONTEXT,
  "@links.store a() { return Reply.json({ code: '' }, 410); }": RETURNS,
  "@links.store async a() { return Promise.resolve(Reply.json({ wrong: '' }, 409)); }": RETURNS,
  "@links.store a() { return Reply.created('/', { code: '' }); }": RETURNS,
  "@links.store a() { return { id: '' }; }": RETURNS,
  "@links.store async a({ input }: ContextOf<typeof links.store>) { return Promise.resolve(input.body); }": RETURNS,
  "@links.show a() { return 'text'; }": RETURNS,
  "@links.show a() { return new Problem(404); }": RETURNS,
  "@links.index a() { return link; }": RETURNS,
  "@links.gone a() { return Reply.json(link, 204); }": RETURNS,
  "@links.gone a() { return link; }": RETURNS,
  "@links.gone a() { return Reply.empty(205); }": RETURNS,
  "@links.either a() { return link; }": RETURNS,
  "@links.moved a() { return link; }": RETURNS,
  "@links.index a(): Redirect { throw new Error(); }": RETURNS,
  "@Guards(signedIn) a() { return { user: { id: 1 } }; }": ADDS,
  "@Guards(signedIn) a(ctx: Context) { return ctx.path; }": ADDS,
  "@Guards(signedIn) a(ctx: Context) { const row = JSON.parse(ctx.path); return row && { user: row }; }": ANY,
  "@Guards(signedIn) async a(ctx: Context) { return Promise.resolve(JSON.parse(ctx.path)); }": ANY,
  "@Guards(role) a(ctx: Context) { return JSON.parse(ctx.path); }": ANY,
  "@Guards(signedIn) a(ctx: Context, name: string) { return { user: { id: name + ctx.path } }; }": ARGUMENTS,
  "@Guards(role) a(ctx: Context, name: number) { return { role: `${name}${ctx.path}` }; }": ARGUMENTS,
};

/** Statements without a decorated method, each with the end of the message: without a sentence the compiler compares the values itself. */
const STATEMENTS: Readonly<Record<string, string>> = {
  "guard<{ params: string }>('taken');": '"a guard adds a name that Context has already: choose another name"',
  "@Controller(resource('links', '/links', { guards: [signedIn] })) class A { show({ params }: Context<'slug'>) { return params.slug; } }":
    '"handler asks for values that the path and the guards of its action do not give": { show: "/links/{id}"; }',
  "Route.of(links.store, () => Reply.json({ code: '' }, 410));": RETURNS,
  "Route.of(links.store, ({ input }) => input.body.tags.length);": RETURNS,
  "Route.of(links.store, async () => Promise.resolve({ id: '' }));": RETURNS,
  "Route.of(links.plain, (ctx: ContextOf<typeof links.store>) => ctx.input.body.url);": CONTEXT,
  "RouteGroup.of(two, { plain: () => 1, store: () => ({ id: 1 }) });":
    "a status that the responses of /two do not declare",
  "RouteGroup.of(two, { plain: () => 2, store: ({ input }) => input.body.tags.length });":
    "a status that the responses of /two do not declare",
  "RouteGroup.of(two, { plain: () => 3, store: () => link, more: () => 1 });":
    '"the table has no endpoint of this name"',
  "RouteGroup.of(two, { plain: () => 4 });": "readonly store: unknown;",
  "Get('/', { guards: signedIn });": LIST,
  "routes('t', '/t', {}, { guards: signedIn });": LIST,
  "resource('r', '/r', { guards: signedIn });": LIST,
  "Get('/{id}', { params: schema });": '"params takes a schema for each capture: { id: schema }"',
  "Get('/', { responses: schema });": '"responses takes a content for each status: { 200: schema }"',
  "Get('/', { guards: [signedIn, role] });": '"this guard takes arguments: call it with them"',
  "content.multipart(z.object({}), { photo: { types: ['image/*'], maxBytes: 10 } });":
    '"a rule for files has the options types, bytes, optional and several"',
  "(ctx: ContextOf<typeof links.store>) => ctx.input.query;": "'{ readonly body: { url: string; tags: string[]; }; }'",
  "(ctx: ContextOf<typeof links.show>) => ctx.role;": "& { user: { id: string; }; }'",
  "(ctx: ContextOf<typeof links.form>) => ctx.input.body.id;": "'{ url: string; tags: string[]; }'",
};

const REFUSALS = { ...HANDLERS, ...STATEMENTS };

const PROGRAM = [
  HEAD,
  ...Object.keys(HANDLERS).map((member, at) => `export class C${at} { ${member} }`),
  ...Object.keys(STATEMENTS),
].join("\n");

/**
 * Returns what differs from the refusals that are expected, a text for each.
 *
 * @param compiler the program of a version of TypeScript; that of the repository unless given
 */
export async function findOtherRefusals(
  experimentalDecorators: boolean,
  compiler?: string,
): Promise<readonly string[]> {
  using consumer = Consumer.create(compiler);
  consumer.installFromRepository("@types/node", "zod");
  consumer.write("wrong.ts", PROGRAM);
  const output = await consumer.compile(["wrong.ts"], { ...CHECKED, experimentalDecorators });
  return compareMessages(groupByLine(splitMessages(output)));
}

/** The message of each line of the program, from the first wrong line on. */
function groupByLine(messages: readonly string[]): ReadonlyMap<string, string> {
  const lines = PROGRAM.split("\n");
  return new Map(
    messages.map((message) => [lines[Number(/^wrong\.ts\((\d+)/.exec(message)?.[1]) - 1] ?? message, message]),
  );
}

function compareMessages(messages: ReadonlyMap<string, string>): readonly string[] {
  const codes = Object.keys(REFUSALS);
  const others = Object.entries(REFUSALS).flatMap(([code, end]) => {
    const [line, message] = [...messages].find(([each]) => each.includes(code)) ?? [code, "compiles"];
    return getLastLine(message).includes(end) ? [] : [`${line}\n${getLastLine(message)}`];
  });
  const unexpected = [...messages.keys()].filter((line) => !codes.some((code) => line.includes(code)));
  const unreadable = [...messages.values()].filter((message) => /Zod|\$strip/.test(message));
  return [...others, ...unexpected, ...unreadable];
}
