import { expect } from "chai";
import { tracing } from "../../../lib/tracing/tracing.js";
import { CaptureSink } from "../../../lib/observe/logging/sink.js";
import { ConsoleLog } from "../../../lib/observe/logging/console-log.js";

const log = tracing.target("shop::links");

/** The lines without their timestamps. */
function linesOf(emit: () => void): string[] {
  const sink = new CaptureSink();
  tracing.withSubscriber(tracing.registry().with(new ConsoleLog(sink)), emit);
  return sink.lines().map((line) => {
    expect(line).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /);
    return line.slice("2026-11-21T08:30:00.000Z ".length);
  });
}

describe("the console log", () => {
  it("shows timestamp, level, target, message and fields", () => {
    const lines = linesOf(() => log.info("link created", { id: 7, ok: true, note: "two words", url: "/links/7" }));

    expect(lines).to.deep.equal(['INFO shop::links: link created id=7 ok=true note="two words" url=/links/7']);
  });

  it("shows spans, outermost first, and their fields after the event's own, each name once", () => {
    const lines = linesOf(() =>
      log
        .span("outer", { a: 1, b: 1 })
        .run(() => log.span("inner", { b: 2, c: 2 }).run(() => log.warn("here", { c: 3 }))),
    );

    expect(lines).to.deep.equal(["WARN shop::links: outer:inner: here c=3 b=2 a=1"]);
  });

  it("writes events without a message, and omits fields without a value", () => {
    expect(linesOf(() => log.debug(undefined, { a: undefined, b: null }))).to.deep.equal(["DEBUG shop::links: b=null"]);
  });

  it("does not redact", () => {
    const lines = linesOf(() => log.info("signed in", { password: "hunter2", user: { token: "t" } }));

    expect(lines).to.deep.equal(['INFO shop::links: signed in password=hunter2 user={"token":"t"}']);
  });

  it("writes all text but a stack on one line", () => {
    const lines = linesOf(() => log.info("a\r\nb\u001b[31mc\u2028d\u0085\u202e", { "k\ney": "\u0007\t\n\u007f" }));

    expect(lines).to.deep.equal([
      String.raw`INFO shop::links: a\r\nb\u001b[31mc\u2028d\u0085\u202e k\ney="\u0007\t\n\u007f"`,
    ]);
  });

  it("writes a stack on indented lines of its own, in which a line break cannot imitate an event", () => {
    const stack = "Error: one\nERROR shop: forged\u001b[2J\n    at run (file.js:1:2)";

    const lines = linesOf(() => log.error("failed", { error: new Error("one"), stack, id: 7 }));

    expect(lines).to.deep.equal([
      [
        'ERROR shop::links: failed error="Error: one" id=7',
        "    Error: one",
        String.raw`    ERROR shop: forged\u001b[2J`,
        "    at run (file.js:1:2)",
      ].join("\n"),
    ]);
  });

  it("writes a stack of one line, and one that is not a text, as a field", () => {
    const lines = linesOf(() => {
      log.error("failed", { stack: "none" });
      log.error("failed", { stack: ["a\nb"] });
    });

    expect(lines).to.deep.equal([
      "ERROR shop::links: failed stack=none",
      String.raw`ERROR shop::links: failed stack=["a\nb"]`,
    ]);
  });

  it("marks fields that cannot be read", () => {
    const opaque = new Proxy({}, { ownKeys: () => fail() });

    const lines = linesOf(() => {
      log.info("getter", { get bad() { return fail(); }, good: 1 }); // prettier-ignore
      log.info("proxy", opaque);
    });

    expect(lines).to.deep.equal(["INFO shop::links: getter bad=[unreadable] good=1", "INFO shop::links: proxy"]);
  });
});

function fail(): never {
  throw new Error("unreadable");
}
