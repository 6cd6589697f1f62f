import { expect } from "chai";
import { Clock, inject, Injectable, provide, StartupError, token } from "@stagecraft/framework";
import { construct, FakeClock } from "@stagecraft/framework/testing";
import { startupErrorOf } from "../support/startup-error-of.js";

abstract class Store {
  abstract count(): number;
}
class FakeStore extends Store {
  private readonly clock = inject(Clock);

  override count(): number {
    return this.clock.now();
  }
}
const Greeting = token<string>("Greeting");

@Injectable()
class Controller {
  private readonly store = inject(Store);

  constructor(
    private readonly typed: Store,
    private readonly greeting = inject(Greeting),
  ) {}

  show(): string {
    return `${this.greeting} ${this.store.count()} ${this.store === this.typed}`;
  }
}

const greeting = provide(Greeting).useValue("hello");
const clock = provide(Clock).useValue(new FakeClock(7));

describe("construct", () => {
  it("gives a class its doubles, by inject and by the types of parameters", () => {
    const controller = construct(Controller, provide(Store).useClass(FakeStore), greeting, clock);

    expect(controller).to.be.instanceOf(Controller);
    expect(controller.show()).to.equal("hello 7 true");
  });

  it("creates a new instance in each call", () => {
    class Plain {}

    expect(construct(Plain)).not.to.equal(construct(Plain));
  });

  it("names each missing double, and its cure", () => {
    const error = startupErrorOf(() => construct(Controller, provide(Store).useClass(FakeStore)));

    expect(error.message.replaceAll(/\(.*construct\.spec\.[jt]s:\d+:\d+\)/g, "(FILE)").split("\n")).to.deep.equal([
      "Controller cannot be constructed: 2 faults",
      "  E_PROVIDER_MISSING nothing provides Clock",
      "    at FakeStore, call 1 of inject (FILE), in construct(Controller)",
      "    fix: pass a double: construct(Controller, provide(…).useValue(…))",
      "  E_PROVIDER_MISSING nothing provides Greeting",
      "    at Controller, call 2 of inject (FILE), in construct(Controller)",
      "    fix: pass a double: construct(Controller, provide(…).useValue(…))",
    ]);
  });

  it("refuses a double that the class does not inject", () => {
    class Plain {}

    expect(() => construct(Plain, greeting)).to.throw(StartupError, "E_DOUBLE_UNUSED nothing injects Greeting");
  });

  it("has the error of a constructor as its cause", () => {
    const broken = new Error("broken");
    class Broken {
      constructor() {
        throw broken;
      }
    }

    expect(startupErrorOf(() => construct(Broken)).cause).to.equal(broken);
  });
});
