/** The place of a decorator, from the arguments of each compiler. `spec/journeys/decorator-places.spec.ts` has those of whole programs. */
import { expect } from "chai";
import { type DecoratorPlace, readPlace } from "../../lib/errors/decorator-place.js";

const MARK = Symbol("mark");

class Links {
  static home(): void {}
  index(): void {}
  get size(): number {
    return 1;
  }
  [MARK](): void {}
}

class MoreLinks extends Links {}

const method = { value: () => {} };
const getter = { get: () => method.value };

const Anonymous = (() => class {})();

type Row = readonly [
  title: string,
  target: unknown,
  rest: readonly unknown[],
  kind: DecoratorPlace["kind"],
  text: string,
];

const ROWS: readonly Row[] = [
  ["a method", Links.prototype, ["index", method], "method", "above the method Links.index"],
  [
    "a method that a decorator below binds",
    Links.prototype,
    ["index", getter],
    "method",
    "above the method Links.index",
  ],
  [
    "a getter that a decorator below defines",
    Links.prototype,
    ["size", method],
    "method",
    "above the method Links.size",
  ],
  ["a method of a call by hand", Links.prototype, ["index"], "method", "above the method Links.index"],
  ["a method of an instance, by hand", new MoreLinks(), ["index"], "method", "above the method MoreLinks.index"],
  ["a method with a symbol", Links.prototype, [MARK, method], "method", "above the method Links.Symbol(mark)"],
  ["a method that is defined later", Links.prototype, ["later", method], "method", "above the method Links.later"],
  ["a static method", Links, ["home", method], "other", "above the static method Links.home"],
  ["a getter", Links.prototype, ["size", getter], "other", "above the getter Links.size"],
  ["a field", Links.prototype, ["at", undefined], "other", "above the field Links.at"],
  ["a field of Babel", Links.prototype, ["at", { initializer: () => 1 }], "other", "above the field Links.at"],
  [
    "a field with the name of a method",
    MoreLinks.prototype,
    ["index", undefined],
    "other",
    "above the field MoreLinks.index",
  ],
  ["a field with a number as its name", Links.prototype, [1, undefined], "other", "above the field Links.1"],
  ["a class", Links, [], "class", "above the class Links"],
  ["a class of a call with an empty context", Links, [undefined], "class", "above the class Links"],
  ["a class without a name", Anonymous, [{ kind: "class", name: "" }], "class", "above the class (anonymous class)"],
  ["a constructor parameter", Links, [undefined, 0], "parameter", "on parameter 1 of the constructor of Links"],
  ["a parameter of a method", Links.prototype, ["index", 1], "other", "on parameter 2 of Links.index"],
];

describe("the place of a decorator", () => {
  for (const [title, target, rest, kind, text] of ROWS) {
    it(`is read for ${title}`, () => {
      expect(readPlace(target, rest)).to.deep.equal({ kind, text });
    });
  }
});
