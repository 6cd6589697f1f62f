import { provide } from "@stagecraft/framework";
import { Telemetry } from "@stagecraft/framework/observe/otel";

/** The layer that exports spans, and the binding that has the application flush it last. */
export function collectSpans(endpoint: string) {
  const telemetry = Telemetry.builder("links").endpoint(endpoint).timeout(5000).build();
  return { layers: [telemetry.tracingLayer()], bindings: [provide(Telemetry).useValue(telemetry)] };
}
