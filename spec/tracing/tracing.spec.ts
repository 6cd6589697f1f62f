import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { TracingLayer } from "../../lib/tracing/registry.js";
import type { LogEvent, SpanData, Subscriber } from "../../lib/tracing/subscriber.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { enterRequest, ensureFlow, currentFlow, resumeFlow } from "../../lib/tracing/flow.js";
import { closeSpan, openSpan } from "../../lib/tracing/span.js";
import { runProgram } from "../support/program.js";

const log = tracing.target("shop::links");

describe("tracing", () => {
  describe("a target", () => {
    it("drops events and runs spans if there is no subscriber", () => {
      const result = log.span("quiet", { a: 1 }).run(() => {
        log.error("lost");
        return tracing.currentSpan();
      });

      expect(result).to.equal(undefined);
    });

    for (const level of ["trace", "debug", "info", "warn", "error"] as const) {
      it(`emits at ${level} with target, message, fields and the wall clock`, () => {
        const recorder = new Recorder();
        const before = Date.now();

        recorder.collect(() => log[level]("hello", { n: 1 }));

        const [event] = recorder.events;
        expect(event).to.include({ level: level.toUpperCase(), target: "shop::links", message: "hello" });
        expect(event?.fields).to.deep.equal({ n: 1 });
        expect(event?.timestamp).to.be.within(before, Date.now());
      });
    }

    it("accepts an event without a message", () => {
      const recorder = new Recorder();

      recorder.collect(() => log.info(undefined, { n: 1 }));

      expect(recorder.events[0]?.message).to.equal(undefined);
    });

    it("does not send events below the level of every layer, and enabled() is false for them", () => {
      const recorder = new Recorder();
      const registry = tracing.registry().filter(only("shop::links", "INFO")).with(recorder);

      const enabled = tracing.withSubscriber(registry, () => {
        log.debug("too quiet");
        tracing.target("other").error("another target");
        log.info("loud enough");
        return [log.enabled("debug"), log.enabled("INFO"), tracing.target("other").enabled("error")];
      });

      expect(recorder.messages).to.deep.equal(["loud enough"]);
      expect(enabled).to.deep.equal([false, true, false]);
    });

    for (const [what, given] of [
      ["null", null],
      ["nothing", undefined],
      ["a number", 5],
      ["an empty object", {}],
      ["a layer without a registry", { onEvent: () => {} }],
    ] as const) {
      it(`throws for ${what} in place of a subscriber`, () => {
        let isRun = false;

        // A JavaScript caller may pass more than the type allows.
        const call = (): unknown => tracing.withSubscriber(given as Subscriber, () => (isRun = true));

        expect(call).to.throw(TypeError, "tracing.registry().with(layer)");
        expect(isRun).to.equal(false);
      });
    }

    for (const [filter, surround] of [
      [
        "every layer",
        'tracing.withSubscriber(tracing.registry().filter({ maxLevel: () => "INFO" }).with(layer), measure);',
      ],
      ["its target", 'installLogging("warn,shop=info", layer); measure();'],
    ] as const) {
      it(`does not allocate for an event below the level of ${filter}`, async () => {
        const { stdout } = await runProgram(`
          const { tracing } = await load("entries/observe-tracing.js");
          const { installLogging } = await load("entries/observe.js");
          const [one, other] = [tracing.target("shop::links"), tracing.target("elsewhere")];
          const layer = { onEvent() {} };
          const fields = { id: 7 };
          const emit = () => { for (let i = 0; i < 1e6; i++) { one.debug("unheard", fields); other.trace("unheard"); } };
          const measure = () => {
            emit();
            const grown = [1, 2, 3, 4, 5].map(() => {
              const before = process.memoryUsage().heapUsed;
              emit();
              return Math.abs(process.memoryUsage().heapUsed - before);
            });
            console.log(Math.min(...grown));
          };
          ${surround}
        `);

        // Reading the heap statistics takes two kilobytes. Two million allocated events would leave hundreds, or cause as many collections,
        // each time. Node may compile the program during one of the five.
        expect(Number(stdout)).to.be.below(20_000);
      });
    }

    it("applies to each layer its own filter", () => {
      const [all, few] = [new Recorder(), new Recorder()];
      const registry = tracing.registry().with(all).with(few, only("shop::links", "WARN"));

      tracing.withSubscriber(registry, () => {
        log.info("information");
        log.warn("warning");
      });

      expect(all.messages).to.deep.equal(["information", "warning"]);
      expect(few.messages).to.deep.equal(["warning"]);
    });

    it("applies to each layer of two combined registries the filters that it had before", () => {
      const [one, other, quiet] = [new Recorder(), new Recorder(), new Recorder()];
      const left = tracing.registry().with(one).filter(only("shop::links", "INFO"));
      const right = tracing
        .registry()
        .with(other)
        .with(quiet, only("elsewhere", "INFO"))
        .filter(only("shop::links", "WARN"));

      tracing.withSubscriber(left.and(right), () => {
        log.debug("detail");
        log.info("information");
        log.warn("warning");
        tracing.target("elsewhere").error("elsewhere");
      });

      expect(one.messages).to.deep.equal(["information", "warning"]);
      expect(other.messages).to.deep.equal(["warning"]);
      expect(quiet.messages).to.deep.equal([]);
    });

    it("uses the level of the flow's subscriber, also if another subscriber wants more", () => {
      const [chatty, terse] = [new Recorder(), new Recorder()];

      tracing.withSubscriber(tracing.registry().with(chatty), () => {
        tracing.withSubscriber(tracing.registry().filter(only("shop::links", "WARN")).with(terse), () => {
          log.debug("for neither");
          log.warn("for the inner one");
        });
        log.debug("for the outer one");
      });

      expect(chatty.messages).to.deep.equal(["for the outer one"]);
      expect(terse.messages).to.deep.equal(["for the inner one"]);
    });

    it("treats a filter that throws as OFF", () => {
      const recorder = new Recorder();
      const broken = { maxLevel: () => fail() };

      tracing.withSubscriber(tracing.registry().filter(broken).with(recorder), () => log.error("unheard"));

      expect(recorder.messages).to.deep.equal([]);
    });
  });

  describe("a span", () => {
    it("returns, throws and rejects as the function does", async () => {
      const recorder = new Recorder();
      const error = new Error("no");

      await recorder.collect(async () => {
        expect(log.span("value").run(() => 7)).to.equal(7);
        expect(() => log.span("thrown").run(() => fail(error))).to.throw(error);
        expect(await log.span("promise").run(async () => 8)).to.equal(8);
        expect(await log.span("rejected").run(() => caught(log.span("inner").run(async () => fail(error))))).to.equal(
          error,
        );
      });

      expect(recorder.closed).to.deep.equal(["value ok", "thrown no", "promise ok", "inner no", "rejected ok"]);
    });

    it("closes when the promise settles, not when the function returns", async () => {
      const recorder = new Recorder();
      const gate = new Gate();

      const running = recorder.collect(() => log.span("slow").run(() => gate.opened));
      const whileRunning = [...recorder.closed];
      gate.open();
      await running;

      expect(whileRunning).to.deep.equal([]);
      expect(recorder.closed).to.deep.equal(["slow ok"]);
    });

    it("opens as a child of the span around the run, with its fields at that time", () => {
      const recorder = new Recorder();
      const fields: Record<string, unknown> = { a: 1 };

      recorder.collect(() => {
        const inner = log.span("inner", fields);
        log.span("outer").run(() =>
          inner.run(() => {
            fields["a"] = 2;
            log.info("here");
          }),
        );
      });

      expect(recorder.paths).to.deep.equal(["outer:inner"]);
      expect(recorder.events[0]?.span?.fields).to.deep.equal({ a: 1 });
    });

    it("closes once if it is run twice, one after the other or at once", async () => {
      const recorder = new Recorder();

      await recorder.collect(async () => {
        const span = log.span("again");
        await Promise.all([span.run(async () => {}), span.run(async () => {})]);
        span.run(() => log.info("entered again"));
      });

      expect(recorder.opened).to.deep.equal(["again"]);
      expect(recorder.closed).to.deep.equal(["again ok"]);
      expect(recorder.paths).to.deep.equal(["again"]);
    });

    it("closes with the last of two simultaneous runs, and with its outcome", async () => {
      const recorder = new Recorder();
      const [first, last] = [new Gate(), new Gate()];

      await recorder.collect(async () => {
        const span = log.span("shared");
        const runs = [span.run(() => first.opened), span.run(() => last.opened.then(() => fail()))];
        first.open();
        await runs[0];
        expect(recorder.closed).to.deep.equal([]);
        last.open();
        await caught(Promise.all(runs));
      });

      expect(recorder.closed).to.deep.equal(["shared misbehaves"]);
    });

    it("records fields before, during and after the run; later ones replace earlier ones", () => {
      const recorder = new Recorder();

      recorder.collect(() => {
        const span = log.span("work", { a: 1, b: 1 });
        span.record({ b: 2 });
        span.run(() => tracing.currentSpan()?.record({ c: 3 }));
        span.record({ a: 4 });
      });

      expect(recorder.recorded).to.deep.equal([{ c: 3 }, { a: 4 }]);
      expect(recorder.spans[0]?.fields).to.deep.equal({ a: 4, b: 2, c: 3 });
    });

    it("marks a field that cannot be read, and has no fields for a proxy that does not list its keys", () => {
      const recorder = new Recorder();
      const opaque = new Proxy({}, { ownKeys: () => fail() });

      recorder.collect(() => {
        log.span("getter", { good: 1, get bad() { return fail(); } }).run(() => {}); // prettier-ignore
        log.span("proxy", opaque).run(() => {});
      });

      expect(recorder.spans.map(({ fields }) => fields)).to.deep.equal([{ good: 1, bad: "[unreadable]" }, {}]);
    });

    it("may have a field called __proto__", () => {
      const recorder = new Recorder();
      const fields = JSON.parse('{"__proto__": 1}') as Record<string, unknown>;

      recorder.collect(() => log.span("odd", fields).run(() => {}));

      expect(Object.keys(recorder.spans[0]?.fields ?? {})).to.deep.equal(["__proto__"]);
    });
  });

  describe("the flow", () => {
    it("keeps the span across awaits, timers, streams, emitters and concurrent children", async () => {
      const recorder = new Recorder();

      await recorder.collect(() =>
        log.span("outer").run(async () => {
          await Promise.all(["a", "b"].map((name) => log.span(name).run(() => everyWayOfWaiting(name))));
          log.info("outside the children");
        }),
      );

      expect(recorder.events.map((event) => `${event.message} in ${path(event.span)}`)).to.have.members([
        ...["await", "timer", "immediate", "stream", "emitter"].flatMap((way) => [
          `a ${way} in outer:a`,
          `b ${way} in outer:b`,
        ]),
        "outside the children in outer",
      ]);
    });

    it("is outside any span in the scope of another subscriber, and continues after it", () => {
      const [outer, inner] = [new Recorder(), new Recorder()];

      outer.collect(() =>
        log.span("outer").run(() => {
          inner.collect(() => log.info("inside"));
          log.info("afterwards");
        }),
      );

      expect(inner.paths).to.deep.equal([""]);
      expect(outer.paths).to.deep.equal(["outer"]);
    });
  });

  describe("a subscriber that throws or logs", () => {
    it("affects neither the code that emits nor the other layers", () => {
      const recorder = new Recorder();
      const broken: TracingLayer = {
        onNewSpan: () => fail(),
        onEvent: () => fail(),
        onRecord: () => fail(),
        onClose: () => fail(),
      };

      tracing.withSubscriber(tracing.registry().with(broken).with(recorder), () =>
        log.span("work").run(() => {
          tracing.currentSpan()?.record({ a: 1 });
          log.info("still heard");
        }),
      );

      expect(recorder.messages).to.deep.equal(["still heard"]);
      expect(recorder.recorded).to.deep.equal([{ a: 1 }]);
      expect(recorder.closed).to.deep.equal(["work ok"]);
    });

    it("does not receive its own events", () => {
      const heard: (string | undefined)[] = [];
      const layer: TracingLayer = {
        onEvent(event) {
          heard.push(event.message);
          log.error("from inside");
          log.span("from inside").run(() => log.error("from further inside"));
        },
      };

      tracing.withSubscriber(tracing.registry().with(layer), () => {
        log.info("first");
        log.info("second");
      });

      expect(heard).to.deep.equal(["first", "second"]);
    });
  });

  describe("the flow of a request", () => {
    it("changes its current span without another flow, and each layer keeps its state", () => {
      const recorder = new Recorder();

      recorder.collect(() =>
        enterRequest(() => {
          const flow = currentFlow();
          const trace = openSpan("t", "trace", { trace_id: "1" });
          const access = openSpan("t", "access", { request_id: "2" });
          log.info("handler");
          log.span("own").run(() => log.info("in a span of its own"));
          closeSpan(access);
          log.emitInfo(flow, trace, "access line", {});
          closeSpan(trace, { error: new Error("no") });
          expect(currentFlow()).to.equal(flow);
        }, undefined),
      );

      expect(recorder.paths).to.deep.equal(["trace:access", "trace:access:own", "trace"]);
      expect(recorder.closed).to.deep.equal(["own ok", "access ok", "trace no"]);
    });

    it("keeps the request's fields for events after its spans are closed", async () => {
      const recorder = new Recorder();
      const gate = new Gate();

      const late = recorder.collect(() =>
        enterRequest(() => {
          const span = openSpan("t", "request", {});
          const work = gate.opened.then(() => log.warn("late"));
          closeSpan(span);
          return work;
        }, undefined),
      );
      gate.open();
      await late;

      expect(recorder.paths).to.deep.equal(["request"]);
    });

    it("is a root flow, with the surrounding subscriber or the given one", () => {
      const [around, given] = [new Recorder(), new Recorder()];

      around.collect(() =>
        log.span("around").run(() => {
          enterRequest(() => log.info("first"), undefined);
          enterRequest(() => log.info("second"), undefined, tracing.registry().with(given));
        }),
      );

      expect(around.paths).to.deep.equal([""]);
      expect(given.messages).to.deep.equal(["second"]);
    });

    it("is separate for simultaneous requests", async () => {
      const recorder = new Recorder();

      await recorder.collect(() => Promise.all(["one", "two"].map((name) => enterRequest(slowRequest, name))));

      expect(recorder.paths).to.have.members(["one", "two"]);
    });

    it("is created once for a layer without an application, below the span around it", () => {
      const recorder = new Recorder();

      recorder.collect(() =>
        log.span("around").run(() => {
          ensureFlow(() => {
            openSpan("t", "request", {});
            ensureFlow(() => log.info("inside"), undefined);
          }, undefined);
          log.info("afterwards");
        }),
      );

      expect(recorder.paths).to.deep.equal(["around:request", "around"]);
    });

    it("opens no span outside a request flow and without a subscriber", () => {
      const recorder = new Recorder();

      const [unheard, misplaced] = [
        enterRequest(() => openSpan("t", "request", {}), undefined),
        recorder.collect(() => openSpan("t", "request", {})),
      ];
      closeSpan(unheard);

      expect([unheard, misplaced]).to.deep.equal([undefined, undefined]);
    });

    it("is resumed by a callback of the connection", () => {
      const recorder = new Recorder();

      const flow = recorder.collect(() =>
        enterRequest(() => {
          openSpan("t", "request", {});
          return currentFlow();
        }, undefined),
      );
      resumeFlow(flow, () => log.info("connection closed"), undefined);
      resumeFlow(undefined, () => log.info("nowhere"), undefined);

      expect(recorder.paths).to.deep.equal(["request"]);
      expect(recorder.messages).to.deep.equal(["connection closed"]);
    });
  });
});

