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
import { ShutdownLast } from "../../lib/lifecycle/subsystem.js";
import { rejectionOf } from "../support/rejection-of.js";
import { attributesOf, Collector, hex, type ExportedSpan } from "./collector.js";

const log = tracing.target("shop::links");
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE_ID}-${CALLER}-01`;
const REQUEST = "framework.request";

let background: Promise<unknown> = Promise.resolve();

@Injectable()
class Shop {
  // The application has it because it was provided, and here because it is wanted.
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

/** What an application with a telemetry logged and exported while `use` used it. */
class Told {
  private constructor(
    readonly collector: Collector,
    readonly lines: readonly Line[],
  ) {}

  static async of(
    use: (url: string) => Promise<unknown>,
    configure: (builder: ApplicationBuilder) => void = (builder) =>
      builder.requestId().traceContext().accessLog().catchPanic(),
    behaviour: Collector["behaviour"] = "accept",
  ): Promise<Told> {
    const collector = await Collector.start();
    collector.behaviour = behaviour;
    const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).timeout(5000).build();
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
    // Every line is one object, and these are its members.
    return new Told(
      collector,
      sink.lines().map((line) => JSON.parse(line) as Line),
    );
  }

  line(message: string): Line {
    const found = this.lines.find((line) => line.message.startsWith(message));
    if (found === undefined) throw new Error(`no line "${message}"`);
    return found;
  }

  /** The spans of requests, the outer one first. */
  get requests(): readonly [ExportedSpan, ExportedSpan] {
    const [a, b] = this.collector.spans.filter(({ name }) => name === REQUEST);
    if (a === undefined || b === undefined) throw new Error("a request has two spans");
    return b.parentSpanId === a.spanId ? [a, b] : [b, a];
  }
}

describe("an application with a Telemetry", () => {
  it("exports what the log lines of the request say", async () => {
    const told = await Told.of((url) =>
      fetch(`${url}/links/7`, { headers: { traceparent: TRACEPARENT, tracestate: "a=1" } }),
    );

    const [outer, inner] = told.requests;
    const find = told.collector.span("find");
    const line = told.line("found");
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

  it("exports spans that were open when the lines inside them were written", async () => {
    const told = await Told.of((url) => fetch(`${url}/links/7`));

    const [outer, inner] = told.requests;
    for (const [message, span] of [
      ["looking for the link", inner],
      ["found", told.collector.span("find")],
      ["GET /links/7 200", outer],
    ] as const) {
      const at = Date.parse(told.line(message).timestamp);
      // Lines are timed in whole milliseconds.
      expect(at).to.be.within(milliseconds(span.startTimeUnixNano) - 1, milliseconds(span.endTimeUnixNano) + 1);
    }
  });

  it("gives a trace that begins here the ids that its lines have, and no parent", async () => {
    const told = await Told.of((url) => fetch(`${url}/links/7`));

    const [outer] = told.requests;
    const { trace_id, parent_span_id, continued_trace } = told.line("found").fields;
    expect([hex(outer.traceId), hex(outer.spanId)]).to.deep.equal([trace_id, parent_span_id]);
    expect(outer.parentSpanId).to.equal(undefined);
    expect(continued_trace).to.equal(false);
  });

  it("keeps background work in the request it began in", async () => {
    const told = await Told.of(async (url) => {
      await fetch(`${url}/links/7/later`, { headers: { traceparent: TRACEPARENT } });
      await background;
    });

    const count = told.collector.span("count");
    expect(hex(count.traceId)).to.equal(TRACE_ID);
    expect(count.parentSpanId).to.equal(told.requests[1].spanId);
    expect(told.line("counted").fields).to.include({ trace_id: TRACE_ID, path: "/links/7/later" });
  });

  it("does not mix requests that are served at the same time", async () => {
    const ids = Array.from({ length: 40 }, (_, i) => String(i));

    const told = await Told.of((url) => Promise.all(ids.map(async (id) => (await fetch(`${url}/links/${id}`)).text())));

    const spans = new Map(told.collector.spans.map((span) => [span.spanId, span]));
    const finds = told.collector.spans.filter(({ name }) => name === "find");
    expect(finds).to.have.length(ids.length);
    for (const find of finds) {
      const request = spans.get(find.parentSpanId ?? "");
      expect(request && attributesOf(request)["path"]).to.equal(`/links/${String(attributesOf(find)["id"])}`);
      expect(request?.traceId).to.equal(find.traceId);
    }
  });

  for (const [path, answer, code] of [
    ["/links/7", 200, "UNSET"],
    ["/links/7/gone", 404, "UNSET"],
    ["/links/7/broken", 500, "ERROR"],
  ] as const) {
    it(`takes an answer ${answer} for ${code}`, async () => {
      let status = 0;
      const told = await Told.of(async (url) => ({ status } = await fetch(url + path)));

      expect(status).to.equal(answer);
      for (const request of told.requests) {
        const message = code === "ERROR" ? { message: "HTTP 500" } : {};
        expect(request.status).to.deep.equal({ code: `STATUS_CODE_${code}`, ...message });
      }
    });
  }

  it("withholds what is secret by its name in a panic that ends the spans of a request", async () => {
    const told = await Told.of(
      (url) => fetch(`${url}/links/7/declined`),
      (builder) => builder.traceContext().accessLog(),
    );

    const message = 'Error: declined: caused by {"card":"[redacted]","reason":"limit"}';
    for (const { status } of told.requests) expect(status).to.deep.equal({ code: "STATUS_CODE_ERROR", message });
  });

  it("carries a trace on to the next service, from span to span", async () => {
    const told = await Told.of((url) => fetch(`${url}/links/7/remote`, { headers: { traceparent: TRACEPARENT } }));

    const spans = new Map(told.collector.spans.map((span) => [span.spanId, span]));
    const path = [];
    for (let span: ExportedSpan | undefined = told.collector.span("find"); span !== undefined;) {
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
    expect(new Set(told.collector.spans.map(({ traceId }) => hex(traceId)))).to.deep.equal(new Set([TRACE_ID]));
  });

  it("exports a request once where one layer opens a span, and nothing where none does", async () => {
    const one = await Told.of(
      (url) => fetch(`${url}/links/7/trace`),
      (builder) => builder.accessLog(),
    );
    const none = await Told.of(
      (url) => fetch(`${url}/links/7/trace`),
      () => {},
    );

    expect(one.collector.spans.map(({ name }) => name)).to.deep.equal([REQUEST]);
    expect(none.collector.spans).to.deep.equal([]);
  });

  it("keeps the spans of two applications in one process apart, each with a Telemetry of its own", async () => {
    const told = await Promise.all(
      [[7], [8, 9]].map((ids) => Told.of((url) => Promise.all(ids.map((id) => fetch(`${url}/links/${id}`))))),
    );

    const found = told.map(({ collector }) => collector.spans.filter(({ name }) => name === "find"));
    const [one, two] = found.map((spans) => spans.map((span) => attributesOf(span)["id"]));
    expect(one).to.deep.equal(["7"]);
    expect(two).to.have.members(["8", "9"]);
  });

  it("shuts it down also where a module provides it and nobody asks for it", async () => {
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

  it("has it there for the subsystems that stop, and sends the spans of their stop", async () => {
    class Imports extends Subsystem {
      override readonly name = "imports";
      override readonly kind = "jobs";
      override async start(): Promise<void> {}
      override async stop(): Promise<void> {
        log.span("stop imports").run(() => {});
      }
    }

    const told = await Told.of(
      async () => {},
      (builder) => builder.provide(provide(Imports).useClass(Imports)),
    );

    expect(told.collector.spans.map(({ name }) => name)).to.deep.equal(["stop imports"]);
  });

  it("sends the spans of a start that fails, too", async () => {
    class Imports extends Subsystem {
      override readonly name = "imports";
      override readonly kind = "jobs";
      override start(): Promise<void> {
        return log.span("start imports").run(() => Promise.reject(new Error("no queue")));
      }
      override async stop(): Promise<void> {}
    }
    const collector = await Collector.start();
    const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).timeout(5000).build();

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

  it("collects it where a module provides the class of it and nobody asks for it", async () => {
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

  it("shuts it down last, so that the spans of the last request arrive before the application has stopped", async () => {
    const told = await Told.of((url) => fetch(`${url}/links/7`));

    expect(told.collector.spans).to.have.length(3);
    expect(told.lines.at(-1)).to.include({ message: "stopped" });
  });

  it("warns when its spans cannot be delivered, and stops all the same", async () => {
    const told = await Told.of((url) => fetch(`${url}/links/7`), undefined, "refuse");

    const warning = told.lines.find(({ level, message }) => level === "WARN" && message === "shutdown failed");
    expect(warning?.fields["error"]).to.include("not delivered");
    expect(told.lines.at(-1)).to.include({ message: "stopped" });
  });

  it("keeps credentials of a request out of its spans", async () => {
    const told = await Told.of((url) =>
      fetch(`${url}/links/7?token=hunter2`, { headers: { authorization: "Bearer hunter2", cookie: "id=hunter2" } }),
    );

    expect(JSON.stringify(told.collector.requests)).to.include("/links/7").and.not.include("hunter2");
  });
});

function milliseconds(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1000n) / 1000;
}
