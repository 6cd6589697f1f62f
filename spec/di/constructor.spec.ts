import { EventEmitter } from "node:events";
import { expect } from "chai";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { readConstructor, readParameterNames } from "../../lib/di/constructor.js";
import { Inject, Injectable } from "../../lib/di/injectable.js";
import { token } from "../../lib/di/token.js";
import type { Class } from "../../lib/runtime/class.js";
import { Newsletter, Subject } from "./fixtures/type-only.js";

interface Shape {
  readonly area: number;
}

class Store {}
const Greeting = token<string>("greeting");

@Injectable()
class Plain {
  constructor(
    readonly store: Store,
    @Inject(Greeting) readonly greeting: string,
  ) {}
}

@Injectable()
class Child extends Plain {}

@Injectable()
class WithOwnConstructor extends Plain {
  constructor(store: Store) {
    super(store, "own");
  }
}

class Undecorated {
  constructor(readonly store: Store) {}
}

@Injectable()
class ChildOfUndecorated extends Undecorated {}

class EmptyDouble extends Plain {
  constructor() {
    super(new Store(), "own");
  }
}

class ChildOfEmptyDouble extends EmptyDouble {}

class UndecoratedChild extends Plain {
  // constructor() {}
  readonly text = "constructor() {";
  readonly nested = { constructor() {} };

  clone(): object {
    return new (class {
      constructor() {
        Object.freeze(this);
      }
    })();
  }
}

const ran: string[] = [];

@Injectable()
class Parent extends Plain {
  constructor(store: Store) {
    super(store, "own");
    ran.push("parent");
  }
}

class PatternField extends Parent {
  readonly pattern = /["{]/;

  constructor() {
    super(new Store());
  }
}

class NestedTemplates extends Parent {
  readonly text = `a ${["b"].map((each) => `${each} constructor() {`).join("`")} c`;
}

class NestedTemplatesAndConstructor extends Parent {
  readonly text = `a ${ran.map((each) => `{ ${each} "`).join("")}`;

  constructor() {
    super(new Store());
    ran.push("own");
  }
}

class Computed extends Parent {
  ["constructor with { in its name"](): void {}
}

class ThrowsFirst extends Parent {
  constructor() {
    if (ran.length === 0) throw new Error("not now");
    super(new Store());
  }
}

class Sealed extends Parent {}
Object.freeze(Sealed);

class SealedWithConstructor extends Parent {
  constructor() {
    super(new Store());
  }
}
Object.seal(SealedWithConstructor);

class Pool {
  constructor() {
    ran.push("pool");
  }
}

class PoolAsDefault extends Parent {
  constructor(readonly pool = new Pool()) {
    super(new Store());
  }
}

class PoolBeforeSuper extends Parent {
  readonly pool: Pool;

  constructor() {
    const pool = new Pool();
    super(new Store());
    this.pool = pool;
  }
}

class PassesItsDefaults extends Plain {
  constructor(store = new Store(), greeting = "own") {
    super(store, greeting);
  }
}

class PoolWithoutParameters extends Pool {
  readonly pool: Pool;

  constructor() {
    const pool = new Pool();
    super();
    this.pool = pool;
  }
}

class Dropped {
  constructor(
    readonly store: Store,
    readonly greeting: string,
  ) {}
}
Injectable()(Dropped); // As a compiler does that keeps decorators and drops the types.

class DroppedButNamed {
  constructor(readonly store: Store) {}
}
Inject(Store)(DroppedButNamed, undefined, 0);

@Injectable()
class WithoutTokens {
  constructor(
    readonly shape: Shape,
    readonly either: Store | Shape,
    readonly nothing: undefined,
    readonly text: string,
    readonly list: readonly Store[],
    readonly call: () => void,
    readonly optional?: Store,
  ) {}
}

@Injectable()
class Defaulted {
  constructor(
    readonly store: Store,
    readonly url: URL = new URL("http://localhost/"),
    readonly other: Store = store,
    @Inject(Greeting) readonly greeting = "no",
    readonly optional?: Store,
  ) {}
}

@Injectable()
class Rest {
  readonly stores: readonly Store[];

  constructor(...stores: Store[]) {
    this.stores = stores;
  }
}

class Misnamed {
  constructor(readonly store: Store) {}
}

class Two {
  constructor(
    readonly store: string,
    readonly $clock: number,
  ) {}
}
class WithoutConstructor {}
class WithoutParameters {
  readonly made = true;

