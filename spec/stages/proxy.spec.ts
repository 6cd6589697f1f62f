import { expect } from "chai";
import { ProxyAction, type ProxyFunction, ProxyLayer } from "../../lib/stages/proxy.js";
import type { Context } from "../../lib/http/request/context.js";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import type { Next } from "../../lib/http/middleware.js";
import { Reply } from "../../lib/http/response/reply.js";
import { AccessLogLayer } from "../../lib/stages/access-log.js";
import { Conversation } from "../support/conversation.js";
import { errorOf } from "../support/error-of.js";
import { Gate } from "../support/gate.js";
import { Stack } from "../support/stack.js";
import { until } from "../support/until.js";
import { TracingRecorder } from "../support/tracing-recorder.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";

const PROBLEM = "application/problem+json";

describe("ProxyLayer", () => {
  it("obeys the layer contract", () =>
    obeysLayerContract(
      new ProxyLayer(({ url }) => (url === "/closed" ? ProxyAction.shortCircuit(410) : ProxyAction.rewrite("/new"))),
      { refused: { path: "/closed" } },
    ));

  it("obeys the layer contract with an asynchronous function", () =>
    obeysLayerContract(new ProxyLayer(async () => ProxyAction.continue({ "x-tenant": "7" }))));

  describe("the function", () => {
    it("receives method, target and headers", async () => {
      const seen: unknown[] = [];
      await using stack = await through((request) => {
        seen.push([request.method, request.url, request.headers["x-a"]]);
        return ProxyAction.continue();
      });

      await stack.ask("/a%20b?c=d", { method: "POST", headers: { "X-A": "1" } });

      expect(seen).to.deep.equal([["POST", "/a%20b?c=d", "1"]]);
    });

    for (const [target, url] of [
      ["http://other.example/a?b", "/a?b"],
      ["http://other.example?b", "/?b"],
      ["http://other.example", "/"],
      ["/plain", "/plain"],
    ] as const) {
      it(`sees the target ${target} as ${url}`, async () => {
        let seen = "";
        await using stack = await through((request) => {
          seen = request.url;
          return ProxyAction.continue();
        });

        await stack.raw(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);

        expect(seen).to.equal(url);
      });
    }

    it("may be an asynchronous function", async () => {
      await using stack = await through(async () => ProxyAction.rewrite("/later"));

      expect((await stack.ask("/")).text).to.equal("/later");
    });

    it("calls no inner stage when the client leaves while the function runs", async () => {
      const decided = new Gate();
      let seen: Context | undefined;
      let handled = 0;
      const outermost = {
        handle(ctx: Context, next: Next) {
          seen = ctx;
          return next();
        },
      };
      const proxy = new ProxyLayer(() => decided.passed.then(() => ProxyAction.continue()));
      const witness = new TracingRecorder();
      await using stack = await witness.run(() =>
        Stack.of([outermost, proxy, new AccessLogLayer()], () => void handled++),
      );
      await using client = await Conversation.with(stack.port);
      client.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await until(() => seen !== undefined);

      client.socket.destroy();
      await until(() => seen?.isClientGone === true);
      decided.open();
      await until(() => witness.events.length > 0);

      expect(handled).to.equal(0);
      expect(witness.events.map(({ fields }) => fields["status"])).to.deep.equal([499]);
    });

    it("causes a 500 when it throws", async () => {
      await using stack = await through(() => {
        throw new Error("boom");
      });

      expect((await stack.ask("/")).status).to.equal(500);
    });

    it("causes a 500 when it rejects", async () => {
      await using stack = await through(() => Promise.reject(new Error("boom")));

      expect((await stack.ask("/")).status).to.equal(500);
    });

    it("causes a 500 when it does not return a ProxyAction", async () => {
      // JavaScript callers may return any value.
      await using stack = await through((() => undefined) as unknown as ProxyFunction);

      expect((await stack.ask("/")).status).to.equal(500);
    });
  });

  describe("continue", () => {
    it("leaves the request unchanged", async () => {
      await using stack = await through(() => ProxyAction.continue());

      const answer = await stack.ask("/a?b");

      expect(answer.text).to.equal("/a?b");
      expect(answer.headers).not.to.have.property("x-content-type-options");
    });

    it("replaces headers of the client, in any letter case", async () => {
      const action = ProxyAction.continue({ "X-Tenant": "7", "x-new": "8" });
      await using stack = await Stack.of([new ProxyLayer(() => action)], (ctx) => [
        ctx.get("x-tenant"),
        ctx.incoming.headersDistinct["x-tenant"],
        ctx.get("X-New"),
      ]);

      const answer = await stack.ask("/", { headers: { "x-tenant": ["1", "2"] } });

      expect(JSON.parse(answer.text)).to.deep.equal(["7", ["7"], "8"]);
    });

    for (const [title, headers] of [
      ["a line break", { "X-A": "a\r\nb" }],
      ["an invalid name", { "x a": "1" }],
      ["a length", { "Content-Length": "1" }],
      ["a transfer coding", { "transfer-encoding": "chunked" }],
      ["a connection option", { Connection: "close" }],
      ["an expectation", { Expect: "100-continue" }],
      ["an upgrade", { Upgrade: "websocket" }],
    ] as const) {
      it(`refuses ${title}`, () => {
        const error = errorOf(() => ProxyAction.continue(headers));

        expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PROXY_HEADER");
      });
    }
  });

  describe("rewrite", () => {
    it("passes the new target to the inner stages, and keeps the original as originalUrl", async () => {
      await using stack = await Stack.of([new ProxyLayer(() => ProxyAction.rewrite("/new?q=1"))], (ctx) => [
        ctx.url,
        ctx.path,
        ctx.search(),
        ctx.originalUrl,
      ]);

      const answer = await stack.ask("/old?q=2");

      expect(JSON.parse(answer.text)).to.deep.equal(["/new?q=1", "/new", { q: "1" }, "/old?q=2"]);
    });

    for (const url of ["https://evil.example/", "//evil.example/", "/a#b", "/a\r\nb", "a", ""]) {
      it(`a rewrite to ${JSON.stringify(url)} is a 400 problem, and no inner stage is called`, async () => {
        const woken: string[] = [];
        await using stack = await Stack.of([new ProxyLayer(() => ProxyAction.rewrite(url))], (ctx) =>
          woken.push(ctx.url),
        );

        const answer = await stack.ask("/");

        expect([answer.status, answer.headers["content-type"]]).to.deep.equal([400, PROBLEM]);
        expect(answer.headers).to.include({ "x-content-type-options": "nosniff" });
        expect(woken).to.deep.equal([]);
      });
    }
  });

  describe("redirect", () => {
    const rows: readonly (readonly [string, boolean, number])[] = [
      ["GET", false, 302],
      ["HEAD", false, 302],
      ["POST", false, 307],
      ["PUT", false, 307],
      ["DELETE", false, 307],
      ["GET", true, 301],
      ["HEAD", true, 301],
      ["POST", true, 308],
      ["OPTIONS", true, 308],
    ];

    for (const [method, permanent, status] of rows) {
      it(`a redirect of ${method} is ${status} ${permanent ? "when permanent" : "when temporary"}`, async () => {
        await using stack = await through(() => ProxyAction.redirect("https://new.example/a?b", { permanent }));

        const answer = await stack.ask("/", { method });

        expect([answer.status, answer.text]).to.deep.equal([status, ""]);
        expect(answer.headers).to.include({
          location: "https://new.example/a?b",
          "content-length": "0",
          "x-content-type-options": "nosniff",
        });
        expect(answer.headers).not.to.have.property("content-type");
      });
    }

    for (const location of [
      "//evil.example",
      "/\\evil.example",
      "javascript:alert(1)",
      "/a\r\nSet-Cookie: a=b",
      "ftp://a/",
    ]) {
      it(`a redirect to ${JSON.stringify(location)} is a 400 problem`, async () => {
        await using stack = await through(() => ProxyAction.redirect(location));

        const answer = await stack.ask("/");

        expect([answer.status, answer.headers["content-type"]]).to.deep.equal([400, PROBLEM]);
        expect(answer.headers).to.include({ "x-content-type-options": "nosniff" });
        expect(answer.headers).not.to.have.any.keys("location", "set-cookie");
      });
    }
  });

  describe("shortCircuit", () => {
    it("responds with the given status", async () => {
      await using stack = await through(() => ProxyAction.shortCircuit(410));

      const answer = await stack.ask("/");

      expect([answer.status, answer.text]).to.deep.equal([410, ""]);
      expect(answer.headers).to.include({ "x-content-type-options": "nosniff", "content-length": "0" });
    });

    it("responds with a reply and the given status", async () => {
      const reply = Reply.html("<h1>Closed</h1>").header("Retry-After", "60");
      await using stack = await through(() => ProxyAction.shortCircuit(503, reply));

      const answer = await stack.ask("/");

      expect([answer.status, answer.text]).to.deep.equal([503, "<h1>Closed</h1>"]);
      expect(answer.headers).to.include({
        "content-type": "text/html; charset=utf-8",
        "retry-after": "60",
        "x-content-type-options": "nosniff",
      });
    });

    it("responds to HEAD with the head alone", async () => {
      await using stack = await through(() => ProxyAction.shortCircuit(200, Reply.text("hello")));

      const answer = await stack.ask("/", { method: "HEAD" });

      expect([answer.text, answer.headers["content-length"]]).to.deep.equal(["", "5"]);
    });

    for (const status of [0, 101, 199, 600, 200.5, Number.NaN]) {
      it(`refuses the status ${status}`, () => {
        const error = errorOf(() => ProxyAction.shortCircuit(status));

        expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PROXY_STATUS");
      });
    }
  });
});

/** The layer around a handler that responds with the target that it saw. */
function through(decide: ProxyFunction): Promise<Stack> {
  return Stack.of([new ProxyLayer(decide)], ({ url }: Context) => url);
}
