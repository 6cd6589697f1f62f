import { expect } from "chai";
import type { ExportedSpan } from "./collector.js";
import { drawTraces } from "./drawn-trace.js";

describe("a drawn trace", () => {
  it("shows parents, times, durations and errors", () => {
    const spans = [
      span("find", "2", "1", 1, 3, { code: "STATUS_CODE_ERROR", message: "Error: no" }),
      span("request", "1", undefined, 0, 4),
      span("other trace", "9", "8", 10, 11),
    ];

    const [first, second, ...more] = drawTraces(spans);

    expect(more).to.deep.equal([]);
    expect(first?.split("\n")).to.deep.equal([
      `trace ${"01".repeat(16)}`,
      `request             ${"█".repeat(32)}  4.00 ms`,
      `  find ! Error: no  ${" ".repeat(8)}${"█".repeat(16)}${" ".repeat(10)}2.00 ms`,
    ]);
    expect(second).to.include("other trace");
  });
});

function span(
  name: string,
  spanId: string,
  parentSpanId: string | undefined,
  start: number,
  end: number,
  status = { code: "STATUS_CODE_UNSET", message: "" },
): ExportedSpan {
  const traceId = Buffer.alloc(16, name === "other trace" ? 2 : 1).toString("base64");
  const [startTimeUnixNano, endTimeUnixNano] = [start, end].map((at) =>
    String(1_800_000_000_000_000_000n + BigInt(at * 1e6)),
  );
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: "SPAN_KIND_INTERNAL",
    startTimeUnixNano: startTimeUnixNano ?? "",
    endTimeUnixNano: endTimeUnixNano ?? "",
    status,
  };
}
