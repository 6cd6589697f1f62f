/**
 * Who the spans are from: `service.name` and nothing else (specification 2.9). The SDK's own ways to a resource add what they detect,
 * or come from a package of their own.
 */
import type { TracerConfig } from "@opentelemetry/sdk-trace-base";

type Resource = NonNullable<TracerConfig["resource"]>;

export class ServiceResource implements Resource {
  readonly attributes: Resource["attributes"];

  constructor(serviceName: string) {
    this.attributes = Object.freeze({ "service.name": serviceName });
  }

  /** Whatever else is offered is not taken. */
  merge(): Resource {
    return this;
  }

  getRawAttributes(): ReturnType<Resource["getRawAttributes"]> {
    return Object.entries(this.attributes);
  }
}
