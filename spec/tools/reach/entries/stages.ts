import { strict as assert } from "node:assert";
import { Application, ErrorMapping, RateLimit, Route, Routes, SecurityHeaders } from "@stagecraft/framework";
import { Metrics } from "@stagecraft/framework/observe";
import { testApp } from "@stagecraft/framework/testing";

const text = "note ".repeat(1000);
const routes = new Routes([
  Route.get("/", () => text),
  Route.post("/", async (ctx) => ({ length: (await ctx.text()).length })),
]);
const builder = Application.create()
  .routes(routes)
  .compression()
  .securityHeaders(new SecurityHeaders().withCsp("default-src 'none'"))
  .cors({ origins: ["http://localhost:5173"] })
  .requestId()
  .traceContext()
  .accessLog()
  .metrics(new Metrics())
  .catchPanic()
  .errorMapping(new ErrorMapping())
  .bodyLimit(16 * 1024)
  .timeout(10_000, { status: 503 })
  .maintenance()
  .rateLimit(RateLimit.perSecond(20).burst(40));

const app = await testApp(builder);
const response = await fetch(app.url, { headers: { "accept-encoding": "gzip" } });
assert.equal(await response.text(), text);
assert.equal(response.headers.get("content-encoding"), "gzip");
assert.equal(response.headers.get("content-security-policy"), "default-src 'none'");
assert.ok(response.headers.has("x-request-id"));
const sent = await fetch(app.url, { method: "POST", body: "x".repeat(1000) });
assert.deepEqual(await sent.json(), { length: 1000 });
const refused = await fetch(app.url, { method: "POST", body: "x".repeat(20_000) });
assert.equal(refused.status, 413);
await refused.text();
await app.stop();
console.log("works");
