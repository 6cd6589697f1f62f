import { expect } from "chai";
import { Application } from "../../lib/app/application.js";
import type { ApplicationBuilder } from "../../lib/app/builder.js";
import type { CorsOptions } from "../../lib/stages/cors/cors-options.js";
import { type ProxyRequest, ProxyAction } from "../../lib/stages/proxy.js";
import { SecurityHeaders } from "../../lib/stages/security-headers/security-headers.js";
import { Route } from "../../lib/routing/route.js";
import { Routes } from "../../lib/routing/routes.js";
import { testApp } from "../../lib/testing/test-app.js";
import { errorOf } from "../support/error-of.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const ORIGIN = "https://app.example";

describe("the outer stages of an application", () => {
  it("respond to a preflight with the security headers, without request id and access log", async () => {
    await using app = await testApp(everything());

    const response = await app.options("/data", {
      headers: { origin: ORIGIN, "access-control-request-method": "PUT" },
    });

    expect(response.status).to.equal(204);
    expect(response.headers.get("x-frame-options")).to.equal("DENY");
    expect(response.headers.get("access-control-allow-origin")).to.equal(ORIGIN);
    expect(response.headers.get("x-request-id")).to.equal(null);
    expect(app.logs.transcript()).not.to.contain("access_log");
  });

  it("rewrite the target before routing and logging, and never log the original", async () => {
    await using app = await testApp(everything().proxy(() => ProxyAction.rewrite("/data?token=hidden")));

    const response = await app.get("/old/canary");

    expect(await response.text()).to.equal("data");
    expect(app.logs.transcript())
      .to.contain('"path":"/data"')
      .and.not.to.contain("canary")
      .and.not.to.contain("hidden");
  });

  it("can rewrite to a health path", async () => {
    await using app = await testApp(everything().proxy(() => ProxyAction.rewrite("/up/live")));

    expect(await (await app.get("/whatever")).json()).to.deep.equal({ state: "ready" });
  });

  it("add no headers to the responses of proxy and health", async () => {
    await using app = await testApp(everything().proxy(closeOne));

    const responses = [await app.get("/closed", { headers: { origin: ORIGIN } }), await app.get("/up/live")];

    for (const { headers } of responses) {
      for (const name of ["x-frame-options", "access-control-allow-origin", "vary", "x-request-id"]) {
        expect(headers.get(name)).to.equal(null);
      }
    }
    expect(responses[0]?.headers.get("x-content-type-options")).to.equal("nosniff");
  });

  it("complete every error response: 400, 404, 405, 500", async () => {
    await using app = await testApp(everything());
    const headers = { origin: ORIGIN };

    const responses = [
      await app.get("/%zz", { headers }),
      await app.get("/nothing", { headers }),
      await app.post("/data", { headers }),
      await app.get("/broken", { headers }),
    ];

    expect(responses.map(({ status }) => status)).to.deep.equal([400, 404, 405, 500]);
    for (const response of responses) {
      expect(response.headers.get("content-type")).to.equal("application/problem+json");
      expect(response.headers.get("x-frame-options")).to.equal("DENY");
      expect(response.headers.get("content-security-policy")).to.match(/^script-src 'nonce-[\w+/]{24}'$/);
      expect(response.headers.get("access-control-allow-origin")).to.equal(ORIGIN);
      expect(response.headers.get("vary")?.split(", ")).to.have.members(["Origin", "Accept-Encoding"]);
      expect(response.headers.get("x-request-id")).to.have.length(36);
    }
  });

  it("have all wrong settings listed at once", () => {
    const builder = Application.create()
      .cors({ origins: "*", credentials: true })
      .compression({ brotliQuality: 99 })
      .staticFiles({ prefix: "build" });

    const error = startupErrorOf(() => builder.build());

    expect(String(error))
      .to.contain("E_CORS_WILDCARD")
      .and.contain("E_COMPRESSION_OPTION")
      .and.contain("E_STATIC_PREFIX");
  });

  it("are refused if one is configured twice", () => {
    const cors: CorsOptions = { origins: [ORIGIN] };

    const error = errorOf(() => Application.create().cors(cors).cors(cors).build());

    expect(String(error)).to.contain("E_STAGE_TWICE");
  });
});

function closeOne({ url }: ProxyRequest): ProxyAction {
  return url === "/closed" ? ProxyAction.shortCircuit(410) : ProxyAction.continue();
}

function everything(): ApplicationBuilder {
  const routes = new Routes([
    Route.get("/data", () => "data"),
    Route.get("/broken", () => Promise.reject(new Error("boom"))),
  ]);
  return Application.create()
    .routes(routes)
    .errorMapping()
    .catchPanic()
    .accessLog()
    .requestId()
    .cors({ origins: [ORIGIN] })
    .securityHeaders(new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'"))
    .compression();
}
