import { setImmediate as turn } from "node:timers/promises";
import {
  Application,
  Clock,
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundError,
  provide,
  Subsystem,
  type ApplicationBuilder,
  type Context,
} from "@stagecraft/framework";
import { CaptureSink, JsonLog, Metrics, TraceContext } from "@stagecraft/framework/observe";
import { Telemetry } from "@stagecraft/framework/observe/otel";
import { tracing } from "@stagecraft/framework/observe/tracing";
import { expect } from "chai";
import { ShutdownLast } from "../../../lib/lifecycle/subsystem.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { attributesOf, Collector, hex, type ExportedSpan } from "./collector.js";

const log = tracing.target("shop::links");
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE_ID}-${CALLER}-01`;
const REQUEST = "framework.request";

let background: Promise<unknown> = Promise.resolve();

@Injectable()
class Shop {
  // The application shuts the same instance down.
  constructor(readonly telemetry: Telemetry) {}
}

@Controller("/links")
class LinksController {
  constructor(private readonly shop: Shop) {}

  @Get("/{id}")
  async show({ params }: Context<"id">) {
    log.info("looking for the link", { id: params.id });
    return log.span("find", { id: params.id }).run(async () => {
      await turn();
      log.info("found");
      return { id: params.id };
    });
  }

  @Get("/{id}/later")
  later({ params }: Context<"id">) {
    background = log.span("count", { id: params.id }).run(async () => {
      for (let turns = 0; turns < 5; turns++) await turn();
      log.info("counted");
    });
    return "soon";
  }

  @Get("/{id}/gone")
  gone({ params }: Context<"id">): never {
    throw new NotFoundError(`no link ${params.id}`);
  }

  @Get("/{id}/broken")
  broken(): never {
    throw new Error("out of order");
  }

  @Get("/{id}/declined")
  declined(): never {
    throw new Error("declined", { cause: { card: "4111", reason: "limit" } });
  }

  @Get("/{id}/remote")
  async remote(ctx: Context<"id">) {
    const response = await this.shop.telemetry.tracedFetch()(`http://${ctx.host}/links/${ctx.params.id}`);
    return response.json();
  }

  @Get("/{id}/trace")
  trace(ctx: Context<"id">) {
    return { headers: TraceContext.of(ctx)?.outboundHeaders() };
  }
}

@Module({ controllers: [LinksController], providers: [Shop] })
class ShopModule {}

interface Line {
  readonly message: string;
  readonly level: string;
  readonly target: string;
  readonly timestamp: string;
  readonly spans?: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The log lines and the exported spans of an application, while `use` sends requests to it. */
class ObservedRun {
  private constructor(
    readonly collector: Collector,
    readonly lines: readonly Line[],
  ) {}

  static async of(
    use: (url: string) => Promise<unknown>,
    configure: (builder: ApplicationBuilder) => void = (builder) =>
      builder.requestId().traceContext().accessLog().catchPanic(),
    behaviour: Collector["behaviour"] = "accept",
  ): Promise<ObservedRun> {
    const collector = await Collector.start();
    collector.behaviour = behaviour;
    const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).timeout(30_000).build();
    const sink = new CaptureSink();
    const subscriber = tracing.registry().with(new JsonLog(sink)).with(telemetry.tracingLayer());
    try {
      await tracing.withSubscriber(subscriber, async () => {
        const builder = Application.create(ShopModule).provide(provide(Telemetry).useValue(telemetry));
        configure(builder);
        const running = await builder.lifecycle({ drainDelayMs: 0 }).build().start();
        await use(running.url);
        await running.stop();
      });
    } finally {
      collector.stop();
    }
    // The JSON log writes these members.
    return new ObservedRun(
      collector,
      sink.lines().map((line) => JSON.parse(line) as Line),
    );
  }

  line(message: string): Line {
    const found = this.lines.find((line) => line.message.startsWith(message));
    if (found === undefined) throw new Error(`no line "${message}"`);
    return found;
  }

  /** The two spans of the request, the outer span first. */
  get requests(): readonly [ExportedSpan, ExportedSpan] {
    const [a, b] = this.collector.spans.filter(({ name }) => name === REQUEST);
    if (a === undefined || b === undefined) throw new Error("a request has two spans");
    return b.parentSpanId === a.spanId ? [a, b] : [b, a];
  }
}

