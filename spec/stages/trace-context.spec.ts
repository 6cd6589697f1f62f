/** The trace-context stage over raw sockets: the trace that a request joins, and the fields of its span. */
import { expect } from "chai";
import type { Context } from "../../lib/http/request/context.js";
import { UnavailableError } from "../../lib/errors/framework-error.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { REQUEST } from "../../lib/observe/request-span.js";
import { TraceContext } from "../../lib/observe/trace-context.js";
import { TraceContextLayer } from "../../lib/stages/trace-context.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";
import { Stack } from "../support/stack.js";
import { until } from "../support/until.js";
import { TracingRecorder } from "../support/tracing-recorder.js";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const VALID = `00-${TRACE}-${PARENT}-01`;
const log = tracing.target("spec");

const JOINED: readonly (readonly [string, readonly string[], number])[] = [
  ["a sampled trace", [`traceparent: ${VALID}`], 1],
  ["a trace that is not sampled", [`traceparent: 00-${TRACE}-${PARENT}-00`], 0],
  ["unknown flags", [`Traceparent: 00-${TRACE}-${PARENT}-ff`], 255],
  ["whitespace around the value, which is not part of it", [`traceparent: \t${VALID} `], 1],
  ["a tracestate that is not valid", [`traceparent: ${VALID}`, "tracestate: \xff"], 1],
];

const ROOTS: readonly (readonly [string, readonly string[]])[] = [
  ["no header", []],
  ["an empty header", ["traceparent:"]],
  ["the header twice", [`traceparent: ${VALID}`, `traceparent: ${VALID}`]],
  ["the header twice, once empty", [`traceparent: ${VALID}`, "traceparent:"]],
  ["another version", [`traceparent: 01-${TRACE}-${PARENT}-01`]],
  ["version ff", [`traceparent: ff-${TRACE}-${PARENT}-01`]],
  ["upper case", [`traceparent: ${VALID.toUpperCase()}`]],
  ["a trace id of zeros", [`traceparent: 00-${"0".repeat(32)}-${PARENT}-01`]],
  ["a parent id of zeros", [`traceparent: 00-${TRACE}-${"0".repeat(16)}-01`]],
  ["one character too few", [`traceparent: ${VALID.slice(1)}`]],
  ["one character too many", [`traceparent: ${VALID}-`]],
  ["15 000 bytes", [`traceparent: ${VALID.repeat(272)}`]],
  ["latin-1", [`traceparent: ${VALID.slice(0, -1)}\xe9`]],
  ["a tracestate alone", ["tracestate: a=1"]],
];

const STATES: readonly (readonly [string, readonly string[], string | undefined])[] = [
  ["unchanged", ["tracestate: a=1,b=2"], "a=1,b=2"],
  ["without the whitespace around", ["tracestate:  a=1 , b=2 "], "a=1 , b=2"],
  ["lines joined with a comma, in order", ["tracestate: a=1", "tracestate: b=2"], "a=1,b=2"],
  ["512 bytes", [`tracestate: a=${"x".repeat(510)}`], `a=${"x".repeat(510)}`],
  ["not 513 bytes", [`tracestate: a=${"x".repeat(511)}`], undefined],
  ["not lines of more than 512 bytes together", ["tracestate: a=1", `tracestate: b=${"x".repeat(507)}`], undefined],
  ["32 members", [`tracestate: ${members(32)}`], members(32)],
  ["not 33 members", [`tracestate: ${members(33)}`], undefined],
  ["not 33 members on two lines", [`tracestate: ${members(32)}`, "tracestate: z=1"], undefined],
  ["not latin-1", ["tracestate: a=\xe9"], undefined],
  ["nothing of an empty one", ["tracestate:"], undefined],
];

function members(count: number): string {
  return Array.from({ length: count }, (_, at) => `m${at}=1`).join(",");
}

function get(...lines: readonly string[]): string {
  return `${["GET / HTTP/1.1", "Host: spec", "Connection: close", ...lines].join("\r\n")}\r\n\r\n`;
}

/** The trace of a request and the fields of its span. */
async function traced(...lines: readonly string[]) {
  const witness = new TracingRecorder();
  const seen: (TraceContext | undefined)[] = [];
  await using stack = await witness.run(() =>
    Stack.of([new TraceContextLayer()], (ctx) => void seen.push(TraceContext.of(ctx))),
  );
  const text = await stack.raw(get(...lines));
  return { text, witness, span: witness.spans[0], trace: seen[0] };
}

