/** Hostile requests to endpoints with contracts, over a real socket. */
import { expect } from "chai";
import { z } from "zod";
import { Application, Post, Route, Routes, type Schema } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";

const CANARY = "correct-horse-battery";

const throws: Schema = {
  "~standard": {
    version: 1,
    vendor: "spec",
    validate: (value) => {
      throw new Error(`cannot read ${JSON.stringify(value)}`);
    },
  },
};

const quotes = z.object({ secret: z.string().refine(() => false, { error: ({ input }) => `not "${String(input)}"` }) });
const waits = z.object({ name: z.string().refine(async (name) => Promise.resolve(name === "ada")) });

const routes = new Routes([
  Route.of(Post("/any", { body: z.unknown() }), ({ input }) => ({ isNested: typeof input.body === "object" })),
  Route.of(Post("/query", { query: z.object({ name: z.string().optional() }) }), ({ input }) => input.query),
  Route.of(Post("/throws", { body: throws }), () => "handled"),
  Route.of(Post("/quotes", { body: quotes }), () => "handled"),
  Route.of(Post("/waits", { body: waits }), () => "handled"),
]);

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

describe("a contract refuses", () => {
  const json = { "content-type": "application/json" };
  const rows: readonly (readonly [what: string, path: string, body: string, status: number])[] = [
    ["nothing of a body that is 64 deep", "/any", nested(64), 200],
    ["a body that is 65 deep", "/any", nested(65), 400],
    ["a body that is 100,000 deep", "/any", nested(100_000), 400],
    ["a member named __proto__", "/any", '{"a":{"__proto__":{"isAdmin":true}}}', 400],
    ["a query with a name of the prototype", "/query?name[__proto__]=x", "{}", 400],
    ["a value that an asynchronous schema refuses", "/waits", '{"name":"eve"}', 422],
    ["nothing that an asynchronous schema takes", "/waits", '{"name":"ada"}', 200],
  ];

  for (const [what, path, body, status] of rows) {
    it(what, async () => {
      await using app = await testApp(Application.create().routes(routes));

      const response = await app.post(path, { body, headers: json });

      expect(response.status).to.equal(status);
    });
  }

  it("with a 422 that does not quote the value", async () => {
    await using app = await testApp(Application.create().routes(routes));

    const response = await app.post("/quotes", { json: { secret: CANARY } });
    const text = await response.text();

    expect(response.status).to.equal(422);
    expect(text).to.include("body.secret").and.not.include(CANARY);
  });

  it("with a 500 that says nothing of the error of a schema", async () => {
    await using app = await testApp(Application.create().routes(routes));

    const response = await app.post("/throws", { json: { secret: CANARY } });

    expect(response.status).to.equal(500);
    expect(await response.text()).not.to.include(CANARY);
  });
});
