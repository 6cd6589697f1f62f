/**
 * How a telemetry is put together. Every method returns the builder; what is not called is left to the exporter, which has defaults and
 * standard environment variables of its own.
 *
 * @example
 * const telemetry = Telemetry.builder("shop").endpoint("http://collector.internal:4317").timeout(2000).metrics(metrics).build();
 */
import { SystemClock, type Clock } from "../runtime/clock.js";
import type { SpanCounter } from "./dropped-spans.js";
import type { TelemetrySettings } from "./telemetry-settings.js";
import type { Telemetry } from "./telemetry.js";

export class TelemetryBuilder {
  private target: string | undefined;
  private timeoutMs: number | undefined;
  private counter: SpanCounter | undefined;
  private time: Clock = new SystemClock();

  /** Use `Telemetry.builder(serviceName)`. */
  constructor(
    private readonly serviceName: string,
    private readonly finish: (settings: TelemetrySettings, clock: Clock, counter: SpanCounter | undefined) => Telemetry,
  ) {}

  /** Where the collector listens: an http or https URL of host and port, for example `DEFAULT_ENDPOINT`. */
  endpoint(url: string): this {
    this.target = url;
    return this;
  }

  /** How long one export, and `shutdown`, may take, in milliseconds; the exporter's own is 10 000. */
  timeout(ms: number): this {
    this.timeoutMs = ms;
    return this;
  }

  /** Where `framework_spans_dropped_total` is counted: a `Metrics`, or whatever counts like one. */
  metrics(counter: SpanCounter): this {
    this.counter = counter;
    return this;
  }

  /** What spans, batches and timeouts are timed by; without it the machine's clock. */
  clock(clock: Clock): this {
    this.time = clock;
    return this;
  }

  /**
   * Opens nothing: the connection is made for the first batch.
   *
   * @throws FrameworkError `E_TELEMETRY_NAME`, `E_TELEMETRY_ENDPOINT`, `E_TELEMETRY_TIMEOUT`
   */
  build(): Telemetry {
    const { serviceName, target: endpoint, timeoutMs } = this;
    return this.finish({ serviceName, endpoint, timeoutMs }, this.time, this.counter);
  }
}