describe("TraceContextLayer", () => {
  it("obeys the layer contract", () => obeysLayerContract(new TraceContextLayer()));

  for (const [what, lines, flags] of JOINED) {
    it(`continues the caller's trace: ${what}`, async () => {
      const { span, trace, witness } = await traced(...lines);

      const fields = { trace_id: TRACE, parent_span_id: PARENT, continued_trace: true };
      expect(witness.spans).to.have.length(1);
      expect(span).to.deep.include({ name: REQUEST, target: "framework::observe::trace_context", fields });
      expect(span?.remoteParent).to.include({ traceId: TRACE, spanId: PARENT, traceFlags: flags });
      expect(trace).to.include({ traceId: TRACE, parentSpanId: PARENT, flags, continued: true, tracestate: undefined });
    });
  }

  for (const [what, lines] of ROOTS) {
    it(`starts a new trace: ${what}`, async () => {
      const { text, span, trace } = await traced(...lines);

      expect(text).to.match(/^HTTP\/1\.1 204 /);
      expect(span?.fields).to.have.all.keys("trace_id", "parent_span_id", "continued_trace");
      expect(span?.fields["trace_id"])
        .to.match(/^[0-9a-f]{32}$/)
        .and.not.to.equal(TRACE);
      expect(span?.fields["parent_span_id"])
        .to.match(/^[0-9a-f]{16}$/)
        .and.not.to.equal(PARENT);
      expect(span?.fields["continued_trace"]).to.equal(false);
      expect(span?.remoteParent).to.equal(undefined);
      expect(trace).to.include({ continued: false, flags: 1, tracestate: undefined });
    });
  }

  for (const [what, lines, tracestate] of STATES) {
    it(`passes on a tracestate: ${what}`, async () => {
      const { span, trace } = await traced(`traceparent: ${VALID}`, ...lines);

      expect(trace).to.include({ traceId: TRACE, continued: true, tracestate });
      expect(span?.remoteParent?.traceState).to.equal(tracestate);
      expect(trace?.outboundHeaders()["tracestate"]).to.equal(tracestate);
    });
  }

  it("writes no header from a folded line or a line break", async () => {
    for (const line of [`traceparent: ${VALID}\r\n Set-Cookie: b=1`, `tracestate: a=1\rSet-Cookie: b=1`]) {
      const { text } = await traced(line);

      expect(text).to.match(/^HTTP\/1\.1 400 /);
      expect(text.toLowerCase()).not.to.contain("set-cookie");
    }
  });

  it("does not change the response", async () => {
    await using plain = await Stack.of([], () => "hello");
    await using stack = await Stack.of([new TraceContextLayer()], () => "hello");
    const headers = { traceparent: VALID, tracestate: "a=1" };

    const answers = [await plain.ask("/", { headers }), await stack.ask("/", { headers })];

    const [without, having] = answers.map((answer) => ({ ...answer.headers, date: "any" }));
    expect(having).to.deep.equal(without);
  });

  it("gives outbound calls the trace, and each its own span", async () => {
    await using stack = await Stack.of([new TraceContextLayer()], (ctx) => {
      const trace = TraceContext.of(ctx);
      return [trace?.outboundHeaders(), trace?.outboundHeaders()];
    });

    const answer = await stack.ask("/", { headers: { traceparent: VALID, tracestate: "a=1" } });

    const [first, second] = JSON.parse(answer.text) as Record<string, string>[];
    expect(first).to.have.all.keys("traceparent", "tracestate");
    expect(first?.["traceparent"])
      .to.match(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
      .and.not.to.contain(PARENT);
    expect(second?.["traceparent"]).not.to.equal(first?.["traceparent"]);
  });

  it("lets events of handlers inherit its fields", async () => {
    const witness = new TracingRecorder();
    await using stack = await witness.run(() =>
      Stack.of([new TraceContextLayer()], async () => {
        await Promise.resolve();
        log.info("working");
      }),
    );

    await stack.ask("/", { headers: { traceparent: VALID } });

    const [event] = witness.from("spec");
    expect(event?.spans).to.deep.equal([REQUEST]);
    expect(event?.inherited).to.deep.equal({ trace_id: TRACE, parent_span_id: PARENT, continued_trace: true });
  });

  it("gives handlers the trace also without a subscriber", async () => {
    await using stack = await Stack.of([new TraceContextLayer()], (ctx) => TraceContext.of(ctx)?.traceId);

    const answer = await stack.ask("/", { headers: { traceparent: VALID } });

    expect(answer.text).to.equal(TRACE);
  });

  describe("the span", () => {
    const failure = new Error("boom");
    const outcomes: readonly (readonly [string, (ctx: Context) => unknown, unknown])[] = [
      ["as successful after a response", () => "hello", { ok: true }],
      ["as successful after a refusal", (ctx) => ctx.throw(404), { ok: true }],
      [
        "as failed after a server error",
        () => Promise.reject(new UnavailableError()),
        { ok: false, error: "HTTP 503" },
      ],
      ["as failed with an error that passes it", () => Promise.reject(failure), { ok: false, error: failure }],
    ];

    for (const [how, handler, outcome] of outcomes) {
      it(`ends ${how}`, async () => {
        const witness = new TracingRecorder();
        await using stack = await witness.run(() => Stack.of([new TraceContextLayer()], handler));

        await stack.ask();

        expect(witness.spans.map((span) => span.outcome)).to.deep.equal([outcome]);
      });
    }

    it("ends when the client leaves", async () => {
      const witness = new TracingRecorder();
      await using stack = await witness.run(() => Stack.of([new TraceContextLayer()], () => new Promise(() => {})));
      const controller = new AbortController();
      const answer = fetch(stack.url, { signal: controller.signal }).catch(() => {});
      await until(() => witness.spans.length > 0);

      controller.abort();
      await answer;

      await until(() => witness.spans[0]?.outcome !== undefined);
      expect(witness.spans[0]?.outcome).to.deep.equal({ ok: true });
    });
  });
});
