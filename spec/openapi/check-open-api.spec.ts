/** The differences between two OpenAPI documents, breaking or not. */

import { type AnyEndpoint, content, Get, guard, Post, Put, Route, Routes, type Schema } from "@stagecraft/framework";
import { checkOpenApi, createOpenApi } from "@stagecraft/framework/openapi";
import { expect } from "chai";
import { z } from "zod";
import { errorOf } from "../support/error-of.js";

const signedIn = guard("signed-in", { scheme: "bearer" });

const toDocument = (...endpoints: readonly AnyEndpoint[]) =>
  createOpenApi(new Routes(endpoints.map((endpoint) => Route.of(endpoint as ReturnType<typeof Get>, () => undefined))));

/** The changes between two tables, as `kind` or `kind!` for a breaking one. */
function changesOf(before: readonly AnyEndpoint[], after: readonly AnyEndpoint[]): readonly string[] {
  return checkOpenApi(toDocument(...before), toDocument(...after)).map(
    ({ kind, isBreaking }) => `${kind}${isBreaking ? "!" : ""}`,
  );
}

const show = (options: object = {}) => Get("/notes/{id}", { name: "notes.show", ...options });
const sent = (body: Schema) => [Post("/notes", { name: "notes.store", body, responses: { 204: content.none() } })];
const received = (schema: Schema) => [show({ responses: { 200: schema } })];

const OPERATIONS: readonly (readonly [
  title: string,
  before: readonly AnyEndpoint[],
  after: readonly AnyEndpoint[],
  changes: readonly string[],
])[] = [
  ["equal documents", [show()], [show()], []],
  ["another name of a capture", [show()], [Get("/notes/{note}", { name: "notes.show" })], []],
  ["a missing operation", [show()], [], ["operation-removed!"]],
  ["a new operation", [show()], [show(), Put("/notes/{id}", "notes.update")], ["operation-added"]],
  ["another name", [show()], [Get("/notes/{id}", "notes.read")], ["operation-renamed!"]],
  ["a guard", [show()], [show({ guards: [signedIn] })], ["security-changed!", "response-added", "response-added"]],
  [
    "a missing guard",
    [show({ guards: [signedIn] })],
    [show()],
    ["security-changed", "response-removed", "response-removed"],
  ],
  [
    "an optional parameter",
    [show({ query: z.object({}) })],
    [show({ query: z.object({ page: z.int().optional() }) })],
    ["parameter-added"],
  ],
  [
    "a required parameter",
    [show({ query: z.object({}) })],
    [show({ query: z.object({ page: z.int() }) })],
    ["parameter-added!"],
  ],
  [
    "a missing parameter",
    [show({ query: z.object({ page: z.int() }) })],
    [show({ query: z.object({}) })],
    ["parameter-removed!"],
  ],
  [
    "a parameter that became required",
    [show({ query: z.object({ a: z.int().optional() }) })],
    [show({ query: z.object({ a: z.int() }) })],
    ["parameter-required!"],
  ],
  [
    "another status",
    [show({ responses: { 200: z.string() } })],
    [show({ responses: { 201: z.string() } })],
    ["response-removed!", "response-added!"],
  ],
  [
    "another media type",
    [show({ responses: { 200: content.text() } })],
    [show({ responses: { 200: content.text("text/csv") } })],
    ["response-removed!", "response-added"],
  ],
];