describe("an application with a Telemetry", () => {
  it("exports the ids and the fields of the request's log lines", async () => {
    const run = await ObservedRun.of((url) =>
      fetch(`${url}/links/7`, { headers: { traceparent: TRACEPARENT, tracestate: "a=1" } }),
    );

    const [outer, inner] = run.requests;
    const find = run.collector.span("find");
    const line = run.line("found");
    const { id, trace_id, parent_span_id, continued_trace, ...request } = line.fields;
    expect(line.spans).to.deep.equal([outer.name, inner.name, find.name]);
    expect(attributesOf(outer)).to.deep.equal({ trace_id, parent_span_id, continued_trace });
    expect(attributesOf(inner)).to.deep.equal(request);
    expect(attributesOf(find)).to.deep.equal({ id });
    expect([outer, inner, find].map(({ traceId }) => hex(traceId))).to.deep.equal([trace_id, trace_id, trace_id]);
    expect([hex(outer.parentSpanId), outer.traceState]).to.deep.equal([parent_span_id, "a=1"]);
    expect([inner.parentSpanId, find.parentSpanId]).to.deep.equal([outer.spanId, inner.spanId]);
    expect([outer.kind, inner.kind, find.kind].map((kind) => kind.replace("SPAN_KIND_", ""))).to.deep.equal([
      "SERVER",
      "INTERNAL",
      "INTERNAL",
    ]);
    expect([parent_span_id, continued_trace]).to.deep.equal([CALLER, true]);
  });

  it("exports spans whose times enclose their log lines", async () => {
    const run = await ObservedRun.of((url) => fetch(`${url}/links/7`));

    const [outer, inner] = run.requests;
    for (const [message, span] of [
      ["looking for the link", inner],
      ["found", run.collector.span("find")],
      ["GET /links/7 200", outer],
    ] as const) {
      const at = Date.parse(run.line(message).timestamp);
      // Lines are timed in whole milliseconds.
      expect(at).to.be.within(milliseconds(span.startTimeUnixNano) - 1, milliseconds(span.endTimeUnixNano) + 1);
    }
  });

  it("gives a trace that starts here the ids of its log lines, and no parent", async () => {
    const run = await ObservedRun.of((url) => fetch(`${url}/links/7`));

    const [outer] = run.requests;
    const { trace_id, parent_span_id, continued_trace } = run.line("found").fields;
    expect([hex(outer.traceId), hex(outer.spanId)]).to.deep.equal([trace_id, parent_span_id]);
    expect(outer.parentSpanId).to.equal(undefined);
    expect(continued_trace).to.equal(false);
  });

  it("keeps background work in the request that started it", async () => {
    const run = await ObservedRun.of(async (url) => {
      await fetch(`${url}/links/7/later`, { headers: { traceparent: TRACEPARENT } });
      await background;
    });

    const count = run.collector.span("count");
    expect(hex(count.traceId)).to.equal(TRACE_ID);
    expect(count.parentSpanId).to.equal(run.requests[1].spanId);
    expect(run.line("counted").fields).to.include({ trace_id: TRACE_ID, path: "/links/7/later" });
  });

  it("keeps concurrent requests apart", async () => {
    const ids = Array.from({ length: 40 }, (_, i) => String(i));

    const run = await ObservedRun.of((url) =>
      Promise.all(ids.map(async (id) => (await fetch(`${url}/links/${id}`)).text())),
    );

    const spans = new Map(run.collector.spans.map((span) => [span.spanId, span]));
    const finds = run.collector.spans.filter(({ name }) => name === "find");
    expect(finds).to.have.length(ids.length);
    for (const find of finds) {
      const request = spans.get(find.parentSpanId ?? "");
      expect(request && attributesOf(request)["path"]).to.equal(`/links/${String(attributesOf(find)["id"])}`);
      expect(request?.traceId).to.equal(find.traceId);
    }
  });

  for (const [path, expected, code] of [
    ["/links/7", 200, "UNSET"],
    ["/links/7/gone", 404, "UNSET"],
    ["/links/7/broken", 500, "ERROR"],
  ] as const) {
    it(`gives the spans of a response ${expected} the status ${code}`, async () => {
      let status = 0;
      const run = await ObservedRun.of(async (url) => ({ status } = await fetch(url + path)));

      expect(status).to.equal(expected);
      for (const request of run.requests) {
        const message = code === "ERROR" ? { message: "HTTP 500" } : {};
        expect(request.status).to.deep.equal({ code: `STATUS_CODE_${code}`, ...message });
      }
    });
  }

  it("redacts sensitive names in the error of a panic that ends the spans of a request", async () => {
    const run = await ObservedRun.of(
      (url) => fetch(`${url}/links/7/declined`),
      (builder) => builder.traceContext().accessLog(),
    );

    const message = 'Error: declined: caused by {"card":"[redacted]","reason":"limit"}';
    for (const { status } of run.requests) expect(status).to.deep.equal({ code: "STATUS_CODE_ERROR", message });
  });

  it("continues a trace in the next service, from span to span", async () => {
    const run = await ObservedRun.of((url) =>
      fetch(`${url}/links/7/remote`, { headers: { traceparent: TRACEPARENT } }),
    );

    const spans = new Map(run.collector.spans.map((span) => [span.spanId, span]));
    const path = [];
    for (let span: ExportedSpan | undefined = run.collector.span("find"); span !== undefined;) {
      path.push(`${span.name} ${span.kind.replace("SPAN_KIND_", "")}`);
      span = spans.get(span.parentSpanId ?? "");
    }
    expect(path).to.deep.equal([
      "find INTERNAL",
      `${REQUEST} INTERNAL`,
      `${REQUEST} SERVER`,
      "fetch CLIENT",
      `${REQUEST} INTERNAL`,
      `${REQUEST} SERVER`,
    ]);
    expect(new Set(run.collector.spans.map(({ traceId }) => hex(traceId)))).to.deep.equal(new Set([TRACE_ID]));
  });

  it("exports one span if one layer opens a span, and none if no layer does", async () => {
    const one = await ObservedRun.of(
      (url) => fetch(`${url}/links/7/trace`),
      (builder) => builder.accessLog(),
    );
    const none = await ObservedRun.of(
      (url) => fetch(`${url}/links/7/trace`),
      () => {},
    );

    expect(one.collector.spans.map(({ name }) => name)).to.deep.equal([REQUEST]);
    expect(none.collector.spans).to.deep.equal([]);
  });

  it("keeps the spans of two applications in one process apart", async () => {
    const run = await Promise.all(
      [[7], [8, 9]].map((ids) => ObservedRun.of((url) => Promise.all(ids.map((id) => fetch(`${url}/links/${id}`))))),
    );

    const found = run.map(({ collector }) => collector.spans.filter(({ name }) => name === "find"));
    const [one, two] = found.map((spans) => spans.map((span) => attributesOf(span)["id"]));
    expect(one).to.deep.equal(["7"]);
    expect(two).to.have.members(["8", "9"]);
  });

  it("is shut down also if a module provides it and no class injects it", async () => {
    const collector = await Collector.start();
    let telemetry: Telemetry | undefined;
    @Module({
      providers: [
        provide(Telemetry).useFactory((resolve) => {
          const builder = Telemetry.builder("shop").endpoint(collector.endpoint);
          return (telemetry = builder.metrics(resolve(Metrics)).clock(resolve(Clock)).build());
        }),
      ],
    })
    class ObservedModule {}

    const application = Application.create(ObservedModule).traceContext().lifecycle({ drainDelayMs: 0 }).build();
    const metrics = application.resolve(Metrics);
    const registry = telemetry === undefined ? tracing.registry() : tracing.registry().with(telemetry.tracingLayer());
    await tracing.withSubscriber(registry, async () => {
      const running = await application.start();
      await fetch(running.url);
      await running.stop();
    });
    collector.stop();

    expect(collector.spans.map(({ name }) => name)).to.deep.equal([REQUEST]);
    expect(metrics.render()).to.include("framework_spans_dropped_total 0");
  });

  it("sends the spans of subsystems that stop", async () => {
    class Imports extends Subsystem {
      override readonly name = "imports";
      override readonly kind = "jobs";
      override async start(): Promise<void> {}
      override async stop(): Promise<void> {
        log.span("stop imports").run(() => {});
      }
    }

    const run = await ObservedRun.of(
      async () => {},
      (builder) => builder.provide(provide(Imports).useClass(Imports)),
    );

    expect(run.collector.spans.map(({ name }) => name)).to.deep.equal(["stop imports"]);
  });

  it("sends the spans of a failed start", async () => {
    class Imports extends Subsystem {
      override readonly name = "imports";
      override readonly kind = "jobs";
      override start(): Promise<void> {
        return log.span("start imports").run(() => Promise.reject(new Error("no queue")));
      }
      override async stop(): Promise<void> {}
    }
    const collector = await Collector.start();
    const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).timeout(30_000).build();

    const error = await tracing.withSubscriber(tracing.registry().with(telemetry.tracingLayer()), () =>
      rejectionOf(
        Application.create()
          .provide(provide(Telemetry).useValue(telemetry), provide(Imports).useClass(Imports))
          .build()
          .start(),
      ),
    );
    const arrived = collector.spans.map(({ name }) => name);
    collector.stop();

    expect(error).to.have.property("name", "StartupError");
    expect(arrived).to.deep.equal(["start imports"]);
  });

  it("shuts down a class that a module provides and no class injects", async () => {
    let closed = 0;
    @Injectable()
    class Sent extends ShutdownLast {
      override async shutdown(): Promise<void> {
        closed++;
      }
    }
    @Module({ providers: [Sent] })
    class SentModule {}

    const running = await Application.create(SentModule).lifecycle({ drainDelayMs: 0 }).build().start();
    await running.stop();

    expect(closed).to.equal(1);
  });

  it("delivers the spans of the last request before the application has stopped", async () => {
    const run = await ObservedRun.of((url) => fetch(`${url}/links/7`));

    expect(run.collector.spans).to.have.length(3);
    expect(run.lines.at(-1)).to.include({ message: "stopped" });
  });

  it("warns if its spans cannot be delivered, and stops", async () => {
    const run = await ObservedRun.of((url) => fetch(`${url}/links/7`), undefined, "refuse");

    const warning = run.lines.find(({ level, message }) => level === "WARN" && message === "shutdown failed");
    expect(warning?.fields["error"]).to.include("not delivered");
    expect(run.lines.at(-1)).to.include({ message: "stopped" });
  });

  it("keeps credentials of a request out of its spans", async () => {
    const run = await ObservedRun.of((url) =>
      fetch(`${url}/links/7?token=hunter2`, { headers: { authorization: "Bearer hunter2", cookie: "id=hunter2" } }),
    );

    expect(JSON.stringify(run.collector.requests)).to.include("/links/7").and.not.include("hunter2");
  });
});

function milliseconds(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1000n) / 1000;
}
