import { expect } from "chai";
import * as fc from "fast-check";
import type { Extensible } from "../../lib/http/request/extension.js";
import {
  FLAG_SAMPLED,
  TraceContext,
  MAX_TRACESTATE_BYTES,
  MAX_TRACESTATE_MEMBERS,
} from "../../lib/observe/trace-context.js";
import { anyText } from "../support/any-text.js";
import { parsedRequest } from "../support/parsed-request.js";

const TRACE = "0123456789abcdef0123456789abcdef";
const SPAN = "fedcba9876543210";
const PARENT = `00-${TRACE}-${SPAN}-01`;

describe("TraceContext", () => {
  it("has the limits of the standard", () => {
    expect([FLAG_SAMPLED, MAX_TRACESTATE_MEMBERS, MAX_TRACESTATE_BYTES]).to.deep.equal([1, 32, 512]);
  });

  describe("traceparent", () => {
    const invalid: readonly (readonly [string, string | undefined])[] = [
      ["no header", undefined],
      ["an empty header", ""],
      ["54 bytes", PARENT.slice(0, 54)],
      ["56 bytes", `${PARENT}0`],
      ["a space before", ` ${PARENT}`],
      ["a space after", `${PARENT} `],
      ["a space before, 55 bytes in total", ` ${PARENT.slice(0, 54)}`],
      ["a newline after", `${PARENT}\n`],
      ["55 dashes", "-".repeat(55)],
      ["no dash at 2", PARENT.replace("00-", "000")],
      ["no dash at 35", `00-${TRACE}0${SPAN}-01`],
      ["no dash at 52", `00-${TRACE}-${SPAN}001`],
      ["a dash at 34 and 36", `00-${TRACE.slice(1)}--${SPAN}-01`],
      ["version 01", `01${PARENT.slice(2)}`],
      ["version cc", `cc${PARENT.slice(2)}`],
      ["version ff", `ff${PARENT.slice(2)}`],
      ["version 0a", `0a${PARENT.slice(2)}`],
      ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
      ["a parent id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
      ["upper case in the trace id", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
      ["upper case in the parent id", `00-${TRACE}-${SPAN.toUpperCase()}-01`],
      ["upper case in the flags", `00-${TRACE}-${SPAN}-0A`],
      ["a letter after f", `00-${TRACE.replace("f", "g")}-${SPAN}-01`],
      ["a byte before 0", `00-${TRACE}-${SPAN.replace("9", "/")}-01`],
      ["a byte after 9", `00-${TRACE}-${SPAN.replace("9", ":")}-01`],
      ["a byte before a", `00-${TRACE}-${SPAN.replace("a", "`")}-01`],
      ["a sign in the flags", `00-${TRACE}-${SPAN}-+1`],
      ["a space in the flags", `00-${TRACE}-${SPAN}- 1`],
      ["full-width digits", `00-${TRACE.replace("0", "０")}-${SPAN}-01`],
      ["a letter that lower-cases to ASCII", `00-${TRACE}-${SPAN}-0\u212a`],
      ["a megabyte", "0".repeat(1_000_000)],
    ];

    for (const [title, traceparent] of invalid) {
      it(`is discarded, and tracestate with it: ${title}`, () => {
        expect(TraceContext.parse(traceparent, "a=1")).to.equal(undefined);
      });
    }

    it("is discarded if it is not a string", () => {
      for (const value of [null, [PARENT], 7, {}, Symbol(PARENT)] as unknown[] as string[]) {
        expect(TraceContext.parse(value)).to.equal(undefined);
        expect(TraceContext.parse(PARENT, value)).to.include({ traceId: TRACE, tracestate: undefined });
      }
    });

    it("gives the caller's ids", () => {
      expect(TraceContext.parse(PARENT)).to.include({
        traceId: TRACE,
        parentSpanId: SPAN,
        flags: 1,
        continued: true,
        tracestate: undefined,
      });
    });

    it("accepts ids that are zero except for one digit", () => {
      const first = TraceContext.parse(`00-1${"0".repeat(31)}-1${"0".repeat(15)}-00`);
      const last = TraceContext.parse(`00-${"0".repeat(31)}1-${"0".repeat(15)}1-00`);

      expect(first?.traceId).to.equal(`1${"0".repeat(31)}`);
      expect(last?.parentSpanId).to.equal(`${"0".repeat(15)}1`);
    });

    it("keeps every bit of the flags, and passes them on", () => {
      for (let flags = 0; flags < 256; flags++) {
        const octet = Buffer.of(flags).toString("hex");
        const trace = TraceContext.parse(`00-${TRACE}-${SPAN}-${octet}`);

        expect(trace).to.include({ flags, sampled: flags % 2 === 1 });
        expect(trace?.outboundHeaders()["traceparent"]).to.match(new RegExp(`-${octet}$`, "u"));
      }
    });
  });

  describe("tracestate", () => {
    const rows: readonly (readonly [string, string | undefined, string | undefined])[] = [
      ["one member", "rojo=1", "rojo=1"],
      ["its original text, whitespace inside included", "a=1 , b= 2,,c=3", "a=1 , b= 2,,c=3"],
      ["without the whitespace around it", " \ta=1\t ", "a=1"],
      ["every printable byte", printable(), printable().trim()],
      ["32 members", members(32), members(32)],
      ["33 members", members(33), undefined],
      ["32 members and empty ones", `${members(32)},, ,`, `${members(32)},, ,`],
      ["512 bytes", `a=${"x".repeat(510)}`, `a=${"x".repeat(510)}`],
      ["513 bytes", `a=${"x".repeat(511)}`, undefined],
      ["512 bytes and whitespace around them", ` a=${"x".repeat(510)} `, `a=${"x".repeat(510)}`],
      ["a megabyte", "x".repeat(1_000_000), undefined],
      ["a megabyte of spaces", " ".repeat(1_000_000), undefined],
      ["a tab inside", "a=1,\tb=2", undefined],
      ["CR and LF", "a=1\r\nb=2", undefined],
      ["NUL", "a=\u0000", undefined],
      ["DEL", "a=\u007f", undefined],
      ["a letter outside ASCII", "a=é", undefined],
      ["a no-break space at the end", "a=1\u00a0", undefined],
      ["an empty text", "", undefined],
      ["whitespace", " \t ", undefined],
      ["only empty members", ", ,,", undefined],
      ["absent", undefined, undefined],
      ["members without a key and a value, which are not checked", "A==,b", "A==,b"],
    ];

    for (const [title, sent, expected] of rows) {
      it(`${expected === undefined ? "is dropped" : "is preserved"}: ${title}`, () => {
        const trace = TraceContext.parse(PARENT, sent);

        expect(trace?.tracestate).to.equal(expected);
        expect(trace?.traceId).to.equal(TRACE);
      });
    }
  });

  describe("a new trace", () => {
    it("has its own ids, is sampled and continues no other trace", () => {
      const root = TraceContext.root();

      expect(root.traceId).to.match(/^[0-9a-f]{32}$/u);
      expect(root.parentSpanId).to.match(/^[0-9a-f]{16}$/u);
      expect(root).to.include({ flags: 1, sampled: true, continued: false, tracestate: undefined });
    });

    it("can be continued by the next service", () => {
      const root = TraceContext.root();
      const next = TraceContext.parse(root.outboundHeaders()["traceparent"]);

      expect(next?.traceId).to.equal(root.traceId);
      expect(next?.continued).to.equal(true);
    });

    it("never has the ids of another trace", () => {
      const roots = Array.from({ length: 5000 }, () => TraceContext.root());

      expect(new Set(roots.map(({ traceId }) => traceId)).size).to.equal(5000);
      expect(new Set(roots.map(({ parentSpanId }) => parentSpanId)).size).to.equal(5000);
      for (const { traceId, parentSpanId } of roots) expect(`${traceId}${parentSpanId}`).to.match(/^[0-9a-f]{48}$/u);
    });
  });

  describe("outbound headers", () => {
    it("carry the trace, a new span for each call, the flags and the state", () => {
      const trace = TraceContext.parse(`00-${TRACE}-${SPAN}-a0`, "rojo=1");

      const [one, two] = [trace?.outboundHeaders(), trace?.outboundHeaders()];

      expect(one?.["traceparent"]).to.match(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-a0$`, "u"));
      expect(one?.["traceparent"]).not.to.equal(two?.["traceparent"]);
      expect(one?.["traceparent"]).not.to.include(SPAN);
      expect(one).to.have.all.keys("traceparent", "tracestate").and.include({ tracestate: "rojo=1" });
    });

    it("have no tracestate if it was not valid", () => {
      expect(TraceContext.parse(PARENT, "\u0000")?.outboundHeaders()).to.have.all.keys("traceparent");
    });

    it("are valid headers for fetch", () => {
      const headers = new Headers(TraceContext.parse(PARENT, "rojo=1")?.outboundHeaders());

      expect(headers.get("tracestate")).to.equal("rojo=1");
    });
  });

  it("is found only on the request that it was set on", () => {
    const [one, other]: [Extensible, Extensible] = [{ extensions: undefined }, { extensions: undefined }];
    const trace = TraceContext.root();

    TraceContext.set(one, trace);

    expect(TraceContext.of(one)).to.equal(trace);
    expect(TraceContext.of(other)).to.equal(undefined);
  });

  describe("of a received request", () => {
    const rows: readonly (readonly [string, readonly string[], string | undefined, string | undefined])[] = [
      ["both headers", [`traceparent: ${PARENT}`, "tracestate: a=1"], TRACE, "a=1"],
      ["names in any case", [`TraceParent: ${PARENT}`, "TRACESTATE: a=1"], TRACE, "a=1"],
      ["traceparent twice, the same", [`traceparent: ${PARENT}`, `traceparent: ${PARENT}`], undefined, undefined],
      ["traceparent and an empty one", [`traceparent: ${PARENT}`, "traceparent:"], undefined, undefined],
      ["tracestate on two lines", [`traceparent: ${PARENT}`, "tracestate: a=1", "tracestate: b=2"], TRACE, "a=1,b=2"],
      [
        "tracestate on two lines, one of them empty",
        [`traceparent: ${PARENT}`, "tracestate:", "tracestate: b=2"],
        TRACE,
        ",b=2",
      ],
      ["two lines, too long together", [`traceparent: ${PARENT}`, ...halves(257)], TRACE, undefined],
      ["two lines, 512 bytes together", [`traceparent: ${PARENT}`, ...halves(256)], TRACE, halves(256, "")[0] + ",b=1"],
      ["tracestate alone", ["tracestate: a=1"], undefined, undefined],
      ["neither", [], undefined, undefined],
      ["a name with a dash", [`trace-parent: ${PARENT}`], undefined, undefined],
    ];

    for (const [title, lines, traceId, tracestate] of rows) {
      it(`${traceId === undefined ? "is new" : "is the caller's"}: ${title}`, async () => {
        const trace = TraceContext.fromRequest(await parsedRequest(...lines));

        expect(trace.continued).to.equal(traceId !== undefined);
        expect(trace.tracestate).to.equal(tracestate);
        if (traceId !== undefined) expect(trace.traceId).to.equal(traceId);
      });
    }
  });

  describe("of any text", () => {
    const parent = fc
      .tuple(hex(32), hex(16), hex(2))
      .filter(([trace, span]) => /[^0]/u.test(trace) && /[^0]/u.test(span))
      .map(([trace, span, flags]) => `00-${trace}-${span}-${flags}`);

    it("accepts every valid traceparent", () => {
      fc.assert(
        fc.property(parent, (sent) => {
          const trace = TraceContext.parse(sent);

          const flags = trace?.flags.toString(16).padStart(2, "0");
          expect(`00-${trace?.traceId}-${trace?.parentSpanId}-${flags}`).to.equal(sent);
        }),
      );
    });

    it("agrees with the grammar, also for texts that differ from it by one character", () => {
      const almost = fc
        .tuple(parent, fc.nat(54), fc.constantFrom("0", "f", "-", "F", "g", " ", "é"), fc.constantFrom(0, 1, 2))
        .map(([text, at, character, cut]) => text.slice(0, at) + character + text.slice(at + cut));
      const grammar = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/u;

      fc.assert(
        fc.property(fc.oneof(almost, fc.string()), (sent) => {
          expect(TraceContext.parse(sent) !== undefined).to.equal(grammar.test(sent));
        }),
        { numRuns: 500 },
      );
    });

    it("keeps a tracestate unchanged if it is within the limits, else drops it", () => {
      const state = fc.oneof(fc.string(), anyText(), fc.array(fc.string({ maxLength: 20 })).map(String));

      fc.assert(
        fc.property(state, (sent) => {
          const expected = TraceContext.parse(PARENT, sent)?.tracestate;

          const trimmed = sent.replaceAll(/^[ \t]+|[ \t]+$/gu, "");
          const { length } = trimmed.split(",").filter((member) => /[^ ]/u.test(member));
          const isWithinLimits = /^[ -~]{1,512}$/u.test(trimmed) && length >= 1 && length <= 32;
          expect(expected).to.equal(isWithinLimits ? trimmed : undefined);
        }),
        { numRuns: 500 },
      );
    });
  });
});

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `k${index}=1`).join(",");
}

function hex(digits: number): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`, "u"));
}

function printable(): string {
  return Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)).join("");
}

/** Two lines whose values, joined with one comma, have twice `half` bytes. */
function halves(half: number, name = "tracestate: "): readonly string[] {
  return [`${name}a=${"x".repeat(2 * half - 6)}`, `${name}b=1`];
}
