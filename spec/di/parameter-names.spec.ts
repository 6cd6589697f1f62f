import { expect } from "chai";
import { parameterNames } from "../../lib/di/constructor.js";

class Two {
  constructor(
    readonly store: string,
    readonly $clock: number,
  ) {}
}
class None {}
class Empty {
  readonly made = true;

  constructor() {
    Object.freeze(this);
  }
}
class Default {
  constructor(
    readonly store: string,
    readonly clock = Date.now(),
    readonly last = 1,
  ) {}
}
class Torn {
  constructor({ length }: string, last: number) {
    String(length + last);
  }
}

describe("parameterNames", () => {
  const rows: readonly [object, readonly string[]][] = [
    [Two, ["store", "$clock"]],
    [None, []],
    [Empty, []],
    [Default, ["store"]],
    [Torn, []],
    [Map, []],
  ];

  for (const [target, names] of rows) {
    it(`reads [${names.join(", ")}] of ${(target as Function).name}`, () => {
      const actual = parameterNames(target);

      expect(actual).to.deep.equal(names);
    });
  }
});
