import { expect } from "chai";
import { Application, type Context, ForbiddenError, Route, Routes } from "@stagecraft/framework";
import { expectLogLine, testApp } from "@stagecraft/framework/testing";
import { z } from "zod";
import { runProgram } from "../../support/program.js";

const Title = z.object({ title: z.string() });
const JSON_BODY = { "Content-Type": "application/json" };

/** The warnings of one request with the body, with route and code, when the application has stopped. */
async function warningsOf(handler: (ctx: Context) => unknown, body: string): Promise<readonly unknown[]> {
  const app = await testApp(Application.create().routes(new Routes([Route.post("/links/{id}", handler)])));
  await app.post("/links/7?page=1", { headers: JSON_BODY, body });
  await app[Symbol.asyncDispose]();
  const lines = app.logs.lines().map((line) => expectLogLine(line));
  const warnings = lines.filter(({ level }) => level === "WARN");
  return warnings.map(({ message, fields }) => [message, fields?.["route"], fields?.["code"]]);
}

function forgotten(reader: string, code?: string): readonly unknown[] {
  return [`the handler did not wait for ${reader}(…): write await before it`, "POST /links/{id}", code];
}

function refusing(ctx: Context): never {
  void ctx.json();
  throw new ForbiddenError();
}

describe("a handler that does not await a reader", () => {
  it("is named in a warning where the reader fails", async () => {
    const warnings = await warningsOf((ctx) => void ctx.json(Title), "{}");

    expect(warnings).to.deep.equal([forgotten("ctx.json", "E_VALIDATION")]);
  });

  it("is named in a warning where it awaits another promise", async () => {
    const warnings = await warningsOf(async (ctx) => {
      void ctx.json(Title);
      await ctx.text();
      return "done";
    }, "{}");

    expect(warnings).to.deep.equal([forgotten("ctx.json", "E_VALIDATION")]);
  });

  it("is named in a warning where it uses a field of the promise", async () => {
    const warnings = await warningsOf((ctx) => {
      const { title } = ctx.json(Title) as never as { title?: string };
      return { title };
    }, '{"title":"a"}');

    expect(warnings).to.deep.equal([forgotten("ctx.json")]);
  });

  const readers: Readonly<Record<string, (ctx: Context) => unknown>> = {
    "ctx.form": (ctx) => ctx.form(),
    "ctx.text": (ctx) => ctx.text(),
    "ctx.bytes": (ctx) => ctx.bytes(),
    "ctx.search": (ctx) => ctx.search(Title),
  };
  const codes: Readonly<Record<string, string>> = { "ctx.form": "E_MEDIA_TYPE", "ctx.search": "E_VALIDATION" };
  for (const [reader, read] of Object.entries(readers)) {
    it(`is named in a warning for ${reader}`, async () => {
      const warnings = await warningsOf((ctx) => void read(ctx), "{}");

      expect(warnings).to.deep.equal([forgotten(reader, codes[reader])]);
    });
  }
});

describe("a handler that awaits a reader", () => {
  const handlers: Readonly<Record<string, (ctx: Context) => unknown>> = {
    "by await": async (ctx) => ({ read: await ctx.json() }),
    "by returning the promise": (ctx) => ctx.json(),
    "by then": (ctx) => ctx.json().then((read) => ({ read })),
    "by Promise.all": async (ctx) => Promise.all([ctx.json(), ctx.text()]),
    "by catch": async (ctx) => ctx.json(Title).catch(() => "none"),
    "later than the reader fails": async (ctx) => {
      const read = ctx.json(Title);
      await ctx.text();
      await new Promise((resolve) => setImmediate(resolve));
      return read.catch(() => "none");
    },
  };
  for (const [how, handler] of Object.entries(handlers)) {
    it(`causes no warning: ${how}`, async () => {
      expect(await warningsOf(handler, "{}")).to.deep.equal([]);
    });
  }

  it("causes no warning where it refuses the request before it awaits", async () => {
    expect(await warningsOf(refusing, "{}")).to.deep.equal([]);
  });
});

describe("a release build", () => {
  it("returns the promise of the reader alone", async () => {
    const program = `
      const { Application, Route, Routes } = await load("entries/main.js");
      const { testApp } = await load("entries/testing.js");
      const routes = new Routes([Route.post("/", (ctx) => String(Object.getPrototypeOf(ctx.json()) === Promise.prototype))]);
      const app = await testApp(Application.create().routes(routes));
      process.stdout.write(await (await app.post("/")).text());
      await app[Symbol.asyncDispose]();
    `;

    const { stdout } = await runProgram(program, { NODE_ENV: "production" });

    expect(stdout).to.equal("true");
  });
});
