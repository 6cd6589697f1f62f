/** Responses that a handler writes to the context, that are not JSON, or that are nothing: a contract holds for them too. */
import { expect } from "chai";
import { Readable } from "node:stream";
import { z } from "zod";
import { Application, content, type Context, Get, Reply, Route, Routes } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import type { ContractOptions } from "../../lib/endpoints/contract.js";
import { runProgram } from "../support/program.js";

const A = z.object({ a: z.string() });
const secret = { a: "1", secret: "canary" };

/** A handler whose type the compiler does not compare with the contract. */
type Loose = (ctx: Context) => never;
type Responses = NonNullable<ContractOptions["responses"]>;

const getX = (responses: Responses) => Get("/x", { responses });

interface Received {
  readonly status: number;
  readonly text: string;
  readonly log: string;
}

async function receive(responses: Responses, handler: (ctx: Context) => unknown): Promise<Received> {
  await using app = await testApp(
    Application.create().routes(new Routes([Route.of(getX(responses), handler as Loose)])),
  );
  const response = await app.get("/x");
  return { status: response.status, text: await response.text(), log: app.logs.lines().join("\n") };
}

const write =
  (body: unknown, status?: number) =>
  (ctx: Context): void => {
    if (status !== undefined) ctx.status = status;
    ctx.body = body;
  };

const refused: readonly (readonly [
  what: string,
  responses: Responses,
  handler: (ctx: Context) => unknown,
  fault: string,
])[] = [
  ["a body where none is declared", { 204: content.none() }, write(secret), "the status 200"],
  ["a body of a status without one", { 200: content.none() }, write(secret), "a value for 200 that is not its content"],
  ["a body with an undeclared member", { 200: A }, write(secret), "the undeclared member secret"],
  ["a body that the schema refuses", { 200: A }, write({ a: 1 }), "a value for 200 that its schema refuses at a"],
  ["a body of an undeclared status", { 200: A }, write({ a: "1" }, 202), "the status 202"],
  ["a text where JSON is declared", { 200: z.string() }, write("hello"), "that is not sent as JSON"],
  [
    "a stream of lines",
    { 200: content.jsonLines(A) },
    write(Readable.from(["{}"])),
    "nothing, and wrote the response 200",
  ],
  [
    "a body, and returns null",
    { 200: A },
    (ctx) => {
      ctx.body = secret;
      return null;
    },
    "the undeclared member secret",
  ],
];

const taken: readonly (readonly [
  what: string,
  responses: Responses,
  handler: (ctx: Context) => unknown,
  sent: object,
])[] = [
  ["a body", { 200: A }, write({ a: "1" }), { status: 200, text: '{"a":"1"}' }],
  ["a body with its status", { 200: A, 201: A }, write({ a: "1" }, 201), { status: 201, text: '{"a":"1"}' }],
  ["no body", { 204: content.none() }, write(null), { status: 204, text: "" }],
  ["a text", { 200: content.text() }, write("hello"), { status: 200, text: "hello" }],
  ["a stream", { 200: content.bytes() }, write(Readable.from([Buffer.from("b")])), { status: 200, text: "b" }],
  ["a redirect", { 302: content.redirect() }, (ctx) => ctx.redirect("/y"), { status: 302 }],
  ["the response of Node", { 200: A }, (ctx) => void ctx.res.end("by hand"), { text: "by hand" }],
];

describe("a handler that writes to the context", () => {
  for (const [what, responses, handler, fault] of refused)
    it(`is refused by a debug build where it writes ${what}`, async () => {
      const { status, text, log } = await receive(responses, handler);

      expect(status).to.equal(500);
      expect(text).not.to.contain("canary");
      expect(log).to.contain("E_RESPONSE").and.contain(fault);
    });

  for (const [what, responses, handler, sent] of taken)
    it(`may write ${what}`, async () => {
      expect(await receive(responses, handler)).to.include(sent);
    });
});

describe("a debug build", () => {
  for (const [what, reply] of [
    ["a text", () => Reply.text("hello")],
    ["bytes", () => Reply.of(Buffer.from('"hello"'), "application/json")],
    ["a Response of the web", () => Response.json("hello")],
  ] as const)
    it(`refuses ${what} where a schema is declared`, async () => {
      const { status, log } = await receive({ 200: z.unknown() }, reply);

      expect(status).to.equal(500);
      expect(log).to.contain("a value for 200 that is not sent as JSON: return the value of its schema");
    });

  for (const declared of [200, 201] as const)
    it(`refuses a handler that returns nothing where ${declared} with an optional value is declared`, async () => {
      const { status, log } = await receive({ [declared]: A.optional() }, () => undefined);

      expect(status).to.equal(500);
      expect(log).to.contain(
        `returned nothing, for which 204 is sent and not the declared ${declared}: return a value`,
      );
    });
});

describe("a release build that leaves out undeclared members", () => {
  it("does so in a body that is written to the context, and sends a Response of the web unchanged", async () => {
    const program = `
      import { z } from "zod";
      const { Application, Get, Reply, Route, Routes } = load("entries/main.js");
      const responses = { 200: z.object({ a: z.string() }) };
      const secret = { a: "1", secret: "canary" };
      const open = { 200: z.looseObject({ a: z.string() }) };
      const routes = new Routes([
        Route.of(Get("/written", { responses }), (ctx) => { ctx.body = secret; }),
        Route.of(Get("/exposed", { responses }), (ctx) => { ctx.response.set("x-a", "1"); ctx.response.body = secret; }),
        Route.of(Get("/web", { responses }), () => new Response("web", { status: 203 })),
        Route.of(Get("/bytes", { responses }), () => Buffer.from("bytes")),
        Route.of(Get("/proto", { responses: open }), () => JSON.parse('{"a":"1","__proto__":{"b":2}}')),
      ]);
      const application = Application.create()
        .port(0).lifecycle({ drainDelayMs: 0 }).stripResponses(true).routes(routes).build();
      const running = await application.start();
      const received = {};
      for (const path of ["written", "exposed", "web", "bytes", "proto"]) {
        const { status, text } = await getFrom(running.url + "/" + path);
        received[path] = status + " " + text;
      }
      process.stdout.write(JSON.stringify(received));
      await running.stop();
    `;

    const { stdout, stderr } = await runProgram(program, { NODE_ENV: "production" });

    expect(stdout, stderr).not.to.equal("");
    expect(JSON.parse(stdout)).to.deep.equal({
      written: '200 {"a":"1"}',
      exposed: '200 {"a":"1"}',
      web: "203 web",
      bytes: "200 bytes",
      proto: '200 {"a":"1","__proto__":{"b":2}}',
    });
  });
});
