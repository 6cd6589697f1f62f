/**
 * A contract is shared between packages as declaration files: a back end and a front end see its tables, and have a schema library of
 * another version. Types of endpoints see schemas through the interface that all libraries have, so that the two versions never meet.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type CompilerOptions, Consumer } from "../support/consumer.js";
import { ROOT } from "../support/sources.js";

const SETTINGS: CompilerOptions = {
  strict: true,
  target: "ES2022",
  module: "NodeNext",
  types: ["node"],
  skipLibCheck: true,
  experimentalDecorators: true,
};

const SHARED: CompilerOptions = {
  ...SETTINGS,
  declaration: true,
  composite: true,
  isolatedModules: true,
  emitDeclarationOnly: true,
  rootDir: "contract/src",
  outDir: "contract/out",
};

const ENTRIES = 100;

/** One table: the compiler refuses to write the declaration of a type that is too long. */
const CONTRACT = `
import { content, Get, guard, Post, routes } from "@stagecraft/framework";
import { z } from "zod";

export const signedIn = guard<{ user: { id: string } }>("signed-in");
export const Link = z.object({ id: z.uuid(), url: z.string(), tags: z.array(z.string()), at: z.date().nullable() });
export const NewLink = z.object({ url: z.url(), tags: z.array(z.string()).default([]) });
export const Taken = z.object({ code: z.string() });

export const links = routes("links", "/teams/{team}/links", {
  index: Get("/", { query: z.object({ page: z.coerce.number().default(1) }), responses: { 200: z.array(Link) } }),
  form: Post("/form", { body: content.form(NewLink), responses: { 303: content.redirect() } }),
${Array.from({ length: ENTRIES }, (_, at) => {
  const responses = `{ 201: Link, 409: Taken.extend({ n${at}: z.number() }) }`;
  return `  e${at}: Post("/{id}/e${at}", { guards: [signedIn], params: { id: z.coerce.number() }, body: NewLink.extend({ n${at}: z.int() }), responses: ${responses} }),`;
}).join("\n")}
});
`;

const BACK_END = `
import { Controller, Guards, Injectable, Post, Reply, Route, type ContextOf } from "@stagecraft/framework";
import { z } from "zod";
import { Link, links, NewLink, signedIn } from "../contract/out/links.js";

@Injectable()
export class Accounts {
  @Guards(signedIn) check() { return { user: { id: "1" } }; }
}

@Controller(links)
export class Links {
  @links.index index({ input, params }: ContextOf<typeof links.index>) {
    const page: number = input.query.page;
    return [{ id: params.team, url: String(page), tags: [], at: null }];
  }
  @links.e0 e0({ input, params, user }: ContextOf<typeof links.e0>) {
    const count: number = params.id + input.body.n0;
    return count > 1 ? Reply.json({ code: "", n0: count }, 409) : { id: user.id, url: input.body.url, tags: input.body.tags, at: null };
  }
  // @ts-expect-error a status that is not declared
  @links.e1 e1() { return Reply.json({ code: "" }, 410); }
}

// Schemas of both versions in one endpoint.
const both = Post("/{id}", { params: { id: z.coerce.number() }, body: NewLink, responses: { 201: Link, 409: z.object({ own: z.string() }) } });
export const route = Route.of(both, ({ params, input }) => Reply.json({ own: input.body.url + params.id.toFixed() }, 409));
export const url: string = links.e0.url("red", 7);
`;

/** The compiler takes two packages of one name and one version for the same. */
function installOtherVersion(consumer: Consumer): void {
  const folder = join(consumer.folder, "backend/node_modules/zod");
  cpSync(join(ROOT, "node_modules/zod"), folder, {
    recursive: true,
    filter: (file) => !/\.(?:c?js|map|cts)$|[\\/]src(?:[\\/]|$)/.test(file),
  });
  const file = join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as { readonly version: string };
  const version = manifest.version.replace(/\d+$/, (patch) => String(Number(patch) + 1));
  writeFileSync(file, JSON.stringify({ ...manifest, version }));
}

describe("a contract in another package", function () {
  this.timeout(240_000);
  let consumer: Consumer;

  before(() => {
    consumer = Consumer.create();
    consumer.installFromRepository("@types/node", "zod");
    consumer.write("contract/src/links.ts", CONTRACT);
  });

  after(() => consumer[Symbol.dispose]());

  it("is written as declaration files, and used with another version of its schema library", async () => {
    expect(await consumer.compile(["contract/src"], SHARED)).to.equal("");
    installOtherVersion(consumer);
    consumer.write("backend/links.ts", BACK_END);

    expect(await consumer.compile(["backend/links.ts"], { ...SETTINGS, noEmit: true })).to.equal("");
  });
});
