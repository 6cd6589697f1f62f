import { expect } from "chai";
import { CspNonce } from "../../../lib/stages/security-headers/csp-nonce.js";
import { SecurityHeaders } from "../../../lib/stages/security-headers/security-headers.js";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { HANDLER_RESULTS } from "../../support/handler-results.js";
import { errorOf } from "../../support/error-of.js";
import { Stack, valuesOf } from "../../support/stack.js";
import { obeysLayerContract } from "../../../lib/testing/contracts/obeys-layer-contract.js";

const FLOOR = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "strict-origin-when-cross-origin",
};

describe("SecurityHeaders", () => {
  it("obeys the layer contract", () =>
    obeysLayerContract(new SecurityHeaders().withHsts().withCspNonce("'nonce-{nonce}'")));

  describe("on every response", () => {
    for (const [title, status, handler] of HANDLER_RESULTS) {
      it(`adds the security headers to ${title}`, async () => {
        await using stack = await Stack.of([new SecurityHeaders()], handler);

        const answer = await stack.ask();

        expect(answer.status).to.equal(status);
        expect(answer.headers).to.include(FLOOR);
      });
    }

    it("adds the security headers to the response to HEAD", async () => {
      await using stack = await Stack.of([new SecurityHeaders()], () => "hello");

      const answer = await stack.ask("/", { method: "HEAD" });

      expect(answer.headers).to.include({ ...FLOOR, "content-length": "5" });
    });

    it("refuses a line break in a header of a handler", async () => {
      await using stack = await Stack.of([new SecurityHeaders()], (ctx) => {
        ctx.set("X-Bad", "a\r\nSet-Cookie: b=1");
        return "hello";
      });

      const text = await stack.raw("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

      expect(text).to.match(/^HTTP\/1\.1 500 /);
      expect(text.toLowerCase()).not.to.contain("set-cookie");
    });
  });

  describe("for the headers of a response", () => {
    const own: readonly (readonly [string, string])[] = [
      ["X-Frame-Options", "SAMEORIGIN"],
      ["x-content-type-options", "other"],
      ["REFERRER-POLICY", "no-referrer"],
      ["Strict-Transport-Security", "max-age=0"],
      ["content-security-policy", "default-src *"],
    ];

    for (const [name, value] of own) {
      it(`retains the ${name} of a handler`, async () => {
        const layer = new SecurityHeaders().withHsts().withCspNonce("script-src 'nonce-{nonce}'");
        await using stack = await Stack.of([layer], (ctx) => {
          ctx.set(name, value);
          return "hello";
        });

        const answer = await stack.ask();

        expect(valuesOf(answer, name.toLowerCase())).to.deep.equal([value]);
      });
    }

    it("adds each security header once", async () => {
      await using stack = await Stack.of(
        [new SecurityHeaders().withHsts().withCsp("default-src 'self'")],
        () => "hello",
      );

      const answer = await stack.ask();

      const names = answer.rawHeaders.filter((_each, at) => at % 2 === 0).map((name) => name.toLowerCase());
      expect(names).to.have.length(new Set(names).size);
    });
  });

  it("adds neither HSTS nor a policy by default", async () => {
    await using stack = await Stack.of([new SecurityHeaders()], () => "hello");

    const { headers } = await stack.ask();

    expect(headers).not.to.have.any.keys("strict-transport-security", "content-security-policy");
  });

  it("adds HSTS for a year with subdomains", async () => {
    await using stack = await Stack.of([new SecurityHeaders().withHsts()], () => "hello");

    const { headers } = await stack.ask();

    expect(headers).to.include({ "strict-transport-security": "max-age=31536000; includeSubDomains" });
  });

  describe("the policy", () => {
    const rows: readonly (readonly [string, SecurityHeaders, RegExp])[] = [
      ["is the given text", new SecurityHeaders().withCsp("default-src 'self'"), /^default-src 'self'$/],
      [
        "has the nonce at each placeholder",
        new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'"),
        /^script-src 'nonce-([\w+/]{24})'; style-src 'nonce-\1'$/,
      ],
      [
        "is the last one: a text after a template",
        new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'").withCsp("default-src 'none'"),
        /^default-src 'none'$/,
      ],
      [
        "is the last one: a template after a text",
        new SecurityHeaders().withCsp("default-src 'none'").withCspNonce("script-src 'nonce-{nonce}'"),
        /^script-src 'nonce-[\w+/]{24}'$/,
      ],
    ];

    for (const [title, layer, policy] of rows) {
      it(`of a Content-Security-Policy ${title}`, async () => {
        await using stack = await Stack.of([layer], () => "hello");

        const { headers } = await stack.ask();

        expect(headers["content-security-policy"]).to.match(policy);
      });
    }

    const refused: readonly (readonly [string, () => unknown, string])[] = [
      [
        "a template without {nonce}",
        () => new SecurityHeaders().withCspNonce("script-src 'self'"),
        "E_CSP_PLACEHOLDER",
      ],
      ["an empty template", () => new SecurityHeaders().withCspNonce(""), "E_CSP_PLACEHOLDER"],
      ["a template with {NONCE}", () => new SecurityHeaders().withCspNonce("'nonce-{NONCE}'"), "E_CSP_PLACEHOLDER"],
      ["a line feed in a policy", () => new SecurityHeaders().withCsp("default-src\n'self'"), "E_HEADER_VALUE"],
      ["a carriage return in a policy", () => new SecurityHeaders().withCsp("a\rb"), "E_HEADER_VALUE"],
      ["a NUL in a policy", () => new SecurityHeaders().withCsp("a\0b"), "E_HEADER_VALUE"],
      ["a DEL in a policy", () => new SecurityHeaders().withCsp("a\x7fb"), "E_HEADER_VALUE"],
      [
        "a character that no header can hold",
        () => new SecurityHeaders().withCsp("img-src https://→"),
        "E_HEADER_VALUE",
      ],
      [
        "a letter outside ASCII",
        () => new SecurityHeaders().withCsp("img-src https://caf\u00e9.example"),
        "E_HEADER_VALUE",
      ],
      ["an empty policy", () => new SecurityHeaders().withCsp(""), "E_HEADER_VALUE"],
      ["a policy of spaces", () => new SecurityHeaders().withCsp("  "), "E_HEADER_VALUE"],
      [
        "a policy that is not a string",
        () => new SecurityHeaders().withCsp(undefined as unknown as string),
        "E_HEADER_VALUE",
      ],
      ["a line feed in a template", () => new SecurityHeaders().withCspNonce("{nonce}\n"), "E_HEADER_VALUE"],
    ];

    for (const [title, build, code] of refused) {
      it(`refuses ${title}`, () => {
        const error = errorOf(build);

        expect(error).to.be.instanceOf(FrameworkError).with.property("code", code);
      });
    }
  });

  describe("the nonce", () => {
    it("is the value that the handler reads", async () => {
      await using stack = await Stack.of([withNonce()], (ctx) => CspNonce.of(ctx).attribute());

      const answer = await stack.ask();

      const [, nonce] = /^ nonce="([\w+/]{24})"$/.exec(answer.text) ?? [];
      expect(answer.headers["content-security-policy"]).to.equal(`script-src 'nonce-${nonce}'`);
    });

    it("exists also when the handler sets its own policy", async () => {
      await using stack = await Stack.of([withNonce()], (ctx) => {
        ctx.set("Content-Security-Policy", `script-src 'nonce-${CspNonce.of(ctx).value}'`);
        return CspNonce.find(ctx)?.value;
      });

      const answer = await stack.ask();

      expect(answer.headers["content-security-policy"]).to.equal(`script-src 'nonce-${answer.text}'`);
    });

    it("differs for each request", async () => {
      await using stack = await Stack.of([withNonce()], (ctx) => CspNonce.of(ctx).value);

      const answers = await Promise.all(Array.from({ length: 20 }, () => stack.ask()));

      expect(new Set(answers.map(({ text }) => text)).size).to.equal(20);
    });

    it("stays the same in the response to an unhandled error", async () => {
      const seen: string[] = [];
      await using stack = await Stack.of([withNonce()], (ctx) => {
        seen.push(CspNonce.of(ctx).value);
        throw new Error("boom");
      });

      const answer = await stack.ask();

      expect(answer.status).to.equal(500);
      expect(answer.headers["content-security-policy"]).to.equal(`script-src 'nonce-${seen[0]}'`);
    });

    it("sets no Cache-Control for a page with a nonce", async () => {
      await using stack = await Stack.of([withNonce()], () => Reply.html("<p>"));

      expect((await stack.ask()).headers).not.to.have.property("cache-control");
    });

    it("does not exist without its stage", async () => {
      await using stack = await Stack.of([new SecurityHeaders()], (ctx) => ({ found: CspNonce.find(ctx) ?? "none" }));

      expect(JSON.parse((await stack.ask()).text)).to.deep.equal({ found: "none" });
    });

    it("gives a 500 when a handler reads it without its stage", async () => {
      await using stack = await Stack.of([], (ctx) => CspNonce.of(ctx).value);

      expect((await stack.ask()).status).to.equal(500);
    });
  });
});

function withNonce(): SecurityHeaders {
  return new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'");
}
