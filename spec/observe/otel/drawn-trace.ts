/** Draws traces as text: a tree of spans, each with its duration and a bar for its time within the trace. */
import { hex, type ExportedSpan } from "./collector.js";

const WIDTH = 32;

/** One text for each trace, in the order of their starts. */
export function drawTraces(spans: readonly ExportedSpan[]): readonly string[] {
  const sorted = byStart(spans);
  const traces = new Set(sorted.map(({ traceId }) => traceId));
  return [...traces].map((trace) => drawTrace(sorted.filter(({ traceId }) => traceId === trace)));
}

function drawTrace(spans: readonly ExportedSpan[]): string {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const scale = new Scale(spans);
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined || !known.has(parentSpanId));
  const rows = roots.flatMap((root) => drawSpan(root, spans, scale, ""));
  const width = Math.max(...rows.map(({ label }) => label.length));
  const lines = rows.map(({ label, bar }) => `${label.padEnd(width)}  ${bar}`.trimEnd());
  return [`trace ${hex(spans[0]?.traceId)}`, ...lines].join("\n");
}

interface Row {
  readonly label: string;
  readonly bar: string;
}

function drawSpan(span: ExportedSpan, spans: readonly ExportedSpan[], scale: Scale, indent: string): readonly Row[] {
  const failed = span.status?.code === "STATUS_CODE_ERROR" ? ` ! ${span.status.message ?? ""}` : "";
  const children = spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);
  return [
    { label: `${indent}${span.name}${failed}`, bar: scale.bar(span) },
    ...children.flatMap((child) => drawSpan(child, spans, scale, `${indent}  `)),
  ];
}

/** From the start of the first span to the end of the last span. */
class Scale {
  private readonly start: bigint;
  private readonly length: number;

  constructor(spans: readonly ExportedSpan[]) {
    this.start = spans.reduce((least, { startTimeUnixNano: at }) => (BigInt(at) < least ? BigInt(at) : least), FAR);
    this.length = Math.max(...spans.map(({ endTimeUnixNano }) => Number(BigInt(endTimeUnixNano) - this.start)), 1);
  }

  bar({ startTimeUnixNano, endTimeUnixNano }: ExportedSpan): string {
    const [from, to] = [this.column(startTimeUnixNano), this.column(endTimeUnixNano)];
    const took = Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6;
    const bar = `${" ".repeat(from)}${"█".repeat(Math.max(1, to - from))}`;
    return `${bar.padEnd(WIDTH + 1)} ${took.toFixed(2)} ms`;
  }

  private column(at: string): number {
    return Math.round((Number(BigInt(at) - this.start) / this.length) * WIDTH);
  }
}

const FAR = 1n << 64n;

function byStart(spans: readonly ExportedSpan[]): readonly ExportedSpan[] {
  return spans.toSorted((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
}
