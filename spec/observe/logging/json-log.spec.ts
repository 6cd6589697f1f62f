import { expect } from "chai";
import * as fc from "fast-check";
import type { Fields, LogEvent } from "../../../lib/tracing/subscriber.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { CaptureSink, LogSink } from "../../../lib/observe/logging/sink.js";
import { JsonLog } from "../../../lib/observe/logging/json-log.js";
import { DENY_LIST, isSensitive } from "../../../lib/observe/logging/redaction.js";
import { anyText } from "../../support/any-text.js";
import { runProgram } from "../../support/program.js";

const log = tracing.target("shop::links");

/** The lines that `emit` causes. */
function linesOf(emit: () => void, configure: (layer: JsonLog) => JsonLog = (layer) => layer): string[] {
  const sink = new CaptureSink();
  tracing.withSubscriber(tracing.registry().with(configure(new JsonLog(sink))), emit);
  return sink.lines();
}

/** The members of the one line that `emit` causes. */
function lineOf(emit: () => void, configure?: (layer: JsonLog) => JsonLog): Record<string, unknown> {
  const lines = linesOf(emit, configure);
  expect(lines).to.have.lengthOf(1);
  return JSON.parse(lines[0] ?? "") as Record<string, unknown>;
}

function fieldsOf(fields: Fields): unknown {
  return lineOf(() => log.info("m", fields))["fields"];
}

const event: LogEvent = {
  level: "INFO",
  target: "shop::links",
  message: "hello",
  fields: undefined,
  span: undefined,
  timestamp: Date.UTC(2026, 10, 21, 8, 30, 0, 7),
};

function lineFor(part: Partial<LogEvent>): string {
  const sink = new CaptureSink();
  new JsonLog(sink).onEvent({ ...event, ...part }, undefined);
  return sink.transcript();
}

