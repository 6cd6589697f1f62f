import { installLogging } from "@stagecraft/framework/observe";
import { linksApplication } from "./application.js";

const telemetry = await telemetryFrom(process.env["OTLP_ENDPOINT"]);
const cache = await cacheFrom(process.env["REDIS_URL"]);

installLogging("info,links=debug", ...telemetry.layers);
await linksApplication(process.env, cache)
  .provide(...telemetry.bindings)
  .build()
  .run();

/** Spans go to the collector that the environment names; without one, no OpenTelemetry package is loaded. */
async function telemetryFrom(endpoint = "") {
  if (endpoint.trim() === "") return { layers: [], bindings: [] };
  const { collectSpans } = await import("./telemetry.js");
  return collectSpans(endpoint);
}

/** One quota for all instances where the environment names a Redis; else each has its own, and no driver is loaded. */
async function cacheFrom(url: string | undefined) {
  if (url === undefined) return undefined;
  const { sharedCache } = await import("./shared-cache.js");
  return sharedCache(url);
}
