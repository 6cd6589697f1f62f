import { installLogging } from "@stagecraft/framework/observe";
import { linksApplication } from "./application.js";

const telemetry = await telemetryFrom(process.env["OTLP_ENDPOINT"]);

installLogging("info,links=debug", ...telemetry.layers);
await linksApplication()
  .provide(...telemetry.bindings)
  .build()
  .run();

/** Spans go to the collector that the environment names; without one, no OpenTelemetry package is loaded. */
async function telemetryFrom(endpoint: string | undefined) {
  if (endpoint === undefined) return { layers: [], bindings: [] };
  const { collectSpans } = await import("./telemetry.js");
  return collectSpans(endpoint);
}
