import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import type { RemoteParent } from "../../../lib/tracing/subscriber.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { enterRequest } from "../../../lib/tracing/flow.js";
import { closeSpan, openSpan } from "../../../lib/tracing/span.js";
import { MAX_TEXT_LENGTH } from "../../../lib/observe/otel/attributes.js";
import { MAX_SCOPES } from "../../../lib/observe/otel/span-export-layer.js";
import { attributesOf, hex, type ExportedSpan } from "./collector.js";
import { exported } from "./export.js";

const log = tracing.target("shop::links");

const CALLER: RemoteParent = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  traceFlags: 1,
  traceState: "vendor=a:b, other=1",
};

describe("SpanExportLayer", () => {
  describe("an exported span", () => {
    it("has the name, the fields and the target of the span", async () => {
      const collector = await exported(() => log.span("import", { file: "a.csv", rows: 3 }).run(() => {}));

      const span = collector.span("import");
      expect(attributesOf(span)).to.deep.equal({ file: "a.csv", rows: 3 });
      expect(span).to.include({ kind: "SPAN_KIND_INTERNAL", droppedAttributesCount: 0 });
      expect(collector.requests[0]?.resourceSpans[0]?.scopeSpans[0]?.scope.name).to.equal("shop::links");
    });

    it("has service.name as its only resource attribute", async () => {
      const collector = await exported(() => log.span("import").run(() => {}));

      const [resourceSpans] = collector.requests[0]?.resourceSpans ?? [];
      expect(resourceSpans?.resource.attributes).to.deep.equal([
        { key: "service.name", value: { stringValue: "shop" } },
      ]);
    });

    it("has the fields that were recorded while it was open, with the later value of a name", async () => {
      const collector = await exported(() => {
        const span = log.span("import", { rows: 0 });
        return span.run(async () => {
          await turn();
          span.record({ rows: 7, done: true });
        });
      });

      expect(attributesOf(collector.span("import"))).to.deep.equal({ rows: 7, done: true });
    });

    it("has the value of a field at the time of the record, as the log has", async () => {
      const files = ["a.csv"];
      const collector = await exported(() => {
        const span = log.span("import", { files });
        span.run(() => {
          files.push("b.csv");
          span.record({ done: files });
          files.push("c.csv");
        });
      });

      expect(attributesOf(collector.span("import"))).to.deep.equal({ files: ["a.csv"], done: ["a.csv", "b.csv"] });
    });

    it("does not have fields that are recorded after its end", async () => {
      const collector = await exported(() => {
        const span = log.span("import", { rows: 1 });
        span.run(() => {});
        span.record({ rows: 2 });
      });

      expect(attributesOf(collector.span("import"))).to.deep.equal({ rows: 1 });
    });

    it("has a truncated name, target and field name", async () => {
      const long = "x".repeat(MAX_TEXT_LENGTH + 1);
      const cut = "x".repeat(MAX_TEXT_LENGTH);

      const collector = await exported(() =>
        tracing
          .target(long)
          .span(long, { [long]: long })
          .run(() => {}),
      );

      expect(attributesOf(collector.span(cut))).to.deep.equal({ [cut]: cut });
      expect(collector.requests[0]?.resourceSpans[0]?.scopeSpans[0]?.scope.name).to.equal(cut);
    });

    it("shares a scope with others beyond the maximum of scopes", async () => {
      const targets = Array.from({ length: MAX_SCOPES + 50 }, (_, i) => tracing.target(`shop::${i}`));

      const collector = await exported(() => {
        for (const [i, target] of [...targets, ...targets].entries()) target.span(`import ${i}`).run(() => {});
      });

      const scopes = collector.requests.flatMap(({ resourceSpans }) => resourceSpans[0]?.scopeSpans ?? []);
      const placed = scopes.flatMap(({ scope, spans }) => spans.map(({ name }) => `${name} in ${scope.name}`));
      const expectedScopes = targets.map((_, i) => (i < MAX_SCOPES ? `shop::${i}` : "framework"));
      const twice = [...expectedScopes, ...expectedScopes].map((scope, i) => `import ${i} in ${scope}`);
      expect(placed).to.have.members(twice);
    });

    it("is absent without a name, and the other spans are exported", async () => {
      // A caller without a compiler can omit a name.
      const nothing = undefined as unknown as string;

      const collector = await exported(() => {
        log.span(nothing).run(() => {});
        tracing
          .target(nothing)
          .span("placeless")
          .run(() => {});
        log.span("import").run(() => {});
      });

      expect(collector.spans.map(({ name }) => name)).to.deep.equal(["import"]);
    });

    it("accepts field names that are members of Object.prototype", async () => {
      const fields: object = JSON.parse('{"__proto__":["a"],"constructor":"b","hasOwnProperty":"c","toString":"d"}');

      const collector = await exported(() => log.span("import", { ...fields }).run(() => {}));

      expect(Object.entries(attributesOf(collector.span("import")))).to.deep.equal([
        ["constructor", "b"],
        ["hasOwnProperty", "c"],
        ["toString", "d"],
      ]);
    });

    it("has no events", async () => {
      const collector = await exported(() => log.span("import").run(() => log.error("no such file")));

      expect(collector.span("import").events).to.equal(undefined);
    });

    it("is not redacted", async () => {
      const collector = await exported(() => log.span("login", { password: "hunter2" }).run(() => {}));

      expect(attributesOf(collector.span("login"))).to.deep.equal({ password: "hunter2" });
    });

    it("has the duration of the work", async () => {
      const before = Date.now();
      const collector = await exported(() => log.span("import").run(() => new Promise((done) => setTimeout(done, 20))));
      const after = Date.now();

      const [start, end] = times(collector.span("import"));
      expect(start).to.be.within(before - 1, after);
      expect(end).to.be.within(before - 1, after + 1);
      expect(end - start).to.be.within(19, after - before + 1);
    });

    it("has at most 128 attributes and counts the others", async () => {
      const fields = Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`field${i}`, i]));

      const collector = await exported(() => log.span("wide", fields).run(() => {}));

      const span = collector.span("wide");
      expect(Object.keys(attributesOf(span))).to.have.length(128);
      expect(span.droppedAttributesCount).to.equal(2);
    });
  });

  describe("status", () => {
    it("is unset without an error", async () => {
      const collector = await exported(() => log.span("import").run(() => {}));

      expect(collector.span("import").status).to.deep.equal({ code: "STATUS_CODE_UNSET" });
    });

    for (const [how, fail] of [
      ["was thrown", () => raise(new RangeError("no rows"))],
      ["was rejected", () => Promise.reject(new RangeError("no rows"))],
    ] as const) {
      it(`is the error that ${how}`, async () => {
        const collector = await exported(() => settled(() => log.span("import").run(fail)));

        expect(collector.span("import").status).to.deep.equal({
          code: "STATUS_CODE_ERROR",
          message: "RangeError: no rows",
        });
      });
    }

    for (const [what, error, message] of [
      ["an object", { password: "hunter2", user: "ada" }, '{"password":"[redacted]","user":"ada"}'],
      ["a cause", new Error("x", { cause: { card: "4111" } }), 'Error: x: caused by {"card":"[redacted]"}'],
      ["an object without prototype", Object.assign(Object.create(null), { pwd: 1 }), '{"pwd":"[redacted]"}'],
    ] as const) {
      it(`redacts sensitive names in ${what} that is thrown`, async () => {
        const collector = await exported(() => settled(() => log.span("import").run(() => raise(error))));

        expect(collector.span("import").status).to.deep.equal({ code: "STATUS_CODE_ERROR", message });
      });
    }

    it("is an error also for a thrown null", async () => {
      const collector = await exported(() => settled(() => log.span("import").run(() => raise(null))));

      expect(collector.span("import").status).to.deep.equal({ code: "STATUS_CODE_ERROR", message: "null" });
    });
  });

  describe("parents", () => {
    it("are the enclosing spans, across awaits, timers and background work", async () => {
      let background: Promise<void> | undefined;
      const collector = await exported(async () => {
        await log.span("outer").run(async () => {
          await turn();
          background = log.span("background").run(async () => {
            await turn();
            await turn();
            log.span("late").run(() => {});
          });
          await log.span("inner").run(() => turn());
        });
        await background;
      });

      const outer = collector.span("outer");
      expect(outer.parentSpanId).to.equal(undefined);
      expect(collector.span("inner").parentSpanId).to.equal(outer.spanId);
      expect(collector.span("background").parentSpanId).to.equal(outer.spanId);
      expect(collector.span("late").parentSpanId).to.equal(collector.span("background").spanId);
      expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).to.equal(1);
    });

    it("enclose the times of their children", async () => {
      const collector = await exported(() => {
        for (let i = 0; i < 200; i++) log.span(`outer ${i}`).run(() => log.span(`inner ${i}`).run(() => {}));
      });

      for (let i = 0; i < 200; i++) {
        const [outerStart, outerEnd] = nanoseconds(collector.span(`outer ${i}`));
        const [innerStart, innerEnd] = nanoseconds(collector.span(`inner ${i}`));
        expect(outerStart <= innerStart && innerStart <= innerEnd && innerEnd <= outerEnd).to.equal(true);
      }
    });

    it("stay apart in concurrent requests", async () => {
      const collector = await exported(() =>
        Promise.all(
          Array.from({ length: 50 }, (_, i) =>
            log.span(`request ${i}`).run(async () => {
              for (let turns = i % 7; turns >= 0; turns--) await turn();
              await log.span(`query ${i}`).run(() => turn());
            }),
          ),
        ),
      );

      for (let i = 0; i < 50; i++) {
        const [outer, query] = [collector.span(`request ${i}`), collector.span(`query ${i}`)];
        expect(query.parentSpanId).to.equal(outer.spanId);
        expect(query.traceId).to.equal(outer.traceId);
      }
      expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).to.equal(50);
    });

    it("are the caller's span in a continued trace, with an unchanged tracestate", async () => {
      const collector = await exported(() => request({ continued_trace: true }, CALLER));

      const span = collector.span("framework.request");
      expect([hex(span.traceId), hex(span.parentSpanId)]).to.deep.equal([CALLER.traceId, CALLER.spanId]);
      expect(span.traceState).to.equal(CALLER.traceState);
      expect(span.kind).to.equal("SPAN_KIND_SERVER");
      // OTLP: the parent is known to be remote.
      expect((span.flags ?? 0) & 0x300).to.equal(0x300);
    });

    it("are exported also if the caller's sampled flag is off", async () => {
      const collector = await exported(() => request({ continued_trace: true }, { ...CALLER, traceFlags: 0 }));

      expect(hex(collector.span("framework.request").parentSpanId)).to.equal(CALLER.spanId);
    });

    it("pass the caller's trace to inner spans", async () => {
      const collector = await exported(() =>
        request({ continued_trace: true }, CALLER, () => log.span("inner").run(() => {})),
      );

      const inner = collector.span("inner");
      expect(inner.parentSpanId).to.equal(collector.span("framework.request").spanId);
      expect([hex(inner.traceId), inner.traceState]).to.deep.equal([CALLER.traceId, CALLER.traceState]);
    });

    it("are absent in a trace that starts here, whose ids are the ids of the log", async () => {
      const fields = { trace_id: CALLER.traceId, parent_span_id: CALLER.spanId, continued_trace: false };

      const collector = await exported(() => request(fields, undefined));

      const span = collector.span("framework.request");
      expect(span.parentSpanId).to.equal(undefined);
      expect([hex(span.traceId), hex(span.spanId)]).to.deep.equal([CALLER.traceId, CALLER.spanId]);
      expect(attributesOf(span)).to.deep.equal(fields);
    });

    for (const [what, fields] of Object.entries({
      "an invalid trace id": { trace_id: "0".repeat(32), parent_span_id: CALLER.spanId, continued_trace: false },
      "an invalid span id": { trace_id: CALLER.traceId, parent_span_id: 7, continued_trace: false },
      "no ids": { continued_trace: false },
    })) {
      it(`are absent, with new ids, if the fields have ${what}`, async () => {
        const collector = await exported(() => request(fields, undefined));

        const span = collector.span("framework.request");
        expect(hex(span.traceId)).to.match(/^(?!0{32})[0-9a-f]{32}$/);
        expect(hex(span.traceId)).to.not.equal(CALLER.traceId);
        expect(hex(span.spanId)).to.not.equal(CALLER.spanId);
      });
    }

    it("are the caller's span also inside another span", async () => {
      const collector = await exported(() => log.span("around").run(() => request({ continued_trace: true }, CALLER)));

      const span = collector.span("framework.request");
      expect([hex(span.traceId), hex(span.parentSpanId)]).to.deep.equal([CALLER.traceId, CALLER.spanId]);
      expect(span.kind).to.equal("SPAN_KIND_SERVER");
    });

    it("make the inner request span internal", async () => {
      const collector = await exported(() =>
        request({ continued_trace: true }, CALLER, () => {
          closeSpan(openSpan("framework::observe::access_log", "framework.request", { method: "GET" }));
        }),
      );

      const kinds = collector.spans.map(({ kind, parentSpanId }) => [kind, hex(parentSpanId) === CALLER.spanId]);
      expect(kinds).to.have.deep.members([
        ["SPAN_KIND_SERVER", true],
        ["SPAN_KIND_INTERNAL", false],
      ]);
    });
  });

  it("exports spans full of text to a collector with a limit of 4 MiB", async () => {
    const text = "€".repeat(MAX_TEXT_LENGTH);
    const fields = Object.fromEntries(Array.from({ length: 128 }, (_, i) => [`${i} ${text}`, text]));

    const collector = await exported(() => {
      for (let i = 0; i < 10; i++) log.span("full", fields).run(() => {});
    });

    expect(collector.spans).to.have.length(10);
    expect(attributesOf(collector.spans[0] ?? {})).to.have.property(`0 ${text}`.slice(0, MAX_TEXT_LENGTH), text);
  });

  it("exports ten thousand spans that were open at the same time", async () => {
    const collector = await exported(async () => {
      const open = Array.from({ length: 10_000 }, (_, i) => log.span("one of many", { i }).run(() => turn()));
      await Promise.all(open);
    });

    const numbers = new Set(collector.spans.map((span) => attributesOf(span)["i"]));
    expect(numbers.size).to.equal(10_000);
  });
});

/** Opens a request span as the framework's layers do. */
function request(fields: object, remote: RemoteParent | undefined, inside = () => {}): void {
  enterRequest(() => {
    const span = openSpan("framework::observe::trace_context", "framework.request", { ...fields }, remote);
    inside();
    closeSpan(span);
  }, undefined);
}

function raise(error: unknown): never {
  throw error;
}

async function settled(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {
    // The error is intended.
  }
}

function nanoseconds({ startTimeUnixNano, endTimeUnixNano }: ExportedSpan): readonly [bigint, bigint] {
  return [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)];
}

/** In milliseconds. */
function times(span: ExportedSpan): readonly [number, number] {
  const [start, end] = nanoseconds(span);
  return [Number(start / 1000n) / 1000, Number(end / 1000n) / 1000];
}
