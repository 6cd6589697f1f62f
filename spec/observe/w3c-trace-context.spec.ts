/**
 * The W3C Recommendation "Trace Context" (https://www.w3.org/TR/trace-context/), case by case: its examples, and the valid, invalid and
 * boundary values of each section. A row says so if the framework accepts less or more than the standard.
 */
import { expect } from "chai";
import { TraceContext } from "../../lib/observe/trace-context.js";

/** `trace-id/parent-id/flags` of the continued trace. */
type Continued = `${string}/${string}/${string}` | "restarted";

const TRACEPARENTS: readonly (readonly [string, string, string, Continued])[] = [
  // 3.1 Relationship Between the Headers, 3.2.3 Examples
  [
    "3.1",
    "the first example",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "0af7651916cd43dd8448eb211c80319c/b7ad6b7169203331/1",
  ],
  [
    "3.1",
    "after one hop",
    "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
    "0af7651916cd43dd8448eb211c80319c/00f067aa0ba902b7/1",
  ],
  [
    "3.1",
    "after two hops",
    "00-0af7651916cd43dd8448eb211c80319c-b9c7c989f97918e1-01",
    "0af7651916cd43dd8448eb211c80319c/b9c7c989f97918e1/1",
  ],
  [
    "3.2.3",
    "sampled by the caller",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "4bf92f3577b34da6a3ce929d0e0e4736/00f067aa0ba902b7/1",
  ],
  [
    "3.2.3",
    "not sampled by the caller",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
    "4bf92f3577b34da6a3ce929d0e0e4736/00f067aa0ba902b7/0",
  ],
  // 3.2.2.1 version
  ["3.2.2.1", "version ff is forbidden", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "restarted"],
  ["3.2.2.1", "a version in upper case", "0A-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "restarted"],
  [
    "3.2.2.1",
    "a version that is not hexadecimal",
    "0.-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "restarted",
  ],
  ["3.2.2.1", "a version of one digit", "0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "restarted"],
  ["3.2.2.1", "a version of three digits", "000-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "restarted"],
  // 3.2.2.2 version-format
  [
    "3.2.2.2",
    "version 00 with a further field",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
    "restarted",
  ],
  ["3.2.2.2", "version 00 with one more byte", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.", "restarted"],
  ["3.2.2.2", "version 00 without flags", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", "restarted"],
  ["3.2.2.2", "underscores for dashes", "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01", "restarted"],
  // 3.2.2.3 trace-id
  ["3.2.2.3", "all bytes zero", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "restarted"],
  [
    "3.2.2.3",
    "the smallest",
    "00-00000000000000000000000000000001-00f067aa0ba902b7-01",
    "00000000000000000000000000000001/00f067aa0ba902b7/1",
  ],
  [
    "3.2.2.3",
    "the largest",
    "00-ffffffffffffffffffffffffffffffff-00f067aa0ba902b7-01",
    "ffffffffffffffffffffffffffffffff/00f067aa0ba902b7/1",
  ],
  [
    "3.2.2.3",
    "only the left half not zero",
    "00-4bf92f3577b34da60000000000000000-00f067aa0ba902b7-01",
    "4bf92f3577b34da60000000000000000/00f067aa0ba902b7/1",
  ],
  [
    "3.2.2.3",
    "only the right half not zero",
    "00-0000000000000000a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "0000000000000000a3ce929d0e0e4736/00f067aa0ba902b7/1",
  ],
  ["3.2.2.3", "upper case", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "restarted"],
  [
    "3.2.2.3",
    "a character that is not allowed, first",
    "00-.bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "restarted",
  ],
  [
    "3.2.2.3",
    "a character that is not allowed, last",
    "00-4bf92f3577b34da6a3ce929d0e0e473.-00f067aa0ba902b7-01",
    "restarted",
  ],
  ["3.2.2.3", "31 digits", "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", "restarted"],
  ["3.2.2.3", "33 digits", "00-4bf92f3577b34da6a3ce929d0e0e47361-00f067aa0ba902b7-01", "restarted"],
  [
    "3.2.2.3",
    "31 digits, and one more in the parent-id",
    "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7a-01",
    "restarted",
  ],
  // 3.2.2.4 parent-id
  ["3.2.2.4", "all bytes zero", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "restarted"],
  [
    "3.2.2.4",
    "the smallest",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000001-01",
    "4bf92f3577b34da6a3ce929d0e0e4736/0000000000000001/1",
  ],
  [
    "3.2.2.4",
    "the largest",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-ffffffffffffffff-01",
    "4bf92f3577b34da6a3ce929d0e0e4736/ffffffffffffffff/1",
  ],
  ["3.2.2.4", "upper case", "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01", "restarted"],
  [
    "3.2.2.4",
    "a character that is not allowed",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-.0f067aa0ba902b7-01",
    "restarted",
  ],
  ["3.2.2.4", "15 digits", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b-01", "restarted"],
  ["3.2.2.4", "17 digits", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b71-01", "restarted"],
  // 3.2.2.5 trace-flags
  [
    "3.2.2.5",
    "all eight set",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff",
    "4bf92f3577b34da6a3ce929d0e0e4736/00f067aa0ba902b7/255",
  ],
  [
    "3.2.2.5",
    "the sampled bit in 09",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-09",
    "4bf92f3577b34da6a3ce929d0e0e4736/00f067aa0ba902b7/9",
  ],
  ["3.2.2.5", "upper case", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-FF", "restarted"],
  [
    "3.2.2.5",
    "a character that is not allowed, first",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-.1",
    "restarted",
  ],
  [
    "3.2.2.5",
    "a character that is not allowed, last",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0.",
    "restarted",
  ],
  ["3.2.2.5", "one digit", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1", "restarted"],
  ["3.2.2.5", "three digits", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-001", "restarted"],
  // 3.2.4 Versioning of traceparent
  ["3.2.4", "no version", "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "restarted"],
  ["3.2.4", "a higher version, shorter than 55", "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", "restarted"],
  [
    "3.2.4",
    "a higher version with text directly after the flags",
    "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
    "restarted",
  ],
  [
    "3.2.4, narrower: 00 only",
    "a higher version of the same shape",
    "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "restarted",
  ],
  [
    "3.2.4, narrower: 00 only",
    "a higher version with more fields",
    "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
    "restarted",
  ],
];

const LONG = "x".repeat(256);
const TRACESTATES: readonly (readonly [string, string, string, "preserved" | "dropped"])[] = [
  ["3.1", "the first example", "congo=t61rcWkgMzE", "preserved"],
  ["3.1", "after one hop", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "preserved"],
  ["3.1", "after two hops", "congo=ucfJifl5GOE,rojo=00f067aa0ba902b7", "preserved"],
  ["3.3.2 Examples", "one tracing system", "rojo=00f067aa0ba902b7", "preserved"],
  ["list", "the simple example", "vendorname1=opaqueValue1,vendorname2=opaqueValue2", "preserved"],
  ["list", "spaces around members", "a=1 , b=2", "preserved"],
  ["list", "32 members", Array.from({ length: 32 }, (_, index) => `v${index}=${index}`).join(","), "preserved"],
  ["list", "33 members", Array.from({ length: 33 }, (_, index) => `v${index}=${index}`).join(","), "dropped"],
  ["header field values", "empty members", "a=1,,b=2,", "preserved"],
  ["header field values", "members of spaces", "a=1, ,b=2", "preserved"],
  ["header field values, narrower: no tab", "tabs around members", "a=1\t,\tb=2", "dropped"],
  ["key", "every character of a key", "abcdefghijklmnopqrstuvwxyz0123456789_-*/@=1", "preserved"],
  ["key", "a key that starts with a digit", "0a=1", "preserved"],
  ["key", "a tenant at a system", "tenant@system=1", "preserved"],
  ["key", "256 characters", `${LONG}=1`, "preserved"],
  ["value", "every character of a value", "a= !\"#$%&'()*+-./0123456789:;<>?@AZ[\\]^_`az{|}~", "preserved"],
  ["value", "256 characters", `a=${LONG}`, "preserved"],
  ["value", "a control character", "a=\u0001", "dropped"],
  ["value", "DEL", "a=\u007f", "dropped"],
  ["value", "a character outside ASCII", "a=\u00e9", "dropped"],
  ["limits", "512 characters", `a=${LONG},b=${"y".repeat(251)}`, "preserved"],
  ["limits, narrower: no more than 512", "513 characters", `a=${LONG},b=${"y".repeat(252)}`, "dropped"],
  ["combined header value, wider: not checked", "a key twice", "congo=2,rojo=1,congo=1", "preserved"],
  ["key, wider: not checked", "a key in upper case", "CONGO=1", "preserved"],
  ["list-members, wider: not checked", "a member without a value", "congo", "preserved"],
];

const PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

describe("W3C Trace Context", () => {
  for (const [section, title, traceparent, expected] of TRACEPARENTS) {
    it(`${section}: ${title}: ${expected === "restarted" ? "restarted" : "continued"}`, () => {
      const trace = TraceContext.parse(traceparent, "congo=t61rcWkgMzE");

      const seen = trace === undefined ? "restarted" : `${trace.traceId}/${trace.parentSpanId}/${trace.flags}`;
      expect(seen).to.equal(expected);
    });
  }

  for (const [section, title, tracestate, expected] of TRACESTATES) {
    it(`tracestate, ${section}: ${title}: ${expected}`, () => {
      const trace = TraceContext.parse(PARENT, tracestate);

      expect(trace?.traceId).to.equal("4bf92f3577b34da6a3ce929d0e0e4736");
      expect(trace?.tracestate).to.equal(expected === "preserved" ? tracestate : undefined);
    });
  }

  it("3.4 Mutating the traceparent field: a new parent-id, the same trace-id and flags, the same state", () => {
    const trace = TraceContext.parse(PARENT, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");

    const headers = trace?.outboundHeaders();

    expect(headers?.["traceparent"]).to.match(
      /^00-4bf92f3577b34da6a3ce929d0e0e4736-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$/u,
    );
    expect(headers?.["tracestate"]).to.equal("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  });
});
