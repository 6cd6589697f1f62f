import { AssertionError } from "node:assert";
import { expect } from "chai";
import { tracing } from "../../lib/tracing/tracing.js";
import { CaptureSink } from "../../lib/observe/logging/sink.js";
import { JsonLog } from "../../lib/observe/logging/json-log.js";
import { expectLogLine } from "../../lib/testing/expect-log-line.js";
import { errorOf } from "../support/error-of.js";

const TIME = '"timestamp":"2026-01-01T00:00:00.000Z"';
const line = (before: string, after = "") => `{${before}"level":"INFO",${after}"target":"shop",${TIME}}`;
const withFields = (fields: string) => line(`"fields":{${fields}},`);

describe("expectLogLine", () => {
  const good: readonly (readonly [string, string])[] = [
    ["only the required keys", line("")],
    ["a message", line("", '"message":"a \\"b\\" {c:1}",')],
    ["spans", line("", '"spans":["a","b"],')],
    ["fields of every kind", withFields('"a":1,"b":-1.5e+3,"c":true,"d":null,"e":"x","f":[1,{"y":1,"z":[]}],"g":{}')],
    ["keys in the form of numbers", withFields('"10":1,"9":1,"a":1')],
    ["an integer that a double cannot hold", withFields('"a":123456789012345678901234567890')],
    ["redacted values", withFields('"password":"[redacted]","z":{"api-key":"[redacted]"}')],
  ];
  for (const [name, text] of good) {
    it(`accepts ${name}`, () => {
      const parsed = expectLogLine(text);

      expect(parsed).to.deep.equal(JSON.parse(text));
    });
  }

  const bad: readonly (readonly [string, string, string])[] = [
    ["a text that is not JSON", "listening", "not JSON"],
    ["a list", "[]", "not an object"],
    ["two lines", `${line("")}\n`, "line break"],
    ["whitespace between tokens", line("").replace(":", ": "), "whitespace"],
    ["no level", `{"target":"shop",${TIME}}`, "has no level"],
    ["no target", `{"level":"INFO",${TIME}}`, "has no target"],
    ["no timestamp", '{"level":"INFO","target":"shop"}', "has no timestamp"],
    ["an unknown level", line("").replace("INFO", "FATAL"), '"FATAL" as its level'],
    ["a level in lower case", line("").replace("INFO", "info"), '"info" as its level'],
    ["a timestamp without milliseconds", line("").replace(".000", ""), "as its timestamp"],
    ["a timestamp with an offset", line("").replace("000Z", "000+00:00"), "as its timestamp"],
    ["a day that does not exist", line("").replace("01-01", "13-41"), "as its timestamp"],
    ["an unknown key", line('"extra":1,'), 'the key "extra"'],
    ["the name of an inherited property", line('"constructor":1,'), 'the key "constructor"'],
    ["a message that is not a string", line("", '"message":1,'), "1 as its message"],
    ["an empty list of spans", line("", '"spans":[],'), "[] as its spans"],
    ["an empty object of fields", line('"fields":{},'), "{} as its fields"],
    ["fields in a list", line('"fields":[1],'), "as its fields"],
    ["keys out of order", `{"target":"shop","level":"INFO",${TIME}}`, '"level" after "target"'],
    ["fields out of order", withFields('"b":1,"a":1'), '"a" after "b"'],
    ["nested keys out of order", withFields('"a":[{"y":{"d":1,"c":1}}]'), '"c" after "d"'],
    ["a field twice", withFields('"a":1,"a":2'), '"a" after "a"'],
    ["a secret", withFields('"password":"hunter2"'), 'the value of "password": "hunter2"'],
    ["a nested secret", withFields('"a":[{"X-Api-Key":"k"}]'), 'the value of "X-Api-Key"'],
    ["an object under a sensitive name", withFields('"cookie":{"a":1}'), "an object or a list"],
    ["null under a sensitive name", withFields('"token":null'), 'the value of "token": null'],
  ];
  for (const [name, text, message] of bad) {
    it(`rejects ${name}`, () => {
      const error = errorOf(() => expectLogLine(text));

      expect(error).to.be.instanceOf(AssertionError);
      expect(error.message).to.include(message);
    });
  }

  it("accepts what JsonLog writes", () => {
    const sink = new CaptureSink();
    const log = tracing.target("shop::links");

    tracing.withSubscriber(tracing.registry().with(new JsonLog(sink)), () => {
      log.info("plain");
      log.error(undefined, {
        zebra: 1n << 70n,
        Aa: "\u2028\u0000",
        password: { deep: 1 },
        list: [{ b: 1, a: 2 }],
        10: 1,
        9: 2,
      });
      log
        .span("outer", { a: 1 })
        .run(() => log.span("inner", { token: "x" }).run(() => log.warn("inside", { b: new Date(0) })));
    });

    expect(sink.lines().map((each) => expectLogLine(each).level)).to.deep.equal(["INFO", "ERROR", "WARN"]);
  });
});
