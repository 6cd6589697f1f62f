/** Problems of thrown errors where the endpoint declares another content for their status: a debug build names them once. */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  ConflictError,
  content,
  type Context,
  ErrorMapping,
  Get,
  Reply,
  Route,
  Routes,
  type Schema,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";

const Taken = z.object({ taken: z.string() });
const ProblemOfTaken = z.object({ title: z.string(), status: z.literal(409), detail: z.string() });

const fail = (): never => {
  throw new ConflictError("taken");
};

/** A schema that takes no value, and says so later. */
const slow: Schema = {
  "~standard": { version: 1, vendor: "spec", validate: async () => Promise.resolve({ issues: [{ message: "no" }] }) },
};

const failing: Schema = {
  "~standard": {
    version: 1,
    vendor: "spec",
    validate: () => {
      throw new TypeError("a fault of the schema");
    },
  },
};

async function warningsOf(application: Parameters<typeof testApp>[0]): Promise<readonly string[]> {
  await using app = await testApp(application);
  expect([(await app.get("/x")).status, (await app.get("/x")).status]).to.deep.equal([409, 409]);
  return app.logs.lines().filter((line) => line.includes("whose problem document is not what its endpoint declares"));
}

function createApplication(declared: Schema | ReturnType<typeof content.text>, handler: (ctx: Context) => never) {
  const shown = Get("/x", { responses: { 200: z.object({}), 409: declared } });
  return Application.create().routes(new Routes([Route.of(shown, handler)]));
}

describe("the problem of a thrown error", () => {
  for (const [what, declared, handler] of [
    ["a schema without its members is declared", Taken, fail],
    ["an asynchronous schema refuses it", slow, fail],
    ["text is declared", content.text(), fail],
    ["ctx.throw throws it", Taken, (ctx: Context): never => ctx.throw(409, "taken")],
  ] as const)
    it(`is named once where ${what}`, async () => {
      const warnings = await warningsOf(createApplication(declared, handler));

      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.contain('"WARN"').and.contain("GET /x").and.contain("409");
    });

  for (const [what, declared] of [
    ["its members are declared", ProblemOfTaken],
    ["the schema throws", failing],
  ] as const)
    it(`is not named where ${what}`, async () => {
      expect(await warningsOf(createApplication(declared, fail))).to.deep.equal([]);
    });

  it("is not named where an error mapper responds with another body", async () => {
    const mapping = new ErrorMapping().using(() => Reply.json({ taken: "it" }));

    expect(await warningsOf(createApplication(Taken, fail).errorMapping(mapping))).to.deep.equal([]);
  });
});