/** A layer that records its calls. */
class Recorder implements TracingLayer<number> {
  readonly events: LogEvent[] = [];
  readonly paths: string[] = [];
  readonly spans: SpanData[] = [];
  readonly opened: string[] = [];
  readonly closed: string[] = [];
  readonly recorded: unknown[] = [];

  get messages(): (string | undefined)[] {
    return this.events.map(({ message }) => message);
  }

  collect<T>(fn: () => T): T {
    return tracing.withSubscriber(tracing.registry().with(this), fn);
  }

  onNewSpan(span: SpanData, parent: number | undefined): number {
    expect(parent).to.equal(span.parent === undefined ? undefined : this.spans.indexOf(span.parent));
    this.opened.push(span.name);
    return this.spans.push(span) - 1;
  }

  onRecord(span: SpanData, fields: object, state: number | undefined): void {
    expect(state).to.equal(this.spans.indexOf(span));
    this.recorded.push({ ...fields });
  }

  onEvent(event: LogEvent, state: number | undefined): void {
    expect(state).to.equal(event.span === undefined ? undefined : this.spans.indexOf(event.span));
    this.events.push(event);
    this.paths.push(path(event.span));
  }

  onClose(span: SpanData, outcome: { ok: boolean; error?: unknown }): void {
    this.closed.push(`${span.name} ${outcome.ok ? "ok" : (outcome.error as Error).message}`);
  }
}

/** A promise that the spec settles. */
class Gate {
  open: () => void = () => {};
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

function path(span: SpanData | undefined): string {
  if (span === undefined) return "";
  return span.parent === undefined ? span.name : `${path(span.parent)}:${span.name}`;
}

function only(wanted: string, level: "INFO" | "WARN") {
  return { maxLevel: (target: string) => (target === wanted ? level : "OFF") } as const;
}

function fail(error: Error = new Error("misbehaves")): never {
  throw error;
}

async function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => error);
}

async function everyWayOfWaiting(name: string): Promise<void> {
  await Promise.resolve();
  log.info(`${name} await`);
  await new Promise<void>((resolve) => setTimeout(() => resolve(log.info(`${name} timer`)), 1));
  await new Promise<void>((resolve) => setImmediate(() => resolve(log.info(`${name} immediate`))));
  for await (const _ of Readable.from(["chunk"])) log.info(`${name} stream`);
  const emitter = new EventEmitter();
  emitter.once("done", () => log.info(`${name} emitter`));
  emitter.emit("done");
}

async function slowRequest(name: string): Promise<void> {
  const span = openSpan("t", name, {});
  await delay(1);
  log.info(name);
  closeSpan(span);
}
