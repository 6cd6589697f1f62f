/** Which members of a response are undeclared: of values with `toJSON`, of members that JSON leaves out, and of alternatives. */
import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";
import { Application, type Context, Get, Reply, Route, Routes, type Schema } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { compileDeclaredMembers } from "../../lib/contracts/declared-members.js";
import { type JsonSchema, NoJsonSchema, readKnownParts } from "../../lib/contracts/json-schema.js";
import { startupErrorOf } from "../support/startup-error-of.js";

/** The row of an ORM, whose JSON has other members than the object. */
class Row {
  private readonly table = "links";

  constructor(private readonly members: object) {}

  toJSON(): object {
    return { ...this.members, from: this.table };
  }
}

const Link = z.object({ id: z.int(), from: z.string() });
const LinkWithNote = Link.extend({ note: z.string().optional() });
const Either = z.union([Link, LinkWithNote]);

/** A handler whose type the compiler does not compare with the contract. */
type Loose = (ctx: Context) => never;

interface Exchange {
  readonly schema: Schema;
  readonly value: unknown;
  /** The path of the undeclared member that a debug build refuses. */
  readonly refused?: string;
  /** What a release build sends that leaves undeclared members out. */
  readonly stripped: unknown;
}

const row = { id: 1, from: "links" };

const exchanges: Readonly<Record<string, Exchange>> = {
  "a value with toJSON": { schema: Link, value: new Row({ id: 1 }), stripped: row },
  "a value with toJSON, in whose JSON is a further member": {
    schema: Link,
    value: new Row({ id: 1, hash: 2 }),
    refused: "hash",
    stripped: row,
  },
  "values with toJSON inside a list inside a value with toJSON": {
    schema: z.object({ list: z.array(z.unknown()), from: z.string() }),
    value: new Row({ list: [new Row({ id: 1 })] }),
    stripped: { list: [row], from: "links" },
  },
  "a further member of a value with toJSON inside a list": {
    schema: z.object({ list: z.array(z.looseObject({ owner: z.object({ name: z.string() }) })) }),
    value: { list: [{ owner: { name: "Ada", toJSON: () => ({ name: "Ada", hash: 2 }) } }] },
    refused: "list.0.owner.hash",
    stripped: { list: [{ owner: { name: "Ada" } }] },
  },
  "a date": { schema: z.object({ at: z.date() }), value: { at: new Date(0) }, stripped: { at: new Date(0) } },
  "members that JSON leaves out": {
    schema: z.object({ id: z.int() }),
    value: { id: 1, hash: undefined, save: () => 1, mark: Symbol("mark") },
    stripped: { id: 1 },
  },
  "a member that a later alternative declares": {
    schema: Either,
    value: { ...row, note: "tea" },
    stripped: { ...row, note: "tea" },
  },
  "a member that no alternative declares": {
    schema: Either,
    value: { ...row, note: "tea", hash: 2 },
    refused: "hash",
    stripped: { ...row, note: "tea" },
  },
  "a member deep inside a later alternative": {
    schema: z.union([z.object({ links: z.array(Link) }), z.object({ links: z.array(LinkWithNote) })]),
    value: { links: [row, { ...row, note: "tea" }] },
    stripped: { links: [row, { ...row, note: "tea" }] },
  },
};

async function receive(schema: Schema, value: unknown): Promise<readonly [number, string]> {
  // The compiler would refuse some of the values.
  const give: Loose = () => value as never;
  const reply: Loose = () => Reply.json(value) as never;
  const responses = { 200: schema };
  const routes = new Routes([
    Route.of(Get("/value", { responses }), give),
    Route.of(Get("/reply", { responses }), reply),
  ]);
  await using app = await testApp(Application.create().routes(routes));
  const { status } = await app.get("/value");
  expect((await app.get("/reply")).status).to.equal(status);
  return [status, app.logs.lines().join("\n")];
}

function readSchema(schema: Schema): JsonSchema {
  const found = readKnownParts(schema, "input");
  if (found instanceof NoJsonSchema) throw new Error(found.reason);
  return found;
}

describe("the members of a response:", () => {
  for (const [what, { schema, value, refused, stripped }] of Object.entries(exchanges)) {
    it(`a debug build ${refused === undefined ? "sends" : "refuses, with its path,"} ${what}`, async () => {
      const [status, log] = await receive(schema, value);

      expect(status).to.equal(refused === undefined ? 200 : 500);
      if (refused !== undefined) expect(log).to.contain(`the undeclared member ${refused}"`);
    });

    it(`the declared members alone are left of ${what}`, () => {
      const sent = compileDeclaredMembers(readSchema(schema))(value, () => undefined);

      expect(JSON.stringify(sent)).to.equal(JSON.stringify(stripped));
    });
  }

  it("alternatives inside alternatives are compared in bounded time", () => {
    const properties = { id: {}, next: { $ref: "#" } };
    const schema: JsonSchema = {
      anyOf: [{ type: "null" }, ...["a", "b", "c"].map((more) => ({ properties: { ...properties, [more]: {} } }))],
    };
    let reads = 0;
    const nest = (depth: number): object | null => {
      const next = depth === 0 ? null : nest(depth - 1);
      return { toJSON: () => (reads++, { id: depth, next, c: 1 }) };
    };
    const undeclared: string[] = [];

    compileDeclaredMembers(schema)(nest(100), (path) => undeclared.push(path));

    expect(undeclared).to.deep.equal([]);
    expect(reads).to.be.greaterThan(100).and.lessThan(50_000);
  });
});

describe("stripResponses", () => {
  const responses = { 200: v.object({ id: v.number() }) };
  const build = (endpoint: boolean | undefined, application: boolean): Application => {
    const strips = endpoint === undefined ? {} : { stripResponses: endpoint };
    const routes = new Routes([Route.of(Get("/x", { responses, ...strips }), () => ({ id: 1 }))]);
    return Application.create().stripResponses(application).routes(routes).build();
  };

  it("of the application or an endpoint refuses a schema without a JSON Schema, and names the cure", () => {
    for (const [endpoint, application] of [
      [true, false],
      [undefined, true],
    ] as const) {
      const error = startupErrorOf(() => build(endpoint, application));
      expect(error.message)
        .to.contain("E_CONTRACT")
        .and.contain("responses.200 of GET /x: stripResponses cannot leave out undeclared members")
        .and.contain("toStandardJsonSchema(schema) of the package @valibot/to-json-schema");
    }
  });

  it("takes such a schema where the endpoint says false", () => {
    expect(() => build(false, true)).not.to.throw();
    expect(() => build(undefined, false)).not.to.throw();
  });
});
