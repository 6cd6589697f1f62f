/**
 * Span export: sends every span of the tracing facade to a collector, over OTLP/gRPC, and touches nothing global. It is a value:
 * build it, put its layer beside the log's, provide it, and the application shuts it down last in its drain.
 *
 * Fields of spans are exported as they are: unlike in the JSON log, **they are not redacted**. The text of a failure that ends a span is
 * redacted by name, as in the log. Not for events, which stay in the log, nor for metrics.
 *
 * @example
 * const telemetry = Telemetry.builder("shop").endpoint("http://collector.internal:4317").build();
 * installLogging("info", telemetry.tracingLayer());
 * await Application.create(Shop).provide(provide(Telemetry).useValue(telemetry)).traceContext().build().run();
 */
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import { SystemClock, type Clock, OVERDUE, within } from "../runtime/clock.js";
import { type SpanCounter, Delivery, DroppedSpans } from "./delivery.js";
import { type TelemetrySettings, checkSettings } from "./settings.js";
import { FrameworkError } from "../errors/framework-error.js";
import { ShutdownLast } from "../lifecycle/subsystem.js";
import type { TracingLayer } from "../tracing/tracing.js";
import { newExporter, newProvider } from "./exporter.js";
import { IdSource, SpanExportLayer, WallTime } from "./span-export-layer.js";
import { SpanQueue } from "./span-queue.js";
import { traceFetch, type Fetch } from "./traced-fetch.js";

/**
 * How a telemetry is put together. Every method returns the builder; what is not called is left to the exporter, which has defaults and
 * standard environment variables of its own.
 *
 * @example
 * const telemetry = Telemetry.builder("shop").endpoint("http://collector.internal:4317").timeout(2000).metrics(metrics).build();
 */
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

/** Where the exporter sends to when nothing says otherwise. Published for reference: the builder never sends it along. */
export const DEFAULT_ENDPOINT = "http://127.0.0.1:4317";

export class Telemetry extends ShutdownLast {
  private readonly settings: TelemetrySettings;
  private readonly exporter: SpanExporter;
  private readonly delivery: Delivery;
  private readonly queue: SpanQueue;
  private readonly layer: SpanExportLayer;
  private ended: Promise<void> | undefined;

  /** Use `Telemetry.builder(serviceName)`. Public because a class that can be injected has a public one. @internal */
  constructor(
    settings: TelemetrySettings,
    private readonly clock: Clock,
    counter?: SpanCounter,
  ) {
    super();
    this.settings = checkSettings(settings);
    const dropped = new DroppedSpans(counter);
    const ids = new IdSource();
    this.exporter = newExporter(this.settings);
    this.delivery = new Delivery(this.exporter, dropped);
    this.queue = new SpanQueue(this.delivery, dropped, clock);
    const provider = newProvider(this.settings.serviceName, ids, this.queue);
    this.layer = new SpanExportLayer(provider, ids, new WallTime(clock));
  }

  /** @param serviceName travels as `service.name`; required, never defaulted */
  static builder(serviceName: string): TelemetryBuilder {
    return new TelemetryBuilder(serviceName, (settings, clock, counter) => new Telemetry(settings, clock, counter));
  }

  /** The layer for the subscriber, always the same one: `installLogging(filter, telemetry.tracingLayer())`. */
  tracingLayer(): TracingLayer {
    return this.layer;
  }

  /**
   * A `fetch` whose every call is a client span, a child of the span it is made in, and carries `traceparent` and `tracestate` to the
   * other side, whoever that is: use it for services of your own.
   *
   * @param fetch what makes the calls; without it the global one
   */
  tracedFetch(fetch: Fetch = globalThis.fetch): Fetch {
    return traceFetch(this.layer, fetch);
  }

  /**
   * Sends what waits and closes the connection. A second call is the first one. Spans that end later are ignored.
   *
   * @throws FrameworkError `E_TELEMETRY_FLUSH`, as a rejection and within the timeout, where spans could not be delivered
   */
  override shutdown(): Promise<void> {
    return (this.ended ??= this.end());
  }

  private async end(): Promise<void> {
    this.layer.close();
    const overdue = (await this.flush()) === OVERDUE;
    if (overdue) this.delivery.abandon();
    const closed = this.exporter.shutdown().catch(() => undefined);
    if (overdue) throw this.undelivered(new Error(`no answer within ${this.settings.timeoutMs} ms`));
    await closed;
    const { loss } = this.delivery;
    if (loss !== undefined) throw this.undelivered(loss.cause);
  }

  // Without a timeout of ours, the exporter's own ends every call. Ours begins before the work does: to write many spans takes a while.
  private flush(): Promise<void | typeof OVERDUE> {
    const { timeoutMs } = this.settings;
    const flushed = Promise.resolve().then(() => this.queue.shutdown());
    return timeoutMs === undefined ? flushed : within(this.clock, timeoutMs, flushed);
  }

  private undelivered(cause: unknown): FrameworkError {
    const { serviceName, endpoint = "the exporter's endpoint" } = this.settings;
    return new FrameworkError(
      `spans of ${serviceName} were not delivered to ${endpoint}: is a collector listening there?`,
      {
        code: "E_TELEMETRY_FLUSH",
        cause,
      },
    );
  }
}
