/**
 * A contract is shared between packages as declaration files: a back end and a front end see its tables, and have a schema library of
 * another version. Types of endpoints see schemas through the interface that all libraries have, so that the two versions never meet.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type CompilerOptions, Consumer } from "../support/consumer.js";
import { filesBelow, manifest, ROOT } from "../support/sources.js";

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

/** The files of the samples with tables of endpoints. */
const SAMPLES = filesBelow("samples", ".routes.ts").map((file) => file.replaceAll("\\", "/"));

const SAMPLE_SETTINGS: CompilerOptions = {
  ...SHARED,
  lib: ["ES2023", "ESNext.Disposable", "DOM", "DOM.Iterable"],
  rootDir: ".",
  outDir: "out",
};

/** Reads every table of the samples, and handles, calls and links one endpoint of `samples/links`. */
const SAMPLE_BACK_END = `
import { Controller, Post, Route, type ContextOf } from "@stagecraft/framework";
import { client } from "@stagecraft/framework/routes";
import { z } from "zod";
import { links } from "../out/samples/links/links.routes.js";
${SAMPLES.map((file, at) => `import * as tables${at} from "../out/${file.replace(/ts$/, "js")}";`).join("\n")}

export const all = [${SAMPLES.map((_file, at) => `Object.keys(tables${at})`).join(", ")}];
const show = ({ params }: ContextOf<typeof links.show>) => ({ slug: params.slug, target: "", createdAt: "", visits: 1 });
export const route = Route.of(links.show, show);
export const url: string = links.show.url("home");
export const visits: Promise<number> = client(links, { origin: "" }).show({ params: { slug: "home" } }).then((link) => link.visits);
export const own = Post("/", { body: z.object({ own: z.string() }), responses: { 201: z.object({ own: z.string() }) } });
@Controller("/own")
export class Own {
  @own own({ input }: ContextOf<typeof own>) { return input.body; }
  // @ts-expect-error a value that the contract of the sample does not declare
  @links.show wrong() { return { slug: 1 }; }
}
`;

/** The compiler takes two packages of one name and one version for the same. */
function installOtherVersion(consumer: Consumer): void {
  const folder = join(consumer.folder, "backend/node_modules/zod");
  cpSync(join(ROOT, "node_modules/zod"), folder, {
    recursive: true,
    filter: (file) => !/\.(?:c?js|map|cts)$|[\\/]src(?:[\\/]|$)/.test(file),
  });
  const file = join(folder, "package.json");
  const described = JSON.parse(readFileSync(file, "utf8")) as { readonly version: string };
  const version = described.version.replace(/\d+$/, (patch) => String(Number(patch) + 1));
  writeFileSync(file, JSON.stringify({ ...described, version }));
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

  it("of the samples is used in the same way, without its sources", async () => {
    using samples = Consumer.create();
    samples.installFromRepository(...Object.keys(manifest().devDependencies));
    samples.copy("samples");
    // The program of `npm run dev` is a tool of the repository.
    const excluded = ["samples/links/pages", "samples/links/dev.ts"];
    expect(await samples.compile(["samples"], SAMPLE_SETTINGS, excluded)).to.equal("");
    rmSync(join(samples.folder, "samples"), { recursive: true });
    installOtherVersion(samples);
    samples.write("backend/samples.ts", SAMPLE_BACK_END);

    expect(await samples.compile(["backend/samples.ts"], { ...SETTINGS, noEmit: true })).to.equal("");
    expect(SAMPLES).to.include("samples/links/links.routes.ts");
  });
});
