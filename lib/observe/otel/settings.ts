/** The settings of a `Telemetry`, and their checks. */
import { valueText } from "../../errors/value-text.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { MAX_TIMER_MS } from "../../runtime/clock.js";
import { setupError } from "../../errors/setup-error.js";

export interface TelemetrySettings {
  readonly serviceName: string;
  /** `undefined`: the exporter's default or its standard environment variable. */
  readonly endpoint: string | undefined;
  /** Milliseconds; `undefined`: the exporter's default or its standard environment variable. */
  readonly timeoutMs: number | undefined;
}

const SHOWN_CHARACTERS = 100;

/** @throws FrameworkError `E_TELEMETRY_NAME`, `E_TELEMETRY_ENDPOINT`, `E_TELEMETRY_TIMEOUT` */
export function checkTelemetrySettings({ serviceName, endpoint, timeoutMs }: TelemetrySettings): TelemetrySettings {
  if (typeof serviceName !== "string" || serviceName.trim() === "") {
    const given = typeof serviceName === "string" ? JSON.stringify(serviceName) : valueText(serviceName);
    const message = `the service name is ${given}: give Telemetry.builder() the name of this service in the collector`;
    throw setupError(new FrameworkError(message, { code: "E_TELEMETRY_NAME" }));
  }
  if (timeoutMs !== undefined && !isTimeout(timeoutMs)) {
    const message = `the timeout is ${valueText(timeoutMs)}: give milliseconds, above 0 and at most ${MAX_TIMER_MS}`;
    throw setupError(new FrameworkError(message, { code: "E_TELEMETRY_TIMEOUT" }));
  }
  return { serviceName, endpoint: endpoint === undefined ? undefined : toOrigin(endpoint), timeoutMs };
}

function isTimeout(ms: unknown): boolean {
  return typeof ms === "number" && ms > 0 && ms <= MAX_TIMER_MS;
}

/**
 * The origin of an endpoint. gRPC uses only the scheme, the host and the port of a URL.
 *
 * @param given declared as a string, but a caller without a compiler may pass any value
 */
function toOrigin(given: unknown): string {
  const endpoint = String(given);
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw createEndpointError(endpoint, "is not an http or https URL");
  if (url.username !== "" || url.password !== "")
    throw createEndpointError(endpoint, "has credentials, which gRPC does not send");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw createEndpointError(endpoint, "has more than host and port");
  // Without a port gRPC connects to 443, also for http. `URL` drops port 80 from an http URL.
  if (url.protocol === "http:" && url.port === "") throw createEndpointError(endpoint, "has no port, or port 80");
  return url.origin;
}

function createEndpointError(endpoint: string, why: string): FrameworkError {
  const message = `the endpoint ${describeEndpoint(endpoint)} ${why}: write it like http://127.0.0.1:4317`;
  return setupError(new FrameworkError(message, { code: "E_TELEMETRY_ENDPOINT" }));
}

/** The text before an `@` and the text behind a `?` may be secret. */
function describeEndpoint(endpoint: string): string {
  return /[@?]/.test(endpoint) ? "(withheld)" : JSON.stringify(endpoint.slice(0, SHOWN_CHARACTERS));
}
