/** `Accept`, `Content-Type` and names of headers as a hostile client sends them to endpoints with contracts. */
import { expect } from "chai";
import { z } from "zod";
import { Application, content, Get, Post, Route, Routes } from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { withObservability } from "../support/with-observability.js";

const Name = z.object({ name: z.string() });

const routes = new Routes([
  Route.of(Get("/x", { query: z.object({ n: z.int().optional() }), responses: { 200: Name } }), () => ({
    name: "ada",
  })),
  Route.of(Post("/json", { body: Name }), ({ input }) => input.body),
  Route.of(
    Post("/several", {
      body: {
        "application/json": Name,
        "application/x-www-form-urlencoded": content.form(Name),
        "text/csv": content.text("text/csv"),
      },
    }),
    ({ input }) => ({ body: input.body }),
  ),
]);

function start(): Promise<TestApp> {
  return testApp(withObservability(Application.create()).compression().routes(routes));
}

/** The status of the first response. @param lines the header lines, unchanged */
async function ask(app: TestApp, path: string, lines: readonly string[], body = ""): Promise<number> {
  const method = body === "" ? "GET" : "POST";
  const head = [
    `${method} ${path} HTTP/1.1`,
    "Host: a",
    "Connection: close",
    `Content-Length: ${body.length}`,
    ...lines,
  ];
  const response = await app.raw(Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`, "latin1"));
  return Number(response.toString("latin1").split(" ", 2)[1]);
}

describe("a hostile Accept", () => {
  const rows: readonly (readonly [what: string, lines: readonly string[], status: number])[] = [
    ["that takes nothing", ["Accept: */*;q=0"], 200],
    ["with a weight that is no number", ["Accept: application/json;q=abc"], 200],
    ["of garbage", ["Accept: ;;,,/ q=\xff\xfe =*"], 200],
    ["that is empty", ["Accept: "], 200],
    ["of 12 kB of ranges", [`Accept: ${"a/b;q=0.1,".repeat(1200)}`], 200],
    ["of 100 kB of ranges", [`Accept: ${"a/b;q=0.1,".repeat(10_000)}`], 431],
    ["that is sent 40 times", Array.from({ length: 40 }, () => "Accept: text/html;q=0"), 200],
  ];

  for (const [what, lines, status] of rows)
    it(`${what} gets ${status}`, async () => {
      await using app = await start();

      expect(await ask(app, "/x", lines)).to.equal(status);
    });

  for (const accept of ["*/*;q=0", "a;q=abc", "text/html"])
    it(`gets a 422 as a problem, ${accept}`, async () => {
      await using app = await start();

      const response = await app.get("/x?n=x", { headers: { accept } });

      expect([response.status, response.headers.get("content-type")]).to.deep.equal([422, "application/problem+json"]);
    });
});

const json = '{"name":"ada"}';

describe("a hostile Content-Type", () => {
  const rows: readonly (readonly [what: string, lines: readonly string[], status: number])[] = [
    ["in capitals", ["Content-Type: APPLICATION/JSON"], 200],
    ["with parameters", ["Content-Type: application/json ; version=1; charset=UTF-8"], 200],
    ["with a quoted charset", ['Content-Type: application/json; charset="utf-8"'], 200],
    ["of a kind of JSON", ["Content-Type: application/problem+json"], 200],
    ["that is missing", [], 415],
    ["that is empty", ["Content-Type: "], 415],
    ["of another name that starts alike", ["Content-Type: application/jsonx"], 415],
    ["of a name that ends in json", ["Content-Type: text/json"], 415],
    ["of no kind of JSON", ["Content-Type: application/+json"], 415],
    ["with the charset utf-7", ["Content-Type: application/json; charset=utf-7"], 415],
    ["with two charsets", ["Content-Type: application/json; charset=utf-8; charset=utf-7"], 415],
    ["with two types", ["Content-Type: application/json, text/plain"], 415],
    ["of a form", ["Content-Type: application/x-www-form-urlencoded"], 415],
    ["with a control character", ["Content-Type: application/json\x00"], 400],
    ["with a byte that is no ASCII", ["Content-Type: application/json\xa0x"], 415],
    ["of a name of the prototype", ["Content-Type: __proto__"], 415],
    ["of a name that objects inherit", ["Content-Type: constructor"], 415],
    ["of 12 kB", [`Content-Type: application/${"a".repeat(12_000)}`], 415],
  ];

  for (const path of ["/json", "/several"])
    for (const [what, lines, status] of rows) {
      const isTaken = path === "/several" && (what === "of a form" || what === "of a kind of JSON");
      const expected = isTaken ? (what === "of a form" ? 422 : 415) : status;
      it(`${what} gets ${expected} from ${path}`, async () => {
        await using app = await start();

        expect(await ask(app, path, lines, json)).to.equal(expected);
      });
    }

  it("that is sent twice counts once, the first of the two", async () => {
    await using app = await start();
    const [first, second] = ["Content-Type: application/json", "Content-Type: text/plain"];

    expect(await ask(app, "/json", [first, second], json)).to.equal(200);
    expect(await ask(app, "/json", [second, first], json)).to.equal(415);
  });
});

describe("several bodies of an endpoint", () => {
  const rows: readonly (readonly [type: string, body: string, expected: unknown])[] = [
    ["application/json", json, { name: "ada" }],
    ["APPLICATION/json;charset=utf-8", json, { name: "ada" }],
    ["application/X-www-form-urlencoded; a=b", "name=ada", { name: "ada" }],
    ["Text/CSV; header=absent", "a,b", "a,b"],
  ];

  for (const [type, sent, expected] of rows)
    it(`are chosen by ${type}`, async () => {
      await using app = await start();

      const response = await app.post("/several", { body: sent, headers: { "content-type": type } });

      expect(await response.json()).to.deep.equal({ body: expected });
    });
});
