/** The file of `typegen`, with which a front end that has neither the sources nor the schemas of the server calls it. */
import { expect } from "chai";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ApplicationBuilder } from "../../../lib/app/builder.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { ApplicationFolder } from "../../support/application-folder.js";
import { Consumer } from "../../support/consumer.js";

const APPLICATION = `
  import { Application, content, Delete, Get, Post, provide, Reply, routes, Route, Routes } from "@stagecraft/framework";
  import { Uploads } from "@stagecraft/framework/uploads";
  import { z } from "zod";
  const Note = z.object({ id: z.int(), text: z.string(), get answers() { return z.array(Note).optional(); } }).meta({ id: "Note" });
  const notes = routes("notes", "/notes", {
    index: Get("/", { query: z.object({ page: z.int().optional(), tag: z.enum(["a", 'b"c']).optional() }), responses: { 200: z.array(Note) } }),
    store: Post("/", {
      body: z.object({ text: z.string().min(1), "a-b'\\n*/": z.literal(1).nullish(), __proto__: z.never().optional() }),
      responses: { 201: Note, 409: z.object({ taken: z.string() }) },
    }),
    show: Get("/{id}", { params: { id: z.int() }, responses: { 200: Note } }),
    remove: Delete("/{id}", { params: { id: z.int() }, responses: { 204: content.none() } }),
    live: Get("/live", { responses: { 200: content.jsonLines(Note) } }),
    photo: Post("/photo", {
      body: content.multipart(z.object({ title: z.string() }), { photo: {}, more: { several: true, optional: true } }),
      responses: { 200: content.text() },
    }),
    any: Post("/any", {
      body: z.object({
        pair: z.tuple([z.string(), z.number()]),
        byName: z.record(z.string(), z.union([z.int(), z.boolean()])),
        kind: z.discriminatedUnion("is", [z.object({ is: z.literal("x"), x: z.number() }), z.object({ is: z.literal("y") })]),
        lists: z.array(z.union([z.string(), z.null()])),
      }),
      responses: { 200: z.unknown() },
    }),
  });
  const strange = routes("__proto__", "/strange", { constructor: Get("/{name}", { responses: { 200: z.string() } }) });
  const note = (id, text) => ({ id, text, answers: [] });
  export default () => Application.create()
    .routes(new Routes([
      Route.of(notes.index, ({ input }) => [note(input.query.page ?? 1, input.query.tag ?? "none")]),
      Route.of(notes.store, ({ input }) => Reply.created("/notes/2", note(2, input.body.text))),
      Route.of(notes.show, ({ params }) => note(params.id, "tea")),
      Route.of(notes.remove, () => {}),
      Route.of(notes.live, async function* () { yield note(1, "live"); }),
      Route.of(notes.photo, ({ input }) => input.body.title),
      Route.of(notes.any, ({ input }) => input.body),
      Route.of(strange.constructor, ({ params }) => params.name),
      Route.get("/plain/{name}", () => ({})).name("plain"),
    ]))
    .provide(provide(Uploads).useFactory(() => new Uploads()));
`;

const RIGHT = `
  import { connect } from "./api.js";
  export async function call(origin: string) {
    const notes = connect("notes", { origin });
    const [first] = await notes.index({ query: { page: 3, tag: 'b"c' } });
    const stored = await notes.store.result({ body: { text: "milk", "a-b'\\n*/": 1 } });
    const none: undefined = await notes.remove({ params: { id: 1 } });
    const live: string[] = [];
    for await (const each of await notes.live()) live.push(each.text);
    const photo: string = await notes.photo({ body: { title: "a title", photo: new Blob(["x"]) } });
    const any: unknown = await notes.any({ body: { pair: ["a", 1], byName: { a: true, b: 2 }, kind: { is: "x", x: 1 }, lists: [null, "a"] } });
    const strange: string = await connect("__proto__", { origin }).constructor({ params: { name: "name" } });
    const shown = await notes.show({ params: { id: 7 } });
    const answer: string | undefined = shown.answers?.[0]?.answers?.[0]?.text;
    return { first: first?.text, page: first?.id, status: stored.status, taken: stored.status === 409 ? stored.body.taken : "", none, live, photo, any, strange, shown: shown.id, answer };
  }
`;

