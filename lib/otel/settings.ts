/** What a telemetry is built from, and the judgement of it. */
import { FrameworkError } from "../errors/framework-error.js";
import { LONGEST_TIMER_MS } from "../runtime/clock.js";

/** Where spans are sent: an `http:` or `https:` URL of a host and a port, because that is all that gRPC takes of it. */
const SHOWN_CHARACTERS = 100;

/** @throws FrameworkError `E_TELEMETRY_ENDPOINT` */
export function readEndpoint(given: unknown): string {
  // Where there is no compiler it may be anything.
  const endpoint = String(given);
  const url = parse(endpoint);
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw refusal(endpoint, "is no http or https URL");
  if (url.username !== "" || url.password !== "") throw refusal(endpoint, "carries credentials, which are never sent");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw refusal(endpoint, "has more than host and port");
  // Without one, and without the one that URLs leave out, gRPC goes to 443, whatever the scheme.
  if (url.protocol === "http:" && url.port === "") throw refusal(endpoint, "names no port, or 80, which is not kept");
  return url.origin;
}

function parse(endpoint: string): URL | undefined {
  return URL.canParse(endpoint) ? new URL(endpoint) : undefined;
}

function refusal(endpoint: string, why: string): FrameworkError {
  return new FrameworkError(`the endpoint ${shown(endpoint)} ${why}: write it like http://127.0.0.1:4317`, {
    code: "E_TELEMETRY_ENDPOINT",
  });
}

// Whatever stands before an @ or behind a ? may be a secret.
function shown(endpoint: string): string {
  return /[@?]/.test(endpoint) ? "(withheld)" : JSON.stringify(endpoint.slice(0, SHOWN_CHARACTERS));
}

export interface TelemetrySettings {
  readonly serviceName: string;
  /** `undefined`: the exporter's own default, and its standard environment variables. */
  readonly endpoint: string | undefined;
  /** Milliseconds; `undefined`: the exporter's own, and its standard environment variables. */
  readonly timeoutMs: number | undefined;
}

/** @throws FrameworkError `E_TELEMETRY_NAME`, `E_TELEMETRY_ENDPOINT`, `E_TELEMETRY_TIMEOUT` */
export function checkSettings({ serviceName, endpoint, timeoutMs }: TelemetrySettings): TelemetrySettings {
  if (typeof serviceName !== "string" || serviceName.trim() === "") {
    const given = typeof serviceName === "string" ? JSON.stringify(serviceName) : String(serviceName);
    throw new FrameworkError(
      `the service name is ${given}: give Telemetry.builder() the name its spans are to be found under`,
      { code: "E_TELEMETRY_NAME" },
    );
  }
  if (timeoutMs !== undefined && !isTimeout(timeoutMs)) {
    throw new FrameworkError(
      `the timeout is ${String(timeoutMs)}: give milliseconds, above 0 and at most ${LONGEST_TIMER_MS}`,
      {
        code: "E_TELEMETRY_TIMEOUT",
      },
    );
  }
  return { serviceName, endpoint: endpoint === undefined ? undefined : readEndpoint(endpoint), timeoutMs };
}

function isTimeout(ms: unknown): boolean {
  return typeof ms === "number" && ms > 0 && ms <= LONGEST_TIMER_MS;
}
