/**
 * Sends the span of one request, which continues a trace, to a collector over gRPC, with the OpenTelemetry packages beside this file.
 * Usage: node export.mjs <built clone of the repository>
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Application, Route, Routes } from "@stagecraft/framework";
import { installLogging } from "@stagecraft/framework/observe";
import { Telemetry } from "@stagecraft/framework/observe/otel";

const { attributesOf, Collector, hex } = await import(
  pathToFileURL(join(process.argv[2], "dist/spec/observe/otel/collector.js")).href
);
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

const collector = await Collector.start();
const telemetry = Telemetry.builder("peers").endpoint(collector.endpoint).timeout(5000).build();
installLogging("warn", telemetry.tracingLayer());
const listener = createServer().listen(0, "127.0.0.1");
await once(listener, "listening");
const running = await Application.create()
  .routes(new Routes([Route.get("/hello", () => "Hello")]))
  .requestId()
  .traceContext()
  .accessLog()
  .build()
  .serve(listener);

const url = `http://127.0.0.1:${listener.address().port}/hello`;
const response = await fetch(url, { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
assert.equal(await response.text(), "Hello");
await running.stop();
await telemetry.shutdown();
collector.stop();

// The span that continues the trace, and within it that of the request itself.
const outer = collector.spans.find(({ parentSpanId }) => hex(parentSpanId) === PARENT);
const inner = collector.spans.find(({ parentSpanId }) => parentSpanId === outer.spanId);
assert.deepEqual(
  [outer, inner].map(({ name }) => name),
  ["framework.request", "framework.request"],
);
assert.deepEqual(
  [outer, inner].map(({ traceId }) => hex(traceId)),
  [TRACE, TRACE],
);
assert.equal(attributesOf(inner).path, "/hello");
const [{ resourceSpans }] = collector.requests;
assert.deepEqual(attributesOf(resourceSpans[0].resource), { "service.name": "peers" });
console.log("exports a span");
