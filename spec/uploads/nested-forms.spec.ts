/** Names with brackets, files that the schema does not take, and forms that come as JSON. */
import { type Context } from "@stagecraft/framework";
import { UploadedFile } from "@stagecraft/framework/uploads";
import { expect } from "chai";
import { z } from "zod";
import { eventsOf } from "../support/events-of.js";
import { fileOf, FORM_TYPE, formBytes, UploadApp } from "../support/multipart.js";
import { until } from "../support/until.js";

const file = z.instanceof(UploadedFile);
const nameOf = ({ name }: UploadedFile): string => name;
const FILE = { name: "a.bin", size: 3, type: "application/octet-stream" };

describe("a form with brackets in its names", () => {
  it("has lists and objects of texts and files, as the Inertia client and browsers send them", async () => {
    await using uploads = await UploadApp.start();

    const answer = await uploads.post(
      formBytes(
        fileOf(3, "files[1]"),
        fileOf(3, "files[0]"),
        fileOf(3, "more[]"),
        { name: "user[name]", content: "Ada" },
        fileOf(3, "user[photo]"),
        { name: "rows[0][note]", content: "x" },
        fileOf(3, "rows[0][scan]"),
      ),
    );

    expect(await answer.json()).to.deep.equal([
      ["files", [FILE, FILE]],
      ["more", [FILE]],
      ["user", { name: "Ada", photo: FILE }],
      ["rows", [{ note: "x", scan: FILE }]],
    ]);
  });

  it("gives an optional list of the schema its files", async () => {
    const schema = z.object({ title: z.string(), files: z.array(file).optional() });
    await using uploads = await UploadApp.start(async (ctx) => (await ctx.uploads(schema)).files?.map(nameOf));
    const form = new FormData();
    form.append("title", "Broken");
    form.append("files[0]", new Blob(["a"]), "a.txt");
    form.append("files[1]", new Blob(["b"]), "b.txt");

    expect(await (await uploads.post(form)).json()).to.deep.equal(["a.txt", "b.txt"]);
  });

  it("names the public class of a file where the schema takes a list", async () => {
    const schema = z.object({ files: z.array(file) });
    await using uploads = await UploadApp.start((ctx) => ctx.uploads(schema));

    const text = await (await uploads.post(formBytes(fileOf(3, "files")))).text();

    expect(text).to.include("expected array, received UploadedFile");
  });

  for (const [what, names, status] of [
    ["a value beside an object", ["a", "a[b]"], 422],
    ["nine brackets", [`a${"[b]".repeat(9)}`], 422],
    ["__proto__", ["__proto__"], 400],
    ["__proto__ inside", ["a[__proto__][x]"], 400],
    ["the prototype of a constructor", ["constructor[prototype][x]"], 400],
  ] as const) {
    it(`is refused with ${status} for ${what}, and stores no file`, async () => {
      await using uploads = await UploadApp.start();

      const answer = await uploads.post(formBytes(...names.map((name) => fileOf(3, name))));

      expect(answer.status).to.equal(status);
      await until(() => uploads.files().length === 0);
    });
  }
});

/** A schema, the names of the files of a form, and the fields of the 422. */
const UNTAKEN: readonly (readonly [
  what: string,
  schema: z.ZodType,
  names: readonly string[],
  fields: readonly string[],
])[] = [
  ["another name", z.object({ files: z.array(file).optional() }), ["file"], ["file"]],
  ["a list", z.object({ photo: file }), ["photo", "more[]", "more[]"], ["more"]],
  ["an object", z.object({ user: z.object({ name: z.string().optional() }) }), ["user[photo]"], ["user.photo"]],
  [
    "a list of objects",
    z.object({ rows: z.array(z.object({})) }),
    ["rows[0][scan]", "rows[1][scan]"],
    ["rows.0.scan", "rows.1.scan"],
  ],
  ["an object that the schema does not know", z.object({}), ["user[photo]"], ["user.photo"]],
];

/** Schemas that take every file of `user[photo]`. */
const TAKEN: readonly (readonly [string, z.ZodType])[] = [
  ["by its type", z.object({ user: z.object({ photo: file }) })],
  ["and make something else of it", z.object({ user: z.object({ photo: file.transform(nameOf) }) })],
  [
    "and put it elsewhere",
    z.object({ user: z.object({ photo: file }) }).transform(({ user }) => ({ stored: nameOf(user.photo) })),
  ],
  ["as anything", z.object({ user: z.any() })],
  ["as the whole form", z.any()],
  ["with all that they do not know", z.looseObject({})],
  ["as a record", z.record(z.string(), z.unknown())],
];

