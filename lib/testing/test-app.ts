/**
 * The application under test, served for real: a socket on 127.0.0.1, subsystems started and stopped as by `run()`, no signal listeners
 * and no process-wide subscriber. What it logs is in `app.logs`. For a unit test a constructor call, or `context()`, is enough.
 *
 * @example
 * await using app = await testApp(ShopModule, provide(LinkStore).useValue(new NoLinks()));
 * const response = await app.get("/links/7");
 */
import type { Fields, SpanOutcome, SpanData } from "../tracing/subscriber.js";
import type { TracingLayer } from "../tracing/registry.js";
import { FieldWriter } from "../observe/logging/json-fields.js";
import { isSensitive } from "../observe/logging/redaction.js";
import { Application, type Started } from "../app/application.js";
import { ApplicationBuilder } from "../app/builder.js";
import type { Class, InjectionToken } from "../di/token.js";
import { provide, type Binding } from "../di/provide.js";
import { Clock } from "../runtime/clock.js";
import type { Flight } from "../http/connection.js";
import { tracing } from "../tracing/tracing.js";
import { CaptureSink, LogSink } from "../observe/logging/sink.js";
import { Filter } from "../observe/logging/filter.js";
import { JsonLog } from "../observe/logging/json-log.js";
import { failure } from "./failure.js";
import { rawExchange, type RawOptions } from "./raw-exchange.js";
import { TestClient } from "./test-client.js";
import { advancingInRealTime } from "./fake-clock.js";
import { Transport } from "./transport.js";

/**
 * Keeps what spans carry, for `expectNoLeak`: the log shows a span only where an event falls into it, and an exporter would see them all.
 */
// As an exporter sends them: fields with nothing withheld, failures with secrets withheld by name.
const fieldWriter = new FieldWriter(() => false);
const failureWriter = new FieldWriter(isSensitive);

export class CapturedSpans implements TracingLayer {
  readonly #texts: string[] = [];

  onNewSpan(span: SpanData): void {
    this.#texts.push(`${span.target} ${span.name} ${textOf(span.fields)}`);
  }

  onRecord(span: SpanData, fields: Fields): void {
    this.#texts.push(`${span.target} ${span.name} ${textOf(fields)}`);
  }

  onClose(span: SpanData, outcome: SpanOutcome): void {
    if (!outcome.ok) this.#texts.push(`${span.target} ${span.name} ${textBy(failureWriter, outcome.error)}`);
  }

  /** One text a span, one more for each time fields were recorded on it later, and one for the failure that ended it. */
  texts(): readonly string[] {
    return this.#texts;
  }
}

function textOf(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${textBy(fieldWriter, value)}`)
    .join(" ");
}

function textBy(writer: FieldWriter, value: unknown): string {
  return typeof value === "string" ? value : (writer.value(value) ?? "");
}

/** What requests in flight have left once the test is over. */
const STOP_DEADLINE_MS = 2000;

/**
 * Builds and starts the application of a module or a builder. `doubles` take the place of what is provided; one that nothing injects is
 * refused, because a test that hands it in would prove nothing.
 *
 * @throws StartupError where the application does not build, or a subsystem does not start.
 */
export async function testApp(root: Class | ApplicationBuilder, ...doubles: readonly Binding[]): Promise<TestApp> {
  const watch = new CapturedTracing();
  return watch.run(async () => {
    const builder = root instanceof ApplicationBuilder ? root : Application.create(root);
    const application = builder
      .fallbacks(...watch.fallbacks())
      .doubles(...doubles)
      .build();
    return new TestApp(application, await application.start(), watch);
  });
}

export class TestApp extends TestClient implements AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Every event of the application, as lines of JSON at level TRACE. */
  readonly logs: CaptureSink;
  private ending: Promise<void> | undefined;

  /** @internal Use `testApp`. */
  constructor(
    readonly application: Application,
    private readonly started: Started,
    /** @internal */
    readonly watch: CapturedTracing,
  ) {
    super(new Transport(portOf(started)), application.resolve(Clock));
    this.url = started.url;
    this.logs = watch.sink;
  }

  /** An instance of the application's container, as the root module sees it. */
  resolve<T>(token: InjectionToken<T>): T {
    return this.application.resolve(token);
  }

  /** Writes to a fresh connection as it is; resolves to what came back until the other side closed or fell silent. */
  raw(bytes: string | Uint8Array, options?: RawOptions): Promise<Buffer> {
    return rawExchange(portOf(this.started), bytes, options);
  }

  /**
   * Drains without delay and stops. A second call waits for the first.
   *
   * @throws AssertionError naming the requests that were still unanswered after 2 s.
   */
  stop(): Promise<void> {
    return (this.ending ??= this.end());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Who stopped it by hand was told already.
    if (this.ending === undefined) await this.stop();
    else await this.ending.catch(() => {});
  }

  private async end(): Promise<void> {
    this.transport.leaveUnread();
    const { forced, cut } = await this.watch.run(() =>
      advancingInRealTime(this.clock, () => this.started.stopWithin(STOP_DEADLINE_MS)),
    );
    if (forced > 0) throw unanswered(forced, cut);
  }
}

/** Who listens to one application under test. */
export class CapturedTracing {
  readonly sink = new CaptureSink();
  readonly spans = new CapturedSpans();
  private readonly subscriber = tracing.registry().with(new JsonLog(this.sink)).with(this.spans);

  /** A class that asks for the log gets the one that the test looks at. */
  fallbacks(): readonly Binding[] {
    return [provide(LogSink).useValue(this.sink), provide(Filter).useValue(Filter.upTo("TRACE"))];
  }

  /** Runs `fn` so that its events come here, and those of everything it starts: a server that is made in it serves in it. */
  run<T>(fn: () => T): T {
    return tracing.withSubscriber(this.subscriber, fn);
  }
}

function portOf({ address }: Started): number {
  // `Application.start()` listens on TCP.
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

function unanswered(forced: number, cut: readonly Flight[]): Error {
  const requests = cut.map(({ incoming: { method, url } }) => `${String(method)} ${String(url)}`);
  const what = requests.length === 0 ? "no request had come on them" : `unanswered: ${requests.join(", ")}`;
  return failure(
    `the application stopped with ${forced} connection(s) destroyed after ${STOP_DEADLINE_MS} ms; ${what}`,
    {
      expected: [],
      actual: requests,
    },
  );
}
