/** Statuses that the contract of an endpoint does not declare: a debug build refuses them, a release build sends them. */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  ConflictError,
  type Context,
  Get,
  NotFoundError,
  redirect,
  Reply,
  Route,
  Routes,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { runProgram } from "../support/program.js";

const shown = Get("/x", { responses: { 200: z.object({ id: z.number() }) } });

/** A handler without types, which may return anything. */
type Loose = (ctx: Context) => never;

const failWithConflict: Loose = () => {
  throw new ConflictError("taken");
};

const rejectWithConflict = (): Promise<never> => Promise.reject(new ConflictError("taken"));

const failWithNotFound: Loose = () => {
  throw new NotFoundError("none");
};

const rows: readonly (readonly [what: string, handler: (ctx: Context) => unknown, names: string])[] = [
  ["a reply", () => Reply.json({ id: 1 }, 202), "the status 202"],
  ["a reply without a body", () => Reply.noContent(), "the status 204"],
  ["a status of the context", (ctx) => ((ctx.status = 203), { id: 1 }), "the status 203"],
  ["a problem that is returned", () => Reply.json({ title: "taken" }, 409), "the status 409"],
  ["a redirect", () => redirect().to("/y"), "a redirect with the status 302"],
];

describe("an undeclared status", () => {
  for (const [what, handler, names] of rows)
    it(`of ${what} is a 500 of a debug build, and the log names it`, async () => {
      const routes = new Routes([Route.of(shown, handler as Loose)]);
      await using app = await testApp(Application.create().routes(routes));

      const response = await app.get("/x");

      expect(response.status).to.equal(500);
      expect(app.logs.lines().join("\n")).to.include(
        `the handler of GET /x returned ${names}, which \\"responses\\" does not declare`,
      );
    });

  for (const [what, handler] of Object.entries({ thrown: failWithConflict, rejected: rejectWithConflict }))
    it(`of an error that is ${what} is the response, and the log names it once`, async () => {
      await using app = await testApp(Application.create().routes(new Routes([Route.of(shown, handler)])));

      expect([(await app.get("/x")).status, (await app.get("/x")).status]).to.deep.equal([409, 409]);
      const warnings = app.logs.lines().filter((line) => line.includes("that its endpoint does not declare"));
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.contain('"WARN"').and.contain("GET /x").and.contain("409");
    });

  it("is not named where the contract, the framework or a guard has it", async () => {
    const declared = Get("/y", { responses: { 200: z.object({}), 409: z.object({}) } });
    const routes = new Routes([Route.of(shown, failWithNotFound), Route.of(declared, failWithConflict)]);
    await using app = await testApp(Application.create().routes(routes));

    expect([(await app.get("/x")).status, (await app.get("/y")).status]).to.deep.equal([404, 409]);
    expect(app.logs.lines().filter((line) => line.includes("does not declare"))).to.deep.equal([]);
  });

  it("is the response of a release build", async () => {
    const program = `
      const { Application, Get, Reply, Route, Routes } = load("entries/main.js");
      const schema = { "~standard": { version: 1, vendor: "spec", validate: (value) => ({ value }) } };
      const shown = Get("/x", { responses: { 200: schema } });
      const application = Application.create()
        .port(0)
        .lifecycle({ drainDelayMs: 0 })
        .routes(new Routes([Route.of(shown, () => Reply.json({ id: 1 }, 202))]))
        .build();
      const running = await application.start();
      const { status, text } = await getFrom(running.url + "/x");
      process.stdout.write(status + " " + text);
      await running.stop();
    `;

    const { stdout } = await runProgram(program, { NODE_ENV: "production" });

    expect(stdout).to.equal('202 {"id":1}');
  });
});