describe("the JSON log", () => {
  describe("a line", () => {
    it("is one object with its keys in alphabetical order", () => {
      const lines = linesOf(() => log.span("outer", { z: 1 }).run(() => log.info("hello", { b: 2, a: "x" })));

      expect(lines).to.have.lengthOf(1);
      expect(lines[0]?.replace(/"timestamp":"[^"]*"/, '"timestamp":"…"')).to.equal(
        '{"fields":{"a":"x","b":2,"z":1},"level":"INFO","message":"hello","spans":["outer"],"target":"shop::links","timestamp":"…"}',
      );
    });

    it("omits fields, message and spans if there are none", () => {
      expect(lineFor({ message: undefined })).to.equal(
        '{"level":"INFO","target":"shop::links","timestamp":"2026-11-21T08:30:00.007Z"}',
      );
      expect(lineFor({})).to.equal(
        '{"level":"INFO","message":"hello","target":"shop::links","timestamp":"2026-11-21T08:30:00.007Z"}',
      );
      expect(lineFor({ fields: { gone: undefined } })).to.equal(lineFor({}));
    });

    for (const level of ["trace", "debug", "info", "warn", "error"] as const) {
      it(`names the level ${level.toUpperCase()}`, () => {
        expect(lineOf(() => log[level]("m"))["level"]).to.equal(level.toUpperCase());
      });
    }

    const moments: readonly (readonly [milliseconds: number, text: string])[] = [
      [0, "1970-01-01T00:00:00.000Z"],
      [999, "1970-01-01T00:00:00.999Z"],
      [1000, "1970-01-01T00:00:01.000Z"],
      [1010, "1970-01-01T00:00:01.010Z"],
      [1100.9, "1970-01-01T00:00:01.100Z"],
      [-1, "1969-12-31T23:59:59.999Z"],
      [Date.UTC(2026, 10, 21, 23, 59, 59, 999), "2026-11-21T23:59:59.999Z"],
      [Number.NaN, "1970-01-01T00:00:00.000Z"],
      [Infinity, "1970-01-01T00:00:00.000Z"],
    ];
    for (const [milliseconds, text] of moments) {
      it(`shows the time ${milliseconds} as ${text}`, () => {
        expect(JSON.parse(lineFor({ timestamp: milliseconds }))).to.include({ timestamp: text });
      });
    }

    it("escapes message, target, span names and keys", () => {
      const odd = 'a"b\\c\nd\u2028é😀\ud800';

      const line = lineOf(() => {
        const target = tracing.target(odd);
        target.span(odd).run(() => target.info(odd, { [odd]: odd }));
      });

      const wellFormed = JSON.parse(JSON.stringify(odd)) as string;
      expect(line).to.deep.include({
        message: wellFormed,
        target: wellFormed,
        spans: [wellFormed],
        fields: { [wellFormed]: wellFormed },
      });
    });

    it("takes the message from the fields if the event has none", () => {
      const line = lineOf(() => log.info(undefined, { message: "lifted", a: 1 }));

      expect(line).to.deep.include({ message: "lifted", fields: { a: 1 } });
    });

    it("leaves the field message where it is if it is not a string or is redacted, or if the event has a message", () => {
      expect(lineOf(() => log.info(undefined, { message: 1 }))).to.deep.include({ fields: { message: 1 } });
      expect(lineOf(() => log.info(undefined, { message: "m" }), redactingMessages)).to.deep.include({
        fields: { message: "[redacted]" },
      });
      expect(lineOf(() => log.info("own", { message: "m" }))).to.deep.include({
        message: "own",
        fields: { message: "m" },
      });
    });

    it("writes a message that is not a string as text, and an error in place of the fields as a field", () => {
      // A JavaScript caller may do this.
      const untyped = log as unknown as { info(message: unknown, fields?: unknown): void };

      expect(lineOf(() => untyped.info({ password: "p", a: 1 }))["message"]).to.equal(
        '{"a":1,"password":"[redacted]"}',
      );
      expect(lineOf(() => untyped.info("failed", new TypeError("no")))["fields"]).to.deep.equal({
        error: "TypeError: no",
      });
      expect(lineOf(() => untyped.info("odd", null))).to.not.have.property("fields");
    });
  });

  describe("fields of spans", () => {
    it("are replaced by fields of the same name of an inner span, and by those of the event", () => {
      const line = lineOf(() =>
        log
          .span("outer", { a: "outer", b: "outer", c: "outer" })
          .run(() =>
            log.span("inner", { b: "inner", c: "inner" }).run(() => log.info("m", { c: "event", d: "event" })),
          ),
      );

      expect(line).to.deep.include({
        fields: { a: "outer", b: "inner", c: "event", d: "event" },
        spans: ["outer", "inner"],
      });
    });

    it("may be empty: the span is named, and a name that is opened twice is named twice", () => {
      const line = lineOf(() => log.span("twice").run(() => log.span("twice").run(() => log.info("m"))));

      expect(line)
        .to.deep.include({ spans: ["twice", "twice"] })
        .and.not.have.property("fields");
    });

    it("include fields that are recorded later, also for inner spans", () => {
      const lines = linesOf(() => {
        const outer = log.span("outer", { a: 1, password: "p" });
        outer.run(() =>
          log.span("inner", { b: 1 }).run(() => {
            log.info("before");
            outer.record({ a: 2, token: "t" });
            log.info("after");
          }),
        );
      });

      const [before, after] = lines.map((line) => (JSON.parse(line) as { fields: unknown }).fields);
      expect(before).to.deep.equal({ a: 1, b: 1, password: "[redacted]" });
      expect(after).to.deep.equal({ a: 2, b: 1, password: "[redacted]", token: "[redacted]" });
    });

    it("have the values that they had when the span was opened", () => {
      const list = [1];

      const line = lineOf(() =>
        log.span("span", { list }).run(() => {
          list.push(2);
          log.info("m");
        }),
      );

      expect(line).to.deep.include({ fields: { list: [1] } });
    });

    it("are shown if the event's own field is omitted", () => {
      const line = lineOf(() =>
        log
          .span("span", { a: 1, b: undefined, secret: undefined })
          .run(() => log.span("inner", { a: undefined }).run(() => log.info("m", { a: undefined, c: () => {} }))),
      );

      expect(line).to.deep.include({ fields: { a: 1, secret: "[redacted]" } });
    });

    it("are omitted by withoutSpanFields; the names of the spans stay", () => {
      const line = lineOf(
        () => log.span("span", { a: 1 }).run(() => log.info("m", { b: 2 })),
        (layer) => layer.withoutSpanFields(),
      );

      expect(line).to.deep.include({ fields: { b: 2 }, spans: ["span"] });
    });
  });

  describe("a value", () => {
    class Point {
      x = 1;
      #hidden = 2;
      get sum() { return this.x + this.#hidden; } // prettier-ignore
    }
    class Money {
      constructor(readonly amount: number) {}
      toJSON() { return { amount: this.amount, api_key: "k" }; } // prettier-ignore
    }
    const circular: Record<string, unknown> = { name: "circle" };
    circular["self"] = [circular];
    const chain = new Error("top", { cause: new TypeError("middle", { cause: "bottom" }) });
    const looped = new Error("looped");
    looped.cause = looped;

    const rows: readonly (readonly [title: string, value: unknown, shown: unknown])[] = [
      ["a string", "text", "text"],
      ["an empty string", "", ""],
      ["a string with all characters to escape", '"\\\b\f\n\r\t\u0000\u001f', '"\\\b\f\n\r\t\u0000\u001f'],
      ["a number", 1.5, 1.5],
      ["a negative zero", -0, 0],
      ["a large number", 1e21, 1e21],
      ["NaN", Number.NaN, null],
      ["infinity", -Infinity, null],
      ["a boolean", false, false],
      ["null", null, null],
      ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
      ["an invalid date", new Date(Number.NaN), null],
      ["a URL", new URL("https://example.org/a?b#c"), "https://example.org/a?b#c"],
      ["an error", new RangeError("too far"), "RangeError: too far"],
      ["an error with its causes", chain, "Error: top: caused by TypeError: middle: caused by bottom"],
      ["an error that causes itself", looped, "Error: looped: caused by [circular]"],
      ["an error caused by null", new Error("x", { cause: null }), "Error: x"],
      [
        "an error caused by an object",
        new Error("x", { cause: { token: "t" } }),
        'Error: x: caused by {"token":"[redacted]"}',
      ],
      ["an error whose cause cannot be read", new Error("x", { cause: thrower() }), "Error: x: caused by [unreadable]"],
      ["an error with a toJSON", Object.assign(new Error("x"), { toJSON: () => ({ leaks: true }) }), "Error: x"],
      ["an error whose text throws", Object.assign(new Error("x"), { toString: fail }), "[unreadable]"],
      ["bytes", new Uint8Array(3), "[3 bytes]"],
      ["a buffer", Buffer.from("secret"), "[6 bytes]"],
      ["a typed array", new Float64Array(2), "[16 bytes]"],
      ["a view", new DataView(new ArrayBuffer(5)), "[5 bytes]"],
      ["an array buffer", new ArrayBuffer(7), "[7 bytes]"],
      ["a shared array buffer", new SharedArrayBuffer(8), "[8 bytes]"],
      ["an array", [1, "a", null], [1, "a", null]],
      ["an array with values that JSON omits", [undefined, () => {}, Symbol("s"), 1], [null, null, null, 1]],
      ["an array with holes", Object.assign([], { 2: "c" }), [null, null, "c"]],
      ["an object", { b: { d: 1, c: 2 }, a: [{ f: 1, e: 2 }] }, { a: [{ e: 2, f: 1 }], b: { c: 2, d: 1 } }],
      ["an object without prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
      ["an object with members to omit", { a: undefined, b: fail, c: Symbol("c"), d: 1 }, { d: 1 }],
      ["an object with only omitted members", { a: undefined }, {}],
      ["an object with inherited members", Object.assign(Object.create({ inherited: 1 }), { own: 1 }), { own: 1 }],
      ["an instance of a class", new Point(), { x: 1 }],
      ["an instance with toJSON", new Money(5), { amount: 5, api_key: "[redacted]" }],
      ["a Map", new Map<unknown, unknown>([["b", 1], ["a", { token: 1 }], [7, "seven"], ["cookie", "c"]]), { 7: "seven", a: { token: "[redacted]" }, b: 1, cookie: "[redacted]" }], // prettier-ignore
      ["a Map with two keys of the same text", new Map<unknown, unknown>([["1", "text"], [1, "number"]]), { 1: "number" }], // prettier-ignore
      ["a Map with a key that has no text", new Map([[Object.create(null), 1]]), { "[unreadable]": 1 }],
      ["a Set", new Set(["b", { secret: 1 }]), ["b", { secret: "[redacted]" }]],
      ["boxed primitives", [new String("s"), new Number(1), new Boolean(false), Object(1n)], ["s", 1, false, 1]], // eslint-disable-line no-new-wrappers
      ["a cycle", circular, { name: "circle", self: ["[circular]"] }],
      ["the same object twice, which is not a cycle", twice({ a: 1 }), [{ a: 1 }, { a: 1 }]],
      ["a getter that throws", { good: 1, get bad() { return fail(); } }, { bad: "[unreadable]", good: 1 }], // prettier-ignore
      ["an element that throws", Object.defineProperty([1, 2], 1, { get: fail }), [1, "[unreadable]"]],
      ["a toJSON that throws", { toJSON: fail }, "[unreadable]"],
      ["a toJSON that cannot be read", { get toJSON() { return fail(); } }, "[unreadable]"], // prettier-ignore
      ["a toJSON that is not a function", { toJSON: 1 }, { toJSON: 1 }],
      ["a toJSON that returns a text", { toJSON: () => "text" }, "text"],
      ["a toJSON that returns a number", { toJSON: () => Number.NaN }, null],
      ["a toJSON that returns a date", { toJSON: () => new Date(0) }, "1970-01-01T00:00:00.000Z"],
      ["a toJSON that returns itself", { a: 1, toJSON() { return this; } }, { a: 1 }], // prettier-ignore
      ["a toJSON that returns an object around itself", { toJSON() { return { again: this }; } }, { again: "[circular]" }], // prettier-ignore
      ["a toJSON that returns an object with a toJSON", { toJSON: () => ({ a: 1, toJSON: () => 2 }) }, { a: 1 }],
      ["a toJSON that returns a Map", { toJSON: () => new Map([["pwd", 1]]) }, { pwd: "[redacted]" }],
      ["a proxy", new Proxy({ b: 1, a: 2 }, {}), { a: 2, b: 1 }],
      ["a proxy that throws", thrower(), "[unreadable]"],
      ["a proxy that does not list its keys", new Proxy({ a: 1 }, { ownKeys: fail }), "[unreadable]"],
      ["a proxy of an array", new Proxy([1, 2], {}), [1, 2]],
      ["a revoked proxy", revoked(), "[unreadable]"],
      ["a promise", Promise.resolve(1), {}],
      ["a regular expression", /a/, {}],
      ["a very long array with few elements", Object.assign([], { 4_000_000_000: 1, 5: 2 }), { 4000000000: 1, 5: 2 }],
    ];

    for (const [title, value, shown] of rows) {
      it(`is shown: ${title}`, () => {
        expect(fieldsOf({ value })).to.deep.equal({ value: shown });
        expect(fieldsOf({ outer: { value } })).to.deep.equal({ outer: { value: shown } });
        expect(fieldsOf({ password: value })).to.deep.equal({ password: "[redacted]" });
        expect(lineOf(() => log.span("s", { value }).run(() => log.info("m")))["fields"]).to.deep.equal({
          value: shown,
        });
      });
    }

    it("is shown with all its digits if it is a bigint", () => {
      const [line] = linesOf(() => log.info("m", { big: 2n ** 70n, deep: [1n] }));

      expect(line).to.contain('"big":1180591620717411303424,"deep":[1]');
    });

    it("is omitted with its field if it is undefined, a function or a symbol", () => {
      expect(
        fieldsOf({ a: undefined, b: fail, c: Symbol("c"), d: Object(Symbol("d")) as unknown, e: 1 }),
      ).to.deep.equal({
        d: {},
        e: 1,
      });
      expect(fieldsOf({ a: undefined })).to.equal(undefined);
    });

    it("is redacted under a sensitive name, also if JSON omits it", () => {
      expect(fieldsOf({ token: undefined, deep: { secret: fail } })).to.deep.equal({
        deep: { secret: "[redacted]" },
        token: "[redacted]",
      });
    });

    it("is not read under a sensitive name, if reading it throws", () => {
      expect(fieldsOf({ get token() { return fail(); }, get b() { return fail(); } })).to.deep.equal({ b: "[unreadable]", token: "[redacted]" }); // prettier-ignore
    });

    it("shows sixty-four nested objects, and marks the one below", () => {
      const [line] = linesOf(() => log.info("m", { deep: nested(64), deeper: nested(65) }));

      expect(line).to.contain(`"deep":${'{"next":'.repeat(63)}{}${"}".repeat(63)},`);
      expect(line).to.contain(`"deeper":${'{"next":'.repeat(64)}"[too deep]"${"}".repeat(64)}`);
    });

    it("counts an object and the result of its toJSON as one level", () => {
      const wrapped = (depth: number): object => ({ toJSON: () => (depth === 1 ? {} : { next: wrapped(depth - 1) }) });

      const [line] = linesOf(() => log.info("m", { deep: wrapped(64), deeper: wrapped(65) }));

      expect(line).to.contain(`"deep":${'{"next":'.repeat(63)}{}${"}".repeat(63)},`);
      expect(line).to.contain('"[too deep]"');
    });

    it("may have any depth, a chain of causes of any length and texts of any size", () => {
      const long = "x".repeat(10 << 20);
      const causes = Array.from({ length: 10_000 }).reduce<Error>(
        (cause) => new Error("e", { cause }),
        new Error("end"),
      );

      expect(fieldsOf({ deep: nested(10_000) })).to.have.property("deep");
      expect(fieldsOf({ long })).to.deep.equal({ long });
      expect(fieldsOf({ causes }))
        .to.have.property("causes")
        .that.matches(/^(Error: e: caused by ){10000}Error: end$/);
    });

    it("is cut where shared objects unfold to more objects than the limit", function () {
      this.timeout(180_000);
      let bomb: unknown = "end";
      for (let i = 0; i < 60; i++) bomb = [bomb, bomb];

      const lines = linesOf(() => log.info("still there", { bomb }));

      expect(lines).to.have.lengthOf(1);
      expect(lines[0]).to.contain("[unreadable]").and.contain("still there");
    });

    it("is shown under the names __proto__ and constructor", () => {
      const fields = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "deep": {"__proto__": 2}}') as Fields;

      const [line] = linesOf(() => log.span("span", fields).run(() => log.info("m", fields)));

      expect(line).to.contain('"fields":{"__proto__":{"a":1},"constructor":1,"deep":{"__proto__":2}}');
    });

    it("is marked if the fields themselves are unreadable, and the line is written", () => {
      expect(lineOf(() => log.info("kept", thrower() as unknown as Fields))).to.deep.include({
        message: "kept",
        fields: { fields: "[unreadable]" },
      });
    });

    it("has keys sorted by UTF-16 code unit", () => {
      const keys = ["é", "a", "B", "\uffff", "😀", "10", "9", "_", "aa", ""];

      const [line] = linesOf(() => log.info("m", Object.fromEntries(keys.map((key) => [key, 0]))));

      const order = [...(line ?? "").matchAll(/"([^"]*)":0/g)].map(([, key]) => key);
      expect(order).to.deep.equal(keys.toSorted());
    });

    it("may be a dictionary of any size", () => {
      const entries = Array.from({ length: 5000 }, (_, index) => [`k${index}`, index] as const);

      expect(fieldsOf({ dictionary: Object.fromEntries(entries) }))
        .to.have.property("dictionary")
        .with.property("k4999", 4999);
      expect(fieldsOf(Object.fromEntries(entries))).to.have.property("k4999", 4999);
    });

    it("is inherited from a span, also by fields that are many, have inherited members or are unreadable", () => {
      const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, index]));
      const heir = Object.assign(Object.create({ above: 1 }) as Record<string, number>, { own: 2, kept: 3 });
      const unreadable = Object.defineProperty({ own: 2 }, "bad", { enumerable: true, get: fail });

      const lines = linesOf(() =>
        log.span("s", { kept: 1, secret: 2 }).run(() => {
          log.info("m", many);
          log.info("m", heir);
          log.info("m", unreadable);
        }),
      );

      expect(lines.map((line) => (JSON.parse(line) as { fields: unknown }).fields)).to.deep.equal([
        { ...many, kept: 1, secret: "[redacted]" },
        { own: 2, kept: 3, secret: "[redacted]" },
        { own: 2, bad: "[unreadable]", kept: 1, secret: "[redacted]" },
      ]);
    });

    it("leaves the memory bounded if its keys are always different", async () => {
      const { stdout } = await runProgram(`
        import { setFlagsFromString } from "node:v8";
        import { runInNewContext } from "node:vm";
        setFlagsFromString("--expose-gc");
        const gc = runInNewContext("gc");
        const { JsonLog } = await load("entries/observe.js");
        const layer = new JsonLog({ writeLine() {} });
        const long = "k".repeat(1000);
        const emit = (round) => layer.onEvent(
          { level: "INFO", target: "t" + round, message: "m", fields: { [long + round]: 1, deep: { ["d" + round]: 1 } }, timestamp: 0 },
          layer.onNewSpan({ name: "s" + round, fields: { ["s" + round]: 1 } }),
        );
        gc();
        const before = process.memoryUsage().heapUsed;
        for (let round = 0; round < 25000; round++) emit(round);
        gc();
        console.log((process.memoryUsage().heapUsed - before) >> 20);
      `);

      expect(Number(stdout)).to.be.below(16);
    });
  });

  describe("redaction", () => {
    it("finds the patterns of alsoRedact also in fields with keys that were logged before, inherited ones included", () => {
      const sink = new CaptureSink();
      const layer = new JsonLog(sink);
      tracing.withSubscriber(tracing.registry().with(layer), () =>
        log.span("span", { ssn: 1 }).run(() => {
          for (let round = 0; round < 3; round++) {
            log.info("m", { iban: "DE1" });
            if (round === 1) layer.alsoRedact("iban", "ssn");
          }
        }),
      );

      const [first, second, third] = sink.lines().map((line) => (JSON.parse(line) as { fields: unknown }).fields);
      expect([first, second]).to.deep.equal([first, { iban: "DE1", ssn: 1 }]);
      expect(third).to.deep.equal({ iban: "[redacted]", ssn: "[redacted]" });
    });

    it("finds the patterns of alsoRedact in all later lines, and still those of DENY_LIST", () => {
      const sink = new CaptureSink();
      const layer = new JsonLog(sink);
      tracing.withSubscriber(tracing.registry().with(layer), () =>
        log.span("span", { "X-Internal": 1 }).run(() => {
          log.info("m", { ssn: 1, token: 1 });
          layer.alsoRedact("SSN").alsoRedact("x_internal");
          log.info("m", { ssn: 1, deep: { "my.ssn": 2 }, token: 1 });
        }),
      );

      expect(sink.lines().map((line) => (JSON.parse(line) as { fields: unknown }).fields)).to.deep.equal([
        { "X-Internal": 1, ssn: 1, token: "[redacted]" },
        { "X-Internal": "[redacted]", deep: { "my.ssn": "[redacted]" }, ssn: "[redacted]", token: "[redacted]" },
      ]);
    });

    it("rejects an empty pattern, which every name contains", () => {
      expect(() => new JsonLog(new CaptureSink()).alsoRedact("a", ""))
        .to.throw()
        .with.property("code", "E_REDACT_NEEDLE");
    });

    it("does not change the message, and no values under other names", () => {
      expect(lineOf(() => log.info("password=hunter2", { note: "token" }))).to.deep.include({
        message: "password=hunter2",
        fields: { note: "token" },
      });
    });
  });

  describe("any fields", () => {
    const key = fc.oneof(anyText(), fc.constantFrom(...DENY_LIST, "note", "__proto__", "toJSON", "message"));
    const anything = fc.anything({
      key,
      maxDepth: 4,
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withTypedArray: true,
      withSparseArray: true,
      withBoxedValues: true,
      withObjectString: true,
    });
    const record = fc.dictionary(key, anything);

    it("become one line of valid JSON with sorted keys and no newline, inside and outside a span", () => {
      fc.assert(
        fc.property(record, record, anyText(), (own, spans, message) => {
          const lines = linesOf(() => log.span(message, spans).run(() => log.info(message, own)));

          expect(lines).to.have.lengthOf(1);
          expect(lines[0]).to.not.match(/[\n\r]/);
          expectSorted(JSON.parse(lines[0] ?? ""));
        }),
      );
    });

    it("never show a value under a sensitive name, at any depth", () => {
      const canary = "canary-0b7e6a0e";
      const denied = fc
        .tuple(fc.string(), fc.constantFrom(...DENY_LIST), fc.string())
        .map(([a, pattern, b]) => `${a}${pattern.replaceAll("_", "-").toUpperCase()}${b}`);
      const secret = fc.oneof(fc.constant(canary), fc.constant([canary]), fc.constant({ note: canary }));
      const hidden: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
        node: fc.oneof(
          { depthSize: "small" },
          fc.dictionary(denied, secret, { minKeys: 1 }),
          fc.dictionary(fc.constantFrom("a", "b", "note"), tie("node"), { minKeys: 1 }),
          fc.array(tie("node"), { minLength: 1 }),
          fc.dictionary(denied, secret).map((entries) => new Map(Object.entries(entries))),
          tie("node").map((value) => new Set([value])),
          tie("node").map((value) => ({ toJSON: () => value })),
        ),
      })).node;

      fc.assert(
        fc.property(hidden, denied, secret, (value, name, plain) => {
          const fields = { value, [name]: plain };
          const lines = linesOf(() => log.span("span", fields).run(() => log.info("m", { other: value, ...fields })));

          expect(isSensitive(name)).to.equal(true);
          expect(lines.join("")).to.contain("[redacted]").and.not.contain(canary);
        }),
      );
    });

    it("are written equally the first time and each later time", () => {
      fc.assert(
        fc.property(fc.array(fc.tuple(record, record), { maxLength: 5 }), (pairs) => {
          const emit = () => pairs.forEach(([own, spans]) => log.span("s", spans).run(() => log.info("m", own)));
          const together = linesOf(() => [1, 2, 3].forEach(emit)).map(withoutTime);

          const alone = linesOf(emit).map(withoutTime);
          expect(together).to.deep.equal([...alone, ...alone, ...alone]);
        }),
      );
    });
  });

  describe("a sink", () => {
    it("loses only this line if it throws", () => {
      const sink = new FailingSink();
      const otherSink = new CaptureSink();
      const registry = tracing.registry().with(new JsonLog(sink)).with(new JsonLog(otherSink));

      tracing.withSubscriber(registry, () => {
        log.info("first");
        log.info("second");
      });

      expect(sink.tried).to.equal(2);
      expect(otherSink.lines()).to.have.lengthOf(2);
    });

    it("does not make a direct call of the layer fail if it throws", () => {
      const sink = new FailingSink();

      new JsonLog(sink).onEvent(event, undefined);

      expect(sink.tried).to.equal(1);
    });

    it("does not end the process if it rejects later", async () => {
      const rejections: unknown[] = [];
      const note = (reason: unknown) => rejections.push(reason);
      process.on("unhandledRejection", note);

      new JsonLog(new RejectingSink()).onEvent(event, undefined);
      await new Promise((resolve) => setImmediate(resolve));

      process.off("unhandledRejection", note);
      expect(rejections).to.deep.equal([]);
    });

    it("does not receive its own events if it logs", () => {
      const lines: string[] = [];
      class TalkativeSink extends LogSink {
        override writeLine(line: string) {
          lines.push(line);
          log.error("written", { line });
        }
      }

      tracing.withSubscriber(tracing.registry().with(new JsonLog(new TalkativeSink())), () => log.info("once"));

      expect(lines).to.have.lengthOf(1);
    });
  });
});

class FailingSink extends LogSink {
  tried = 0;
  override writeLine(): void {
    this.tried++;
    throw new Error("disk full");
  }
}

class RejectingSink extends LogSink {
  // TypeScript accepts a method that returns a promise here, so applications will have it.
  // oxlint-disable-next-line typescript/no-misused-promises
  override async writeLine(): Promise<void> {
    throw new Error("no network");
  }
}

function fail(): never {
  throw new Error("misbehaves");
}

function thrower(): object {
  return new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail, has: fail, getOwnPropertyDescriptor: fail });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function redactingMessages(layer: JsonLog): JsonLog {
  return layer.alsoRedact("message");
}

function withoutTime(line: string): string {
  return line.replace(/"timestamp".*/, "");
}

function twice(value: object): object {
  return [value, value];
}

function nested(depth: number): object {
  let value: Record<string, unknown> = {};
  for (let i = 1; i < depth; i++) value = { next: value };
  return value;
}

function expectSorted(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const keys = Object.keys(value).filter((key) => !/^(0|[1-9]\d*)$/.test(key));
  expect(keys).to.deep.equal(keys.toSorted());
  Object.values(value).forEach(expectSorted);
}
