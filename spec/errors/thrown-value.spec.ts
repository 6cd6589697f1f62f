import { expect } from "chai";
import {
  causeText,
  describeThrown,
  listFieldNames,
  inspectThrown,
  readField,
  UNREADABLE_FIELD,
} from "../../lib/errors/thrown-value.js";

const UNREADABLE = "a value that cannot be read";

function fail(): never {
  throw new Error("this value throws when it is read");
}

/** Throws at each read. */
const hostile: object = new Proxy(
  {},
  { get: fail, getPrototypeOf: fail, ownKeys: fail, has: fail, getOwnPropertyDescriptor: fail },
);
const withoutText = { [Symbol.toPrimitive]: fail };
const withoutMessage = Object.defineProperty(new Error(), "message", { get: fail });
const withoutStack = Object.defineProperty(new Error("no stack"), "stack", { get: fail });
const notPrintable = { [Symbol.for("nodejs.util.inspect.custom")]: fail };

describe("causeText", () => {
  const rows: readonly (readonly [description: string, cause: unknown, text: string])[] = [
    ["the message of an error", new Error("disk full"), "disk full"],
    ["the name of an error without a message", new TypeError(), "TypeError"],
    ["a thrown text", "disk full", "disk full"],
    ["undefined", undefined, "undefined"],
    ["a symbol", Symbol("full"), "Symbol(full)"],
    [
      "the messages of an AggregateError without one of its own",
      new AggregateError([new Error("refused on ::1"), "refused"]),
      "refused on ::1; refused",
    ],
    ["the message of an AggregateError that has one", new AggregateError([new Error("part")], "whole"), "whole"],
    ["an AggregateError that holds a hostile value", new AggregateError([hostile, "b"]), `${UNREADABLE}; b`],
    ["an object without text", withoutText, UNREADABLE],
    ["an object without a prototype", Object.create(null), UNREADABLE],
    ["an error whose message cannot be read", withoutMessage, UNREADABLE],
    ["a hostile proxy", hostile, UNREADABLE],
  ];
  for (const [description, cause, text] of rows) {
    it(`gives one line for ${description}`, () => {
      expect(causeText(cause)).to.equal(text);
    });
  }
});

describe("inspectThrown", () => {
  it("prints an error with its stack", () => {
    const error = new Error("disk full");

    expect(inspectThrown(error)).to.equal(error.stack);
  });

  it("prints any other value as Node does", () => {
    expect(inspectThrown({ code: 7 })).to.equal("{ code: 7 }");
    expect(inspectThrown("text")).to.equal("'text'");
  });

  it("describes a value that cannot be printed", () => {
    expect(inspectThrown(notPrintable)).to.equal(UNREADABLE);
  });
});

describe("describeThrown", () => {
  it("gives an error and its stack", () => {
    const error = new Error("disk full");

    expect(describeThrown(error)).to.deep.equal({ error, stack: error.stack });
  });

  it("gives any other value without a stack", () => {
    expect(describeThrown("text")).to.deep.equal({ error: "text" });
    expect(describeThrown(undefined)).to.deep.equal({ error: undefined });
  });

  it("describes a value that cannot be read", () => {
    expect(describeThrown(hostile)).to.deep.equal({ error: UNREADABLE });
    expect(describeThrown(withoutStack)).to.deep.equal({ error: UNREADABLE });
  });
});

describe("readField", () => {
  it("gives the value of a field", () => {
    expect(readField({ id: 7 }, "id")).to.equal(7);
    expect(readField({}, "id")).to.equal(undefined);
  });

  it("marks a field whose getter throws", () => {
    const fields = Object.defineProperty({}, "id", { get: fail, enumerable: true });

    expect(readField(fields, "id")).to.equal(UNREADABLE_FIELD);
  });
});

describe("listFieldNames", () => {
  it("gives the names of the fields in order", () => {
    expect(listFieldNames({ b: 1, a: 2 })).to.deep.equal(["b", "a"]);
  });

  it("gives no names where there are no fields or a proxy does not list them", () => {
    expect(listFieldNames(undefined)).to.deep.equal([]);
    expect(listFieldNames(hostile as Record<string, unknown>)).to.deep.equal([]);
  });
});