describe("a file that no field of the schema takes", () => {
  for (const [what, schema, names, fields] of UNTAKEN) {
    it(`is a 422 that names it, and is not stored: ${what}`, async () => {
      let isHandled = false;
      await using uploads = await UploadApp.start(async (ctx: Context) => {
        await ctx.uploads(schema);
        isHandled = true;
      });

      const answer = await uploads.post(formBytes(...names.map((name) => fileOf(3, name))));
      const { errors } = (await answer.json()) as { readonly errors: Readonly<Record<string, unknown>> };

      expect([answer.status, isHandled]).to.deep.equal([422, false]);
      expect(Object.keys(errors)).to.deep.equal(fields);
      expect(errors[fields[0] ?? ""]).to.deep.equal([
        { code: "unexpected_file", message: "No field of the form takes this file." },
      ]);
      expect(uploads.files()).to.deep.equal([]);
    });
  }

  for (const [how, schema] of TAKEN) {
    it(`is accepted if the schema reads it ${how}`, async () => {
      await using uploads = await UploadApp.start(async (ctx: Context) => {
        const output = await ctx.uploads(schema);
        return JSON.stringify(output);
      });

      const answer = await uploads.post(formBytes(fileOf(3, "user[photo]")));

      expect(answer.status).to.equal(200);
    });
  }

  it("is not reported for a text field, which is no file", async () => {
    await using uploads = await UploadApp.start((ctx) => ctx.uploads(z.object({ title: z.string() })));

    const answer = await uploads.post(formBytes({ name: "title", content: "a" }, { name: "other", content: "b" }));

    expect(await answer.json()).to.deep.equal({ title: "a" });
  });
});

describe("a form without a file", () => {
  const schema = z.object({ title: z.string(), files: z.array(file).optional() });
  const JSON_FORM = Buffer.from('{"title":"Broken","files":[]}');

  it("may come as JSON, as the Inertia client sends it", async () => {
    await using uploads = await UploadApp.start((ctx) => ctx.uploads(schema));

    for (const type of ["application/json", "application/json; charset=utf-8", "application/vnd.api+json"]) {
      const answer = await uploads.post(JSON_FORM, type);

      expect([answer.status, await answer.json()]).to.deep.equal([200, { title: "Broken", files: [] }]);
    }
  });

  it("is checked and limited as JSON", async () => {
    await using uploads = await UploadApp.start((ctx) => ctx.uploads(schema, { bytes: 100 }));

    expect((await uploads.post(Buffer.from('{"title":1}'), "application/json")).status).to.equal(422);
    expect((await uploads.post(Buffer.from("{"), "application/json")).status).to.equal(400);
    expect((await uploads.post(Buffer.from('{"__proto__":1}'), "application/json")).status).to.equal(400);
    expect((await uploads.post(Buffer.from(`{"title":"${"x".repeat(100)}"}`), "application/json")).status).to.equal(
      413,
    );
  });

  it("is a 415 in any other type, and a DEBUG event names the given type and the expected ones", async () => {
    const expected = "multipart/form-data, or application/json for a form without a file";
    await using uploads = await UploadApp.start();
    const events = await eventsOf(async () => {
      expect((await uploads.post(Buffer.from("a=1"), "application/x-www-form-urlencoded")).status).to.equal(415);
      expect((await uploads.post(formBytes(fileOf(3)), FORM_TYPE, { "Content-Encoding": "gzip" })).status).to.equal(
        415,
      );
    });
    const lines = [...events, ...uploads.app.logs.lines()].join("\n");

    expect(lines)
      .to.include("application/x-www-form-urlencoded")
      .and.include(expected)
      .and.include("no Content-Encoding");
  });
});

describe("the name of an uploaded file", () => {
  for (const [what, sent, name] of [
    ["has its quotes, which browsers escape", "a%22b%22.txt", 'a"b".txt'],
    ["has no line break", "a%0D%0Ab.txt", "ab.txt"],
    ["keeps other percent signs", "100%25 %41.txt", "100%25 %41.txt"],
    ["is composed (NFC)", "Cafe\u0301.txt", "Café.txt"],
    [
      "keeps the joiners of emoji and scripts",
      "\u{1F468}\u200d\u{1F4BB} \u0645\u06CC\u200c\u062E\u0648\u0627\u0647\u0645.txt",
      "\u{1F468}\u200d\u{1F4BB} \u0645\u06CC\u200c\u062E\u0648\u0627\u0647\u0645.txt",
    ],
    ["has no marks that reverse its direction", "a\u202egnp.exe", "agnp.exe"],
  ] as const) {
    it(`${what}: ${JSON.stringify(name)}`, async () => {
      await using uploads = await UploadApp.start(async (ctx) => Object.values(await ctx.uploads()));

      const answer = await uploads.post(formBytes({ name: "a%22b", filename: sent, content: "x" }));

      expect(await answer.json()).to.deep.equal([{ name, size: 1, type: "text/plain" }]);
    });
  }

  it("has its quotes also in the name of its field", async () => {
    await using uploads = await UploadApp.start();

    const answer = await uploads.post(formBytes({ name: "a%22b", content: "x" }));

    expect(await answer.json()).to.deep.equal([['a"b', "x"]]);
  });
});
