import { provide } from "@stagecraft/framework";
import { Metrics } from "@stagecraft/framework/observe";
import { Telemetry } from "@stagecraft/framework/observe/otel";

/** The layer that exports spans, the binding for the flush at the end, and the metrics of dropped spans. */
export function collectSpans(endpoint: string) {
  const metrics = new Metrics();
  const telemetry = Telemetry.builder("links").endpoint(endpoint).timeout(4000).metrics(metrics).build();
  return {
    layers: [telemetry.tracingLayer()],
    bindings: [provide(Telemetry).useValue(telemetry), provide(Metrics).useValue(metrics)],
  };
}
