/**
 * Span export: sends every span to a collector, over OTLP/gRPC, without any global registration. Build a `Telemetry`, pass its layer to
 * `installLogging`, and provide it; the application shuts it down last in its drain. Not for events, which stay in the log, and not for
 * metrics.
 *
 * Span fields are exported unchanged: unlike in the JSON log, **they are not redacted**. The text of an error that ends a span is redacted
 * by name, as in the log.
 *
 * @example
 * const telemetry = Telemetry.builder("shop").endpoint("http://collector.internal:4317").build();
 * installLogging("info", telemetry.tracingLayer());
 * await Application.create(Shop).provide(provide(Telemetry).useValue(telemetry)).traceContext().build().run();
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { ShutdownLast } from "../../lifecycle/subsystem.js";
import { OVERDUE, SystemClock, within, type Clock } from "../../runtime/clock.js";
import type { TracingLayer } from "../../tracing/registry.js";
import { Delivery, DroppedSpans, type SpanCounter } from "./delivery.js";
import { createExporter, createProvider } from "./exporter.js";
import type { SpanExporter } from "./peers.js";
import { checkTelemetrySettings, type TelemetrySettings } from "./settings.js";
import { IdSource, SpanExportLayer, WallTime } from "./span-export-layer.js";
import { SpanQueue } from "./span-queue.js";
import { traceFetch, type Fetch } from "./traced-fetch.js";

/** The exporter's default endpoint, for reference. The builder does not pass it to the exporter. */
export const DEFAULT_ENDPOINT = "http://127.0.0.1:4317";

export class Telemetry extends ShutdownLast {
  private readonly settings: TelemetrySettings;
  private readonly exporter: SpanExporter;
  private readonly delivery: Delivery;
  private readonly queue: SpanQueue;
  private readonly layer: SpanExportLayer;
  private shutdownDone: Promise<void> | undefined;

  /** Use `Telemetry.builder(serviceName)`. Public because an injectable class needs a public constructor. @internal */
  constructor(
    settings: TelemetrySettings,
    private readonly clock: Clock,
    counter?: SpanCounter,
  ) {
    super();
    this.settings = checkTelemetrySettings(settings);
    const dropped = new DroppedSpans(counter);
    const ids = new IdSource();
    this.exporter = createExporter(this.settings);
    this.delivery = new Delivery(this.exporter, dropped, clock);
    this.queue = new SpanQueue(this.delivery, dropped, clock);
    const provider = createProvider(this.settings.serviceName, ids, this.queue);
    this.layer = new SpanExportLayer(provider, ids, new WallTime(clock));
  }

  /** @param serviceName the resource attribute `service.name`; it has no default */
  static builder(serviceName: string): TelemetryBuilder {
    return new TelemetryBuilder(serviceName, (settings, clock, counter) => new Telemetry(settings, clock, counter));
  }

  /** The layer for the log subscriber: `installLogging(filter, telemetry.tracingLayer())`. Each call returns the same layer. */
  override tracingLayer(): TracingLayer {
    return this.layer;
  }

  /**
   * A `fetch` that makes each call a client span, a child of the current span, and sends `traceparent` and `tracestate` with it. Every
   * server that is called receives these headers, so use it for services that you operate.
   *
   * @param fetch makes the calls; the default is the global `fetch`
   */
  tracedFetch(fetch: Fetch = globalThis.fetch): Fetch {
    return traceFetch(this.layer, fetch);
  }

  /**
   * Sends the waiting spans and closes the connection. A second call returns the same promise. Spans that end later are ignored.
   *
   * @throws FrameworkError `E_TELEMETRY_FLUSH`, as a rejection and within the timeout, if spans could not be delivered
   */
  override shutdown(): Promise<void> {
    return (this.shutdownDone ??= this.flushAndClose());
  }

  private async flushAndClose(): Promise<void> {
    this.layer.close();
    this.delivery.stopRetries();
    const isOverdue = (await this.flush()) === OVERDUE;
    if (isOverdue) this.delivery.abandon();
    const closed = this.exporter.shutdown().catch(() => undefined);
    if (isOverdue) throw this.createFlushError(new Error(`no response within ${this.settings.timeoutMs} ms`));
    await closed;
    const { undelivered } = this.delivery;
    if (undelivered !== undefined) throw this.createFlushError(undelivered.cause);
  }

  /** Without a timeout here, the timeout of the exporter ends each export. This timeout includes the encoding of the spans. */
  private flush(): Promise<void | typeof OVERDUE> {
    const { timeoutMs } = this.settings;
    const flushed = Promise.resolve().then(() => this.queue.shutdown());
    return timeoutMs === undefined ? flushed : within(this.clock, timeoutMs, flushed);
  }

  private createFlushError(cause: unknown): FrameworkError {
    const { serviceName, endpoint = "the exporter's endpoint" } = this.settings;
    const message = `spans of ${serviceName} were not delivered to ${endpoint}: is a collector listening there?`;
    return new FrameworkError(message, { code: "E_TELEMETRY_FLUSH", cause });
  }
}

/**
 * Builds a `Telemetry`. Each method returns the builder. Without `endpoint` or `timeout` the exporter uses its default or its standard
 * environment variable.
 *
 * @example
 * const telemetry = Telemetry.builder("shop").endpoint("http://collector.internal:4317").timeout(2000).metrics(metrics).build();
 */
export class TelemetryBuilder {
  private url: string | undefined;
  private timeoutMs: number | undefined;
  private counter: SpanCounter | undefined;
  private time: Clock = new SystemClock();

  /** Use `Telemetry.builder(serviceName)`. */
  constructor(
    private readonly serviceName: string,
    private readonly finish: (settings: TelemetrySettings, clock: Clock, counter: SpanCounter | undefined) => Telemetry,
  ) {}

  /** The address of the collector: an http or https URL with host and port, for example `DEFAULT_ENDPOINT`. */
  endpoint(url: string): this {
    this.url = url;
    return this;
  }

  /** The time limit of one export and of `shutdown()`, in milliseconds; the exporter's default is 10 000. */
  timeout(ms: number): this {
    this.timeoutMs = ms;
    return this;
  }

  /** The counter of `framework_spans_dropped_total`: a `Metrics`, or another `SpanCounter`. */
  metrics(counter: SpanCounter): this {
    this.counter = counter;
    return this;
  }

  /** The clock of spans, batches and timeouts; the default is the system clock. */
  clock(clock: Clock): this {
    this.time = clock;
    return this;
  }

  /**
   * Opens no connection; the first batch does.
   *
   * @throws FrameworkError `E_TELEMETRY_NAME`, `E_TELEMETRY_ENDPOINT`, `E_TELEMETRY_TIMEOUT`
   */
  build(): Telemetry {
    const { serviceName, url: endpoint, timeoutMs } = this;
    return this.finish({ serviceName, endpoint, timeoutMs }, this.time, this.counter);
  }
}
