import { AssertionError } from "node:assert";
import { expect } from "chai";
import { Problem } from "../../lib/entries/main.js";
import { expectProblem, type ExpectedProblem } from "../../lib/testing/expect-problem.js";
import { rejectionOf } from "../support/rejection-of.js";

const TYPE = "application/problem+json";
const createResponse = (body: string, status = 404, type = TYPE) =>
  new Response(body, { status, headers: { "content-type": type } });
const problem = (options: ConstructorParameters<typeof Problem>[1] = {}) =>
  createResponse(new Problem(404, options).text());

describe("expectProblem", () => {
  const good: readonly (readonly [string, Response, ExpectedProblem])[] = [
    ["a status alone", problem(), { status: 404 }],
    ["a slug and a title", problem(), { status: 404, slug: "not-found", title: "Resource not found" }],
    ["a detail", problem({ detail: "no link 7" }), { status: 404, detail: "no link 7" }],
    ["a detail that matches", problem({ detail: "no link 7" }), { status: 404, detail: /7$/ }],
    ["no detail", problem(), { status: 404, detail: null }],
    ["extensions", problem({ extensions: { b: [1], a: { x: 1 } } }), { status: 404, extensions: { a: { x: 1 } } }],
    ["no slug", createResponse(new Problem(418).text(), 418), { status: 418, slug: "about:blank" }],
  ];
  for (const [name, response, expected] of good) {
    it(`accepts ${name}, and leaves the body readable`, async () => {
      const document = await expectProblem(response, expected);

      expect(document).to.deep.equal(await response.json());
    });
  }

  const text = new Problem(404, { detail: "seen" }).text();
  const bad: readonly (readonly [string, Response, ExpectedProblem, string])[] = [
    ["another status", problem(), { status: 403 }, "the status is 404, not 403"],
    ["another media type", createResponse(text, 404, "application/json"), { status: 404 }, '"application/json"'],
    ["a media type with a charset", createResponse(text, 404, `${TYPE}; charset=utf-8`), { status: 404 }, "charset"],
    ["another slug", problem(), { status: 404, slug: "gone" }, '"urn:framework:problem:not-found"'],
    ["another title", problem(), { status: 404, title: "Gone" }, '"Resource not found"'],
    [
      "another detail",
      createResponse(text),
      { status: 404, detail: "expected" },
      'the detail is "seen", not "expected"',
    ],
    ["a detail that does not match", createResponse(text), { status: 404, detail: /expected/ }, '"seen"'],
    ["a missing detail", problem(), { status: 404, detail: /./ }, "undefined"],
    ["an unexpected detail", createResponse(text), { status: 404, detail: null }, '"seen"'],
    [
      "another extension",
      problem({ extensions: { a: 1 } }),
      { status: 404, extensions: { a: 2 } },
      "the extension a is 1",
    ],
    ["a missing extension", problem(), { status: 404, extensions: { a: 2 } }, "the extension a is undefined"],
    ["a body that is not JSON", createResponse("<h1>", 404), { status: 404 }, '"<h1>"'],
    ["an empty body", createResponse("", 404), { status: 404 }, "not JSON"],
    ["a list", createResponse("[]", 404), { status: 404 }, "lacks a type"],
    ["a document without a title", createResponse('{"type":"about:blank","status":404}'), { status: 404 }, "lacks"],
    [
      "a document of another status",
      createResponse(new Problem(400).text()),
      { status: 404 },
      "the member status is 400, not 404",
    ],
    ["members out of order", createResponse('{"title":"x","type":"y","status":404}'), { status: 404 }, "order"],
    [
      "extensions out of order",
      createResponse('{"type":"y","title":"x","status":404,"b":1,"a":1}'),
      { status: 404 },
      "order",
    ],
  ];
  for (const [name, response, expected, message] of bad) {
    it(`rejects ${name}, naming the actual response`, async () => {
      const error = await rejectionOf(expectProblem(response, expected));

      expect(error).to.be.instanceOf(AssertionError);
      expect(error.message).to.include(message);
    });
  }
});