  constructor() {
    Object.freeze(this);
  }
}
class WithDefault {
  constructor(
    readonly store: string,
    readonly clock = Date.now(),
    readonly last = 1,
  ) {}
}
class Destructured {
  constructor({ length }: string, last: number) {
    String(length + last);
  }
}

function tokens(target: Class): readonly unknown[] {
  return readConstructor(target).parameters.map(({ token: named, reason }) => named ?? reason);
}

describe("readConstructor", () => {
  const rows: readonly [string, Class, readonly unknown[]][] = [
    ["a class and a named token", Plain, [Store, Greeting]],
    ["the parent's parameters where a class has no constructor", Child, [Store, Greeting]],
    ["the parent's parameters where an undecorated class has no constructor", UndecoratedChild, [Store, Greeting]],
    ["no parameters of a class with an empty constructor of its own", EmptyDouble, []],
    ["no parameters of a child of such a class", ChildOfEmptyDouble, []],
    ["no parameters of such a class with a pattern that looks like a brace", PatternField, []],
    ["no parameters of such a class with templates in templates", NestedTemplatesAndConstructor, []],
    ["no parameters of a class whose constructor throws before it calls its parent", ThrowsFirst, []],
    ["the parent's parameters where templates hold the text of a constructor", NestedTemplates, [Store]],
    ["the parent's parameters where members are called constructor", Computed, [Store]],
    ["the parent's parameters of a frozen class", Sealed, [Store]],
    ["no parameters of a sealed class with an empty constructor of its own", SealedWithConstructor, []],
    ["no parameters of a class that passes its defaults", PassesItsDefaults, []],
    ["its own parameters where a class has a constructor", WithOwnConstructor, [Store]],
    ["no parameters of a class without a constructor", Store, []],
    ["no parameters of the language's own constructors", class extends Error {}, []],
    ["no parameters of a parent of Node's own", class extends EventEmitter {}, []],
    ["the tokens of @Inject without any metadata", DroppedButNamed, [Store]],
    [
      "no type from the first default on, and the tokens of @Inject there",
      Defaulted,
      [Store, undefined, undefined, Greeting],
    ],
    ["no type of a rest parameter", Rest, []],
    ["a class imported as a type as erased", Newsletter, [Subject, "type-only"]],
    [
      "the reason of each type that is not a token",
      WithoutTokens,
      ["interface", "interface", "undefined", "primitive", "primitive", "type-only", Store],
    ],
  ];

  for (const [title, target, expected] of rows) {
    it(`reads ${title}`, () => {
      const actual = tokens(target);

      expect(actual).to.deep.equal(expected);
    });
  }

  it("runs no constructor of a parent, sets no field and leaves the class as it was", () => {
    readConstructor(NestedTemplatesAndConstructor);

    expect(ran).to.deep.equal([]);
    expect(Object.getPrototypeOf(NestedTemplatesAndConstructor)).to.equal(Parent);
    expect(new NestedTemplatesAndConstructor()).to.be.instanceOf(Parent);
    expect(ran).to.deep.equal(["parent", "own"]);
  });

  it("evaluates no default, runs the code before super() once, and none where no parent has parameters", () => {
    ran.length = 0;
    for (const target of [PoolAsDefault, PoolWithoutParameters, PoolBeforeSuper]) {
      readConstructor(target);
      readConstructor(target);
      ran.push(target.name);
    }

    expect(ran).to.deep.equal(["PoolAsDefault", "PoolWithoutParameters", "pool", "PoolBeforeSuper"]);
  });

  it("counts positions from 1", () => {
    const { parameters } = readConstructor(Plain);

    expect(parameters.map(({ position }) => position)).to.deep.equal([1, 2]);
  });

  it("tells a missing decorator from dropped metadata", () => {
    const states = [Undecorated, ChildOfUndecorated, Dropped].map(readConstructor);

    expect(states.map(({ unreadableBecause }) => unreadableBecause)).to.deep.equal([
      "undecorated",
      "undecorated",
      "metadata dropped",
    ]);
    expect(states[1]?.declaredBy).to.equal(Undecorated);
  });

  it("refuses a string under @Inject", () => {
    // The compiler refuses it; untyped code can still pass it.
    Inject("store" as unknown as typeof Store)(Misnamed, undefined, 0);

    expect(tokens(Misnamed)).to.deep.equal(["not a token"]);
  });
});

describe("readParameterNames", () => {
  const rows: readonly [object, readonly string[]][] = [
    [Two, ["store", "$clock"]],
    [WithoutConstructor, []],
    [WithoutParameters, []],
    [WithDefault, ["store"]],
    [Destructured, []],
    [Map, []],
  ];

  for (const [target, names] of rows) {
    it(`reads [${names.join(", ")}] of ${(target as Function).name}`, () => {
      const actual = readParameterNames(target);

      expect(actual).to.deep.equal(names);
    });
  }
});

describe("@Inject", () => {
  it("belongs on constructor parameters only", () => {
    const decorate = Inject(Store);

    expect(() => decorate({}, "find" as unknown as undefined, 0))
      .to.throw(
        FrameworkError,
        "@Inject stands on parameter 1 of Object.find: it belongs on a parameter of a constructor",
      )
      .with.property("code", "E_INJECT_PLACE");
  });
});
