/** The request-id stage over raw sockets: the id that a request gets, and the header on the response. */
import { expect } from "chai";
import type { Context } from "../../lib/http/request/context.js";
import { RequestId } from "../../lib/observe/request-id.js";
import { RequestIdLayer } from "../../lib/stages/request-id.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";
import { HANDLER_RESULTS } from "../support/handler-results.js";
import { Stack, valuesOf } from "../support/stack.js";

const FRESH = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const LONGEST = "a".repeat(128);

/** Header lines with one character per byte, and the id of the request; `undefined` for a new id. */
const SENT: readonly (readonly [string, readonly string[], string | undefined])[] = [
  ["a valid id", ["x-request-id: abc-123"], "abc-123"],
  ["every kind of character allowed", ["X-Request-ID: AZaz09-_.:@+/="], "AZaz09-_.:@+/="],
  ["one character", ["x-request-id: 0"], "0"],
  ["128 bytes", [`x-request-id: ${LONGEST}`], LONGEST],
  ["129 bytes", [`x-request-id: ${LONGEST}a`], undefined],
  ["15 000 bytes", [`x-request-id: ${"a".repeat(15_000)}`], undefined],
  ["no header", [], undefined],
  ["an empty header", ["x-request-id:"], undefined],
  ["whitespace alone", ["x-request-id:   "], undefined],
  ["whitespace around the value, which is not part of it", ["x-request-id: \t abc \t "], "abc"],
  ["a space inside", ["x-request-id: a b"], undefined],
  ["a tab inside", ["x-request-id: a\tb"], undefined],
  ["a list", ["x-request-id: a,b"], undefined],
  ["a quote", ['x-request-id: a"b'], undefined],
  ["markup", ["x-request-id: <b>"], undefined],
  ["latin-1", ["x-request-id: caf\xe9"], undefined],
  ["UTF-8", ["x-request-id: caf\xc3\xa9"], undefined],
  ["the first of two", ["x-request-id: first", "x-request-id: second"], "first"],
  ["the first of two, which is not valid", ["x-request-id: a b", "x-request-id: second"], undefined],
  ["the first of two, which is empty", ["x-request-id:", "x-request-id: second"], undefined],
  ["the first of two, with a comma in it", ["x-request-id: a,b", "x-request-id: second"], undefined],
  ["another header alone", ["request-id: abc", "x-correlation-id: abc"], undefined],
];

/** After a line break the parser refuses the request, or reads another header. */
const BROKEN: readonly (readonly [string, string])[] = [
  ["a bare CR", "x-request-id: a\rSet-Cookie: b=1\r\n"],
  ["a bare LF", "x-request-id: a\nSet-Cookie: b=1\r\n"],
  ["a folded line", "x-request-id: a\r\n Set-Cookie: b=1\r\n"],
  ["a NUL", "x-request-id: a\0b\r\n"],
  ["an encoded line break", "x-request-id: a%0d%0aSet-Cookie:b=1\r\n"],
];

function get(...lines: readonly string[]): string {
  return `${["GET / HTTP/1.1", "Host: spec", "Connection: close", ...lines].join("\r\n")}\r\n\r\n`;
}

function idIn(text: string): string | undefined {
  return /^x-request-id: (.*)$/im.exec(text)?.[1]?.trim();
}

describe("RequestIdLayer", () => {
  it("obeys the layer contract", () => obeysLayerContract(new RequestIdLayer()));

  for (const [what, lines, expected] of SENT) {
    it(`${expected === undefined ? "replaces" : "keeps"} ${what}`, async () => {
      await using stack = await Stack.of([new RequestIdLayer()], (ctx) => RequestId.of(ctx)?.value);

      const text = await stack.raw(get(...lines));

      const id = idIn(text) ?? "";
      if (expected === undefined) expect(id).to.match(FRESH);
      else expect(id).to.equal(expected);
      expect(text.endsWith(`\r\n\r\n${id}`), "the handler sees the same id").to.equal(true);
    });
  }

  for (const [what, line] of BROKEN) {
    it(`lets no ${what} into the head of the response`, async () => {
      await using stack = await Stack.of([new RequestIdLayer()], () => "hello");

      const text = await stack.raw(`GET / HTTP/1.1\r\nHost: spec\r\nConnection: close\r\n${line}\r\n`);

      expect(text).to.match(/^HTTP\/1\.1 (?:200|400) /);
      expect(text.toLowerCase()).not.to.contain("set-cookie");
      if (text.startsWith("HTTP/1.1 200")) expect(idIn(text)).to.match(FRESH);
    });
  }

  for (const [what, status, handler] of HANDLER_RESULTS) {
    it(`adds the id to ${what}`, async () => {
      await using stack = await Stack.of([new RequestIdLayer()], handler);

      const answer = await stack.ask("/", { headers: { "x-request-id": "mine" } });

      expect(answer.status).to.equal(status);
      expect(valuesOf(answer, "x-request-id")).to.deep.equal(["mine"]);
    });
  }

  it("adds the id to the response to HEAD", async () => {
    await using stack = await Stack.of([new RequestIdLayer()], () => "hello");

    const answer = await stack.ask("/", { method: "HEAD", headers: { "x-request-id": "mine" } });

    expect(answer.headers).to.include({ "x-request-id": "mine", "content-length": "5" });
  });

  it("replaces an id that the response already has", async () => {
    const handlers = [
      (ctx: Context) => (ctx.set("X-Request-Id", "theirs"), "hello"),
      (ctx: Context) => void ctx.res.writeHead(200, { "X-REQUEST-ID": "theirs" }).end(),
      (ctx: Context) => void ctx.res.writeHead(200, ["x-request-id", "theirs", "x-request-id", "again"]).end(),
    ];

    for (const handler of handlers) {
      await using stack = await Stack.of([new RequestIdLayer()], handler);

      const answer = await stack.ask("/", { headers: { "x-request-id": "mine" } });

      expect(valuesOf(answer, "x-request-id")).to.deep.equal(["mine"]);
    }
  });

  it("adds no other header to the response", async () => {
    await using plain = await Stack.of([], () => "hello");
    await using stack = await Stack.of([new RequestIdLayer()], () => "hello");

    const [without, having] = [await plain.ask(), await stack.ask()];

    const { "x-request-id": id, date: _, ...others } = having.headers;
    const { date: __, ...expected } = without.headers;
    expect(id).to.match(FRESH);
    expect(others).to.deep.equal(expected);
  });

  it("gives each request its own id, also on one connection", async () => {
    await using stack = await Stack.of([new RequestIdLayer()], () => "hello");

    const text = await stack.raw("GET /a HTTP/1.1\r\nHost: spec\r\n\r\n".repeat(3) + get());

    const ids = [...text.matchAll(/^x-request-id: (.*)$/gim)].map(([, id]) => id);
    expect(new Set(ids).size).to.equal(4);
  });

  it("gives no id to requests that do not pass it", async () => {
    await using stack = await Stack.of([], (ctx) => String(RequestId.of(ctx)));

    const answer = await stack.ask("/", { headers: { "x-request-id": "mine" } });

    expect(answer.text).to.equal("undefined");
    expect(answer.headers).not.to.have.property("x-request-id");
  });
});
