/** What a telemetry is built from, and the judgement of it. */
import { LONGEST_TIMER_MS } from "../runtime/clock.js";
import { FrameworkError } from "../errors/framework-error.js";
import { readEndpoint } from "./endpoint.js";

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