/** The same two schemas, sent by a client and received by it. */
const SCHEMAS: readonly (readonly [
  title: string,
  before: Schema,
  after: Schema,
  sent: readonly string[],
  received: readonly string[],
])[] = [
  [
    "a new optional member",
    z.object({ a: z.string() }),
    z.object({ a: z.string(), b: z.string().optional() }),
    ["member-added"],
    ["member-added"],
  ],
  [
    "a new required member",
    z.object({ a: z.string() }),
    z.object({ a: z.string(), b: z.string() }),
    ["member-added!"],
    ["member-added"],
  ],
  [
    "a missing member",
    z.object({ a: z.string(), b: z.string() }),
    z.object({ a: z.string() }),
    ["member-removed"],
    ["member-removed!"],
  ],
  [
    "a member that became required",
    z.object({ a: z.string().optional() }),
    z.object({ a: z.string() }),
    // A request without a body was taken before.
    ["request-body-changed!", "member-required!"],
    ["member-required"],
  ],
  [
    "a member that became optional",
    z.object({ a: z.string() }),
    z.object({ a: z.string().optional() }),
    ["member-optional"],
    ["member-optional!"],
  ],
  [
    "a null more",
    z.object({ a: z.string() }),
    z.object({ a: z.string().nullable() }),
    ["type-changed"],
    ["type-changed!"],
  ],
  [
    "a null less",
    z.object({ a: z.string().nullable() }),
    z.object({ a: z.string() }),
    ["type-changed!"],
    ["type-changed"],
  ],
  [
    "another type of an item",
    z.array(z.object({ a: z.string() })),
    z.array(z.object({ a: z.boolean() })),
    ["type-changed!"],
    ["type-changed!"],
  ],
  [
    "a number for an integer",
    z.object({ a: z.int32() }),
    z.object({ a: z.number().min(-2147483648).max(2147483647) }),
    ["type-changed"],
    ["type-changed!"],
  ],
  [
    "a value more",
    z.object({ a: z.enum(["x"]) }),
    z.object({ a: z.enum(["x", "y"]) }),
    ["values-changed"],
    ["values-changed!"],
  ],
  [
    "a value less",
    z.object({ a: z.enum(["x", "y"]) }),
    z.object({ a: z.enum(["x"]) }),
    ["values-changed!"],
    ["values-changed"],
  ],
  [
    "a tighter limit",
    z.object({ a: z.string().max(9) }),
    z.object({ a: z.string().max(8) }),
    ["limit-changed!"],
    ["limit-changed"],
  ],
  [
    "a looser limit",
    z.object({ a: z.string().min(2) }),
    z.object({ a: z.string().min(1) }),
    ["limit-changed"],
    ["limit-changed"],
  ],
  [
    "another pattern",
    z.object({ a: z.string().regex(/a/) }),
    z.object({ a: z.string().regex(/b/) }),
    ["limit-changed!"],
    ["limit-changed"],
  ],
  [
    "an alternative more",
    z.union([z.string(), z.int()]),
    z.union([z.string(), z.int(), z.boolean()]),
    ["alternatives-changed"],
    ["alternatives-changed!"],
  ],
];

describe("the check of two OpenAPI documents", () => {
  for (const [title, before, after, changes] of OPERATIONS)
    it(`tells of ${title}`, () => {
      expect(changesOf(before, after)).to.deep.equal(changes);
    });

  for (const [title, before, after, changes, changesOfResponse] of SCHEMAS) {
    it(`tells of ${title} in a request`, () => {
      expect(changesOf(sent(before), sent(after))).to.deep.equal(changes);
    });

    it(`tells of ${title} in a response`, () => {
      expect(changesOf(received(before), received(after))).to.deep.equal(changesOfResponse);
    });
  }

  it("names the place of a change, through references and members", () => {
    const [before, after] = [z.string(), z.int()].map((name) =>
      z.object({ author: z.object({ name }).meta({ id: "Author" }) }),
    );
    const [earlier, later] = [before, after].map((schema) =>
      createOpenApi(
        new Routes([
          Route.of(Get("/notes", { name: "notes", responses: { 200: schema ?? z.null() } }), () => undefined as never),
        ]),
      ),
    );

    expect(checkOpenApi(earlier ?? {}, JSON.parse(JSON.stringify(later)) as object)).to.deep.include({
      kind: "type-changed",
      isBreaking: true,
      where: "GET /notes, 200.author.name",
      what: "string became integer",
    });
  });

  it("names a capture by its name, whatever its name was before", () => {
    const [before, after] = ["id", "note"].map((name) =>
      toDocument(Get(`/notes/{${name}}`, { params: { [name]: name === "id" ? z.int() : z.boolean() } })),
    );

    expect(checkOpenApi(before ?? {}, after ?? {})).to.deep.include({
      kind: "type-changed",
      isBreaking: true,
      where: "GET /notes/{id}, path id",
      what: "integer became boolean",
    });
  });

  it("lets an operation be missing from its sunset on", () => {
    const before = toDocument(show({ sunset: "2027-06-30" }));
    const after = toDocument(Put("/notes/{id}", "notes.update"));
    const isBreaking = (at?: string) =>
      checkOpenApi(before, after, at === undefined ? {} : { at: new Date(at) })[0]?.isBreaking;

    expect(isBreaking("2027-06-29T23:59:59Z")).to.equal(true);
    expect(isBreaking("2027-06-30T00:00:00Z")).to.equal(false);
    expect(isBreaking()).to.equal(true);
  });

  it("refuses values that are no documents, and unknown options", () => {
    const document = toDocument(show());
    for (const given of [{}, null, [], { openapi: "3.1.1" }, { paths: {} }] as object[]) {
      expect(errorOf(() => checkOpenApi(given, document))).to.include({ code: "E_OPENAPI_DOCUMENT" });
      expect(errorOf(() => checkOpenApi(document, given))).to.include({ code: "E_OPENAPI_DOCUMENT" });
    }
    expect(errorOf(() => checkOpenApi(document, document, { now: 1 } as object))).to.include({ code: "E_OPTION" });
  });

  it("ends for schemas that contain themselves", () => {
    const trees = [z.string(), z.int()].map((name) => {
      const Tree = z.object({
        name,
        get children() {
          return z.array(Tree);
        },
      });
      return Tree;
    });

    expect(changesOf(received(trees[0] ?? z.null()), received(trees[1] ?? z.null()))).to.include("type-changed!");
  });
});
