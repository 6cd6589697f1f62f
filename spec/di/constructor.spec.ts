import { EventEmitter } from "node:events";
import { expect } from "chai";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { constructorOf } from "../../lib/di/constructor.js";
import { Inject, Injectable } from "../../lib/di/injectable.js";
import { token, type Class } from "../../lib/di/token.js";
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
class Heir extends Plain {}

@Injectable()
class OwnWay extends Plain {
  constructor(store: Store) {
    super(store, "own");
  }
}

class Undecorated {
  constructor(readonly store: Store) {}
}

@Injectable()
class HeirOfUndecorated extends Undecorated {}

class Dropped {
  constructor(
    readonly store: Store,
    readonly greeting: string,
  ) {}
}
Injectable()(Dropped); // by hand: as a tool does it that keeps decorators and drops the types

class DroppedButNamed {
  constructor(readonly store: Store) {}
}
Inject(Store)(DroppedButNamed, undefined, 0);

@Injectable()
class Blanks {
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

class Misnamed {
  constructor(readonly store: Store) {}
}

function tokens(target: Class): readonly unknown[] {
  return constructorOf(target).parameters.map(({ token: named, reason }) => named ?? reason);
}

describe("constructorOf", () => {
  const rows: readonly [string, Class, readonly unknown[]][] = [
    ["a class and a named token", Plain, [Store, Greeting]],
    ["the parent's, where a class has no constructor", Heir, [Store, Greeting]],
    ["its own, where it has one", OwnWay, [Store]],
    ["nothing of a class without a constructor", Store, []],
    ["nothing of the language's own constructors", class extends Error {}, []],
    ["nothing of a parent that no decorator can stand on", class extends EventEmitter {}, []],
    ["what @Inject names, without any metadata", DroppedButNamed, [Store]],
    ["a type that was imported as a type as erased", Newsletter, [Subject, "type-only"]],
    [
      "types that name nothing as what they are",
      Blanks,
      ["interface", "interface", "undefined", "primitive", "primitive", "type-only", Store],
    ],
  ];

  for (const [title, target, expected] of rows) {
    it(`reads ${title}`, () => {
      const actual = tokens(target);

      expect(actual).to.deep.equal(expected);
    });
  }

  it("counts positions from 1", () => {
    const { parameters } = constructorOf(Plain);

    expect(parameters.map(({ position }) => position)).to.deep.equal([1, 2]);
  });

  it("tells a missing decorator from metadata that a tool dropped", () => {
    const states = [Undecorated, HeirOfUndecorated, Dropped].map(constructorOf);

    expect(states.map(({ unreadableBecause }) => unreadableBecause)).to.deep.equal([
      "undecorated",
      "undecorated",
      "metadata dropped",
    ]);
    expect(states[1]?.declaredBy).to.equal(Undecorated);
  });

  it("refuses what is no token under @Inject", () => {
    // Types would refuse it; JavaScript does not.
    Inject("store" as unknown as typeof Store)(Misnamed, undefined, 0);

    expect(tokens(Misnamed)).to.deep.equal(["not a token"]);
  });
});

describe("@Inject", () => {
  it("belongs on constructor parameters only", () => {
    const decorate = Inject(Store);

    expect(() => decorate({}, "find" as unknown as undefined, 0))
      .to.throw(FrameworkError, "@Inject stands on find")
      .with.property("code", "E_INJECT_PLACE");
  });
});