const WRONG = `
  import { connect, type Tables } from "./api.js";
  const notes = connect("notes", { origin: "" });
  // @ts-expect-error no such table
  connect("others", { origin: "" });
  // @ts-expect-error no such endpoint
  notes.update();
  // @ts-expect-error a text is no number
  notes.index({ query: { page: "3" } });
  // @ts-expect-error not in the list
  notes.index({ query: { tag: "c" } });
  // @ts-expect-error the body lacks the text
  notes.store({ body: {} });
  // @ts-expect-error the body is missing
  notes.store({});
  // @ts-expect-error the capture is missing
  notes.show();
  // @ts-expect-error the capture is a number
  notes.show({ params: { id: "7" } });
  // @ts-expect-error the file is missing
  notes.photo({ body: { title: "a title" } });
  // @ts-expect-error a pair has two items
  const pair: Parameters<typeof notes.any>[0]["body"]["pair"] = ["a"];
  // @ts-expect-error a note has no title
  notes.show({ params: { id: 7 } }).then(({ title }) => title);
  // @ts-expect-error a boolean is no text
  const text: Tables["notes"]["show"]["~success"]["text"] = true;
  void [pair, text];
`;

const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
  target: "ES2022",
  module: "NodeNext",
  lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
  types: [],
  skipLibCheck: true,
  rootDir: "src",
  outDir: "out",
};

function createFolder(app = APPLICATION): ApplicationFolder {
  const folder = new ApplicationFolder({ "app.js": app });
  folder.install("zod");
  return folder;
}

describe("typegen", function () {
  this.timeout(120_000);

  it("writes a file with which right calls compile and reach the server, and wrong ones do not compile", async () => {
    using folder = createFolder();
    using consumer = Consumer.create();
    const { code, stderr } = await folder.call("typegen", "--out", "api.ts");
    consumer.write("src/api.ts", readFileSync(join(folder.path, "api.ts"), "utf8"));
    consumer.write("src/right.ts", RIGHT);
    consumer.write("src/wrong.ts", WRONG);

    const messages = await consumer.compile(["src"], OPTIONS);
    for (const name of ["api.js", "right.js"])
      folder.write(name, readFileSync(join(consumer.folder, "out", name), "utf8"));
    const load = (file: string): Promise<Readonly<Record<string, unknown>>> =>
      import(pathToFileURL(join(folder.path, file)).href);
    const [{ default: builder }, { call }] = [await load("app.js"), await load("right.js")];
    // The program above.
    await using app = await testApp((builder as () => ApplicationBuilder)());
    const result = await (call as (origin: string) => Promise<unknown>)(app.url);

    expect({ code, stderr, messages }).to.deep.equal({ code: 0, stderr: "", messages: "" });
    expect(result).to.deep.equal({
      first: 'b"c',
      page: 3,
      status: 201,
      taken: "",
      none: undefined,
      live: ["live"],
      photo: "a title",
      any: { pair: ["a", 1], byName: { a: true, b: 2 }, kind: { is: "x", x: 1 }, lists: [null, "a"] },
      strange: "name",
      shown: 7,
      answer: undefined,
    });
  });

  it("writes the same text each time, and names with --check what has changed since", async () => {
    using folder = createFolder();
    using changed = createFolder(
      APPLICATION.replace("page: z.int()", "page: z.string()")
        .replace("text: z.string(),", "text: z.string().nullable(),")
        .replace('live: Get("/live", {', 'live: Get("/live", { guards: [], ')
        .replace('.name("plain")', '.name("fancy")')
        .replace('store: Post("/", {', 'store: Post("/", { '),
    );
    await folder.call("typegen", "--out", "api.ts");
    const text = readFileSync(join(folder.path, "api.ts"), "utf8");
    changed.write("api.ts", text.replaceAll("\n", "\r\n"));

    const printed = await folder.call("typegen");
    const same = await folder.call("typegen", "--check", "--out", "api.ts");
    const other = await changed.call("typegen", "--check", "--out", "api.ts");

    expect(printed.stdout).to.equal(text);
    expect(same).to.deep.equal({ code: 0, stdout: "", stderr: "" });
    expect(other.code).to.equal(1);
    expect(other.stdout).to.equal("added  fancy\nchanged  notes.index\nremoved  plain\nchanged  schema Note\n");
    expect(other.stderr).to.include("fix: stagecraft typegen --out api.ts");
  });

  it("says what is missing", async () => {
    using folder = createFolder();
    using without = new ApplicationFolder({
      "app.js": 'import { Application } from "@stagecraft/framework"; export default Application.create();',
    });
    using date = createFolder(APPLICATION.replace("text: z.string(),", "text: z.date(),"));

    const noFile = await folder.call("typegen", "--check");
    const noFolder = await folder.call("typegen", "--out", "none/api.ts");
    const absent = await folder.call("typegen", "--check", "--out", "api.ts");
    const nameless = await without.call("typegen");
    const noSchema = await date.call("typegen", "--out", "api.ts");

    expect([noFile.code, noFolder.code, absent.code, nameless.code, noSchema.code]).to.deep.equal([2, 1, 1, 1, 1]);
    expect(noFolder.stderr).to.include("in a folder that exists");
    expect(nameless.stderr).to.include("no endpoint of the application has a name");
    expect(noSchema.stderr).to.include("the types cannot be written").and.include("E_OPENAPI_SCHEMA");
  });
});
