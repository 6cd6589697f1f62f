import { expect } from "chai";
import * as fc from "fast-check";
import type { CorsOptions, OriginPredicate } from "../../../lib/stages/cors/cors-options.js";
import { CorsLayer } from "../../../lib/stages/cors/cors.js";
import { SecurityHeaders } from "../../../lib/stages/security-headers/security-headers.js";
import type { Context } from "../../../lib/http/request/context.js";
import { FrameworkError, NotFoundError } from "../../../lib/errors/framework-error.js";
import { AccessLogLayer } from "../../../lib/stages/access-log.js";
import { Conversation } from "../../support/conversation.js";
import { errorOf } from "../../support/error-of.js";
import { Gate } from "../../support/gate.js";
import { type ReceivedResponse, Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";
import { TracingRecorder } from "../../support/tracing-recorder.js";
import { obeysLayerContract } from "../../../lib/testing/contracts/obeys-layer-contract.js";

const APP = "https://app.example";
const PREFLIGHT_READS = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";

describe("CorsLayer", () => {
  it("obeys the layer contract", () =>
    obeysLayerContract(new CorsLayer({ origins: ["https://app.example"], credentials: true }), {
      request: { headers: { origin: "https://app.example" } },
      refused: {
        method: "OPTIONS",
        headers: { origin: "https://app.example", "access-control-request-method": "PUT" },
      },
    }));

  it("obeys the layer contract with an asynchronous predicate", () =>
    obeysLayerContract(new CorsLayer({ origins: async () => true }), {
      request: { headers: { origin: "https://app.example" } },
    }));

  describe("an ordinary request", () => {
    const listed: CorsOptions = { origins: [APP, "http://localhost:5173", "null", "https://Upper.Example"] };
    const rows: readonly (readonly [string, CorsOptions, string | undefined, Record<string, string>])[] = [
      ["names an allowed origin", listed, APP, { "access-control-allow-origin": APP, vary: "Origin" }],
      ["names an allowed origin with a port", listed, "http://localhost:5173", allowed("http://localhost:5173")],
      ["says null where null is listed", listed, "null", allowed("null")],
      ["names a listed origin in lower case", listed, "https://upper.example", allowed("https://upper.example")],
      ["names a listed origin in another case", listed, "HTTPS://App.Example", allowed("HTTPS://App.Example")],
      ["names an origin that is not listed", listed, "https://evil.example", { vary: "Origin" }],
      ["names a listed origin on another port", listed, `${APP}:8443`, { vary: "Origin" }],
      ["names a listed origin by another scheme", listed, "http://app.example", { vary: "Origin" }],
      ["names a subdomain of a listed origin", listed, "https://x.app.example", { vary: "Origin" }],
      ["names an origin that ends like a listed one", listed, "https://evilapp.example", { vary: "Origin" }],
      ["names an origin that starts like a listed one", listed, "https://app.example.evil", { vary: "Origin" }],
      ["names a listed origin and a slash", listed, `${APP}/`, { vary: "Origin" }],
      ["names two origins", listed, `${APP}, ${APP}`, { vary: "Origin" }],
      ["names an empty origin", listed, "", { vary: "Origin" }],
      ["says null where null is not listed", { origins: [APP] }, "null", { vary: "Origin" }],
      ["names no origin", listed, undefined, { vary: "Origin" }],
      ["may come from any origin", { origins: "*" }, "https://any.example", { "access-control-allow-origin": "*" }],
      ["may come from any origin, also null", { origins: "*" }, "null", { "access-control-allow-origin": "*" }],
      ["may come from any origin, also from none", { origins: "*" }, undefined, { "access-control-allow-origin": "*" }],
      [
        "may carry credentials",
        { origins: [APP], credentials: true },
        APP,
        { ...allowed(APP), "access-control-allow-credentials": "true" },
      ],
      [
        "may read more headers",
        { origins: [APP], exposeHeaders: ["X-Total", "ETag"] },
        APP,
        { ...allowed(APP), "access-control-expose-headers": "X-Total, ETag" },
      ],
      [
        "names an origin that is not listed, with other options",
        { origins: [APP], credentials: true, exposeHeaders: ["ETag"] },
        "https://evil.example",
        { vary: "Origin" },
      ],
    ];

    for (const [title, options, origin, headers] of rows) {
      it(`gets its headers where it ${title}`, async () => {
        await using stack = await Stack.of([new CorsLayer(options)], () => "hello");

        const answer = await stack.ask("/", { headers: origin === undefined ? {} : { origin } });

        expect(answer.text).to.equal("hello");
        expect(corsOf(answer)).to.deep.equal(headers);
      });
    }
  });

  describe("a predicate", () => {
    const rows: readonly (readonly [string, CorsOptions["origins"], string, boolean])[] = [
      ["allows", isOurs, APP, true],
      ["refuses", isOurs, "https://app.evil", false],
      ["allows asynchronously", async (origin) => isOurs(origin), APP, true],
      ["refuses asynchronously", async (origin) => isOurs(origin), "https://app.evil", false],
      ["sees the request", (_origin, ctx) => ctx.path === "/", APP, true],
      ["is not called for null", () => true, "null", false],
      ["is not called for a list", () => true, `https://evil.test, ${APP}`, false],
      ["is not called for a path", () => true, "https://evil.test/.example", false],
      ["is not called for a user", () => true, "https://evil.test@app.example", false],
      ["is not called without a scheme", () => true, "app.example", false],
    ];

    for (const [title, origins, origin, isAllowed] of rows) {
      it(`that decides about origins ${title}`, async () => {
        await using stack = await Stack.of([new CorsLayer({ origins })], () => "hello");

        const answer = await stack.ask("/", { headers: { origin } });

        expect(corsOf(answer)).to.deep.equal(isAllowed ? allowed(origin) : { vary: "Origin" });
      });
    }

    const failing: readonly (readonly [string, OriginPredicate])[] = [
      ["throws", broken],
      ["rejects", async () => broken()],
    ];
    for (const [how, origins] of failing) {
      it(`that ${how} is a 500 without access, which varies by origin`, async () => {
        await using stack = await Stack.of([new CorsLayer({ origins })], () => "hello");

        const answer = await stack.ask("/", { headers: { origin: APP } });
        const headers = { origin: APP, "access-control-request-method": "PUT" };
        const ahead = await stack.ask("/", { method: "OPTIONS", headers });

        expect([answer.status, ahead.status]).to.deep.equal([500, 500]);
        expect([corsOf(answer), corsOf(ahead)]).to.deep.equal([{ vary: "Origin" }, { vary: PREFLIGHT_READS }]);
      });
    }
  });

  describe("on error responses", () => {
    const errors: readonly (readonly [string, number, (ctx: Context) => unknown])[] = [
      ["an error with a status", 404, () => Promise.reject(new NotFoundError("no"))],
      ["ctx.throw", 403, (ctx) => ctx.throw(403)],
      ["an unhandled error", 500, () => Promise.reject(new Error("boom"))],
      ["a status without a body", 404, (ctx) => void (ctx.status = 404)],
      ["a write by hand", 503, (ctx) => void ctx.res.writeHead(503).end()],
    ];

    for (const [title, status, handler] of errors) {
      it(`adds its CORS headers to ${title}`, async () => {
        await using stack = await Stack.of([new CorsLayer({ origins: [APP], credentials: true })], handler);

        const answer = await stack.ask("/", { headers: { origin: APP } });

        expect(answer.status).to.equal(status);
        expect(corsOf(answer)).to.deep.equal({ ...allowed(APP), "access-control-allow-credentials": "true" });
      });
    }
  });

  describe("a handler's own headers", () => {
    it("are merged into one Vary", async () => {
      await using stack = await Stack.of([new CorsLayer({ origins: [APP] })], (ctx) => {
        ctx.set("Vary", "Accept, origin");
        return "hello";
      });

      const answer = await stack.ask("/", { headers: { origin: APP } });

      expect(answer.headers.vary).to.equal("Accept, origin");
    });

    it("cannot give access to an origin that is not allowed", async () => {
      await using stack = await Stack.of([new CorsLayer({ origins: [APP] })], (ctx) => {
        ctx.set({ "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "true" });
        return "hello";
      });

      const answer = await stack.ask("/", { headers: { origin: "https://evil.example" } });

      expect(corsOf(answer)).to.deep.equal({ vary: "Origin" });
    });

    it("may expose another header than the options", async () => {
      await using stack = await Stack.of([new CorsLayer({ origins: [APP] })], (ctx) => {
        ctx.set("Access-Control-Expose-Headers", "X-Page");
        return "hello";
      });

      const answer = await stack.ask("/", { headers: { origin: APP } });

      expect(corsOf(answer)).to.deep.equal({ ...allowed(APP), "access-control-expose-headers": "X-Page" });
    });
  });

  describe("a preflight", () => {
    const rows: readonly (readonly [string, CorsOptions, Record<string, string>, Record<string, string>])[] = [
      [
        "names the allowed methods, and repeats the requested headers",
        { origins: [APP] },
        { origin: APP, "access-control-request-headers": "content-type, x-token" },
        { ...preflight(APP), "access-control-allow-headers": "content-type, x-token" },
      ],
      ["asks for no headers", { origins: [APP] }, { origin: APP }, preflight(APP)],
      [
        "names the configured headers",
        { origins: [APP], allowHeaders: ["X-Token"] },
        { origin: APP, "access-control-request-headers": "content-type" },
        { ...preflight(APP), "access-control-allow-headers": "X-Token" },
      ],
      [
        "does not repeat a text that is not a list of names",
        { origins: [APP] },
        { origin: APP, "access-control-request-headers": 'x-a, "b";c' },
        preflight(APP),
      ],
      [
        "names the methods, the age and credentials",
        { origins: [APP], methods: ["GET", "PUT"], maxAge: 600, credentials: true },
        { origin: APP },
        {
          ...preflight(APP),
          "access-control-allow-methods": "GET, PUT",
          "access-control-allow-credentials": "true",
          "access-control-max-age": "600",
        },
      ],
      ["from any origin", { origins: "*" }, { origin: "https://any.example" }, preflight("*")],
      [
        "from an origin that is not allowed",
        { origins: [APP] },
        { origin: "https://evil.example" },
        { vary: PREFLIGHT_READS },
      ],
      [
        "into the private network, when it is allowed",
        { origins: [APP], privateNetwork: true },
        { origin: APP, "access-control-request-private-network": "true" },
        { ...preflight(APP), "access-control-allow-private-network": "true" },
      ],
      [
        "into the private network, when the browser does not ask",
        { origins: [APP], privateNetwork: true },
        { origin: APP },
        preflight(APP),
      ],
      [
        "into the private network, when it is not allowed",
        { origins: [APP] },
        { origin: APP, "access-control-request-private-network": "true" },
        preflight(APP),
      ],
      [
        "into the private network, from an origin that is not allowed",
        { origins: [APP], privateNetwork: true },
        { origin: "https://evil.example", "access-control-request-private-network": "true" },
        { vary: PREFLIGHT_READS },
      ],
    ];

    for (const [title, options, headers, expected] of rows) {
      it(`gets a 204 without a call of the inner stages: ${title}`, async () => {
        const woken: string[] = [];
        await using stack = await Stack.of([new CorsLayer(options)], ({ method }) => woken.push(method));

        const answer = await stack.ask("/", {
          method: "OPTIONS",
          headers: { "access-control-request-method": "PUT", ...headers },
        });

        expect(answer.status).to.equal(204);
        expect(answer.text).to.equal("");
        expect(answer.headers).not.to.have.any.keys("content-length", "content-type");
        expect(corsOf(answer)).to.deep.equal(expected);
        expect(woken).to.deep.equal([]);
      });
    }

    it("carries the security headers of the outer stage", async () => {
      await using stack = await Stack.of([new SecurityHeaders(), new CorsLayer({ origins: [APP] })]);

      const answer = await stack.ask("/", {
        method: "OPTIONS",
        headers: { origin: APP, "access-control-request-method": "PUT" },
      });

      expect(answer.headers).to.include({ "x-frame-options": "DENY", "access-control-allow-origin": APP });
    });

    it("repeats no byte that could end a line", async () => {
      await using stack = await Stack.of([new CorsLayer({ origins: [APP] })]);

      const text = await stack.raw(
        `OPTIONS / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: ${APP}\r\nAccess-Control-Request-Method: PUT\r\n` +
          "Access-Control-Request-Headers: x-a\u0085\u00e9set-cookie: b\r\n\r\n",
      );

      expect(text).to.match(/^HTTP\/1\.1 204 /);
      expect(text.toLowerCase()).not.to.contain("allow-headers");
    });
  });

  describe("an OPTIONS request that is no preflight", () => {
    const rows: readonly (readonly [string, Record<string, string>])[] = [
      ["without an origin", { "access-control-request-method": "PUT" }],
      ["without a requested method", { origin: APP }],
      ["without CORS headers", {}],
    ];

    for (const [title, headers] of rows) {
      it(`reaches the handler: ${title}`, async () => {
        await using stack = await Stack.of([new CorsLayer({ origins: [APP] })], () => "mine");

        const answer = await stack.ask("/", { method: "OPTIONS", headers });

        expect(answer.text).to.equal("mine");
      });
    }
  });

  it("never names an origin that the list lacks", async () => {
    await using stack = await Stack.of([new CorsLayer({ origins: [APP] })], () => "hello");

    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[!-~]{1,40}$/), async (origin) => {
        const answer = await stack.ask("/", { headers: { origin } });

        expect(answer.headers).not.to.have.property("access-control-allow-origin");
      }),
      { numRuns: 50 },
    );
  });

  describe("a policy that cannot work", () => {
    // JavaScript callers may pass any value.
    const rows: readonly (readonly [string, unknown, string, RegExp])[] = [
      ["no origins", {}, "E_CORS_ORIGINS", /origins are missing/],
      ["an empty list", { origins: [] }, "E_CORS_ORIGINS", /origins are missing/],
      ["a string", { origins: APP }, "E_CORS_ORIGINS", /origins are missing/],
      ["a star in the list", { origins: ["*"] }, "E_CORS_ORIGINS", /origins: "\*"/],
      ["a pattern", { origins: ["https://*.example"] }, "E_CORS_ORIGINS", /predicate/],
      ["a path", { origins: [`${APP}/a`] }, "E_CORS_ORIGINS", /write https:\/\/app\.example/],
      ["a trailing slash", { origins: [`${APP}/`] }, "E_CORS_ORIGINS", /write https:\/\/app\.example$/],
      ["a default port", { origins: [`${APP}:443`] }, "E_CORS_ORIGINS", /write https:\/\/app\.example$/],
      ["a host alone", { origins: ["app.example"] }, "E_CORS_ORIGINS", /scheme:\/\/host/],
      ["a line break", { origins: [`${APP}\r\n`] }, "E_CORS_ORIGINS", /write https:\/\/app\.example$/],
      ["all origins with credentials", { origins: "*", credentials: true }, "E_CORS_WILDCARD", /credentials/],
      [
        "all origins with a truthy value for credentials",
        { origins: "*", credentials: "yes" },
        "E_CORS_WILDCARD",
        /credentials/,
      ],
      ["a bare method", { origins: [APP], methods: "GET" }, "E_CORS_METHOD", /methods: "GET"/],
      ["a bare header", { origins: [APP], allowHeaders: "X-Total" }, "E_CORS_HEADER", /allowHeaders: "X-Total"/],
      ["any method with credentials", { origins: [APP], credentials: true, methods: ["*"] }, "E_CORS_WILDCARD", /name/],
      [
        "any header with credentials",
        { origins: [APP], credentials: true, allowHeaders: ["*"] },
        "E_CORS_WILDCARD",
        /name/,
      ],
      [
        "exposing all with credentials",
        { origins: [APP], credentials: true, exposeHeaders: ["*"] },
        "E_CORS_WILDCARD",
        /name/,
      ],
      ["an invalid method", { origins: [APP], methods: ["GET, PUT"] }, "E_CORS_METHOD", /"GET, PUT"/],
      [
        "an exposed header that is not a string",
        { origins: [APP], exposeHeaders: [{ toString: () => "a" }] },
        "E_CORS_HEADER",
        /exposeHeaders/,
      ],
      ["an invalid header", { origins: [APP], allowHeaders: ["a b"] }, "E_CORS_HEADER", /"a b"/],
      [
        "an exposed header with a line break",
        { origins: [APP], exposeHeaders: ["a\n"] },
        "E_CORS_HEADER",
        /exposeHeaders/,
      ],
      ["a negative age", { origins: [APP], maxAge: -1 }, "E_CORS_MAX_AGE", /-1/],
      ["a fractional age", { origins: [APP], maxAge: 0.5 }, "E_CORS_MAX_AGE", /0\.5/],
      ["an infinite age", { origins: [APP], maxAge: Infinity }, "E_CORS_MAX_AGE", /Infinity/],
    ];

    for (const [title, options, code, message] of rows) {
      it(`is refused with ${code}: ${title}`, () => {
        // JavaScript callers may pass any value.
        const error = errorOf(() => new CorsLayer(options as CorsOptions));

        expect(error).to.be.instanceOf(FrameworkError).with.property("code", code);
        expect(error.message).to.match(message);
      });
    }
  });

  it("calls no inner stage for a client that left while a predicate decided", async () => {
    const decided = new Gate<boolean>();
    let seen: Context | undefined;
    let handled = 0;
    const origins = (_origin: string, ctx: Context): Promise<boolean> => {
      seen = ctx;
      return decided.passed;
    };
    const witness = new TracingRecorder();
    await using stack = await witness.run(() =>
      Stack.of([new CorsLayer({ origins }), new AccessLogLayer()], () => void handled++),
    );
    await using client = await Conversation.with(stack.port);
    client.say("GET / HTTP/1.1\r\nHost: a\r\nOrigin: https://a.example\r\n\r\n");
    await until(() => seen !== undefined);

    client.socket.destroy();
    await until(() => seen?.isClientGone === true);
    decided.open(true);
    await until(() => witness.events.length > 0);

    expect(handled).to.equal(0);
    expect(witness.events.map(({ fields }) => fields["status"])).to.deep.equal([499]);
  });
});

function isOurs(origin: string): boolean {
  return origin.endsWith(".example");
}

function broken(): boolean {
  throw new Error("no database");
}

function allowed(origin: string): Record<string, string> {
  return { "access-control-allow-origin": origin, vary: "Origin" };
}

function preflight(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE, QUERY",
    vary: PREFLIGHT_READS,
  };
}

/** The CORS headers and Vary. */
function corsOf({ headers }: ReceivedResponse): Record<string, unknown> {
  const ours = Object.entries(headers).filter(([name]) => name === "vary" || name.startsWith("access-control-"));
  return Object.fromEntries(ours);
}
