import { expect } from "chai";
import { token } from "../../lib/di/token.js";
import type { Class } from "../../lib/runtime/class.js";
import type { Container } from "../../lib/di/container.js";
import { inspect } from "../../lib/di/graph.js";
import { Inject, Injectable } from "../../lib/di/injectable.js";
import type { InspectionOptions } from "../../lib/di/inspection.js";
import { Module } from "../../lib/di/module.js";
import { provide, type Binding, type Resolve } from "../../lib/di/provide.js";
import { startupErrorOf } from "../support/startup-error-of.js";
import { container as globalContainer } from "tsyringe";

/** A recursion of tsyringe would overflow the stack. */
const DEEP = 10_000;
/** Factories that resolve each other nest on the stack. */
const CHAIN = 1000;

class Store {}

@Injectable()
class Service {
  constructor(readonly store: Store) {}
}

@Injectable()
class Controller {
  constructor(
    readonly service: Service,
    readonly store: Store,
  ) {}
}

function build(input: InspectionOptions | Class): Container {
  return inspect(typeof input === "function" ? { root: input } : input).build();
}

function names(values: readonly unknown[]): readonly string[] {
  return values.map((value) => (value as object).constructor.name);
}

function refuse(): never {
  // Anything can be thrown in JavaScript.
  // oxlint-disable-next-line typescript/only-throw-error
  throw Object.create(null);
}

function chainOfClasses(length: number): readonly Class[] {
  const classes: Class[] = [Store];
  for (let index = 1; index < length; index += 1) {
    class Link {
      constructor(readonly next: unknown) {}
    }
    Inject(classes.at(-1) ?? Store)(Link, undefined, 0);
    classes.push(Link);
  }
  return classes.toReversed();
}

function chainOfFactories(length: number): readonly Binding[] {
  const tokens = Array.from({ length }, (_, index) => token<number>(`link ${index}`));
  return tokens.map((link, index) => {
    const next = tokens[index + 1];
    return provide(link).useFactory((resolve) => (next === undefined ? 0 : resolve(next) + 1));
  });
}

describe("Container", () => {
  it("builds every provider once, dependencies first", () => {
    @Module({ controllers: [Controller], providers: [Service, Store] })
    class Root {}

    const container = build(Root);

    expect(names(container.instances())).to.deep.equal(["Store", "Service", "Controller", "Root"]);
    expect(container.get(Controller).store).to.equal(container.get(Store));
    expect(container.get(Controller).service).to.equal(container.get(Service));
  });

  it("builds imported modules first, in declared order", () => {
    class First {}
    class Second {}
    class Third {}
    @Module({ providers: [First] })
    class Inner {}
    @Module({ providers: [Second] })
    class Other {}
    @Module({ imports: [Inner, Other], providers: [Third] })
    class Root {}

    expect(names(build(Root).instances())).to.deep.equal(["First", "Inner", "Second", "Other", "Third", "Root"]);
  });

  it("builds two instances of a class that is bound to two tokens", () => {
    const alias = token<Store>("alias");
    @Module({ providers: [Store, provide(alias).useClass(Store)] })
    class Root {}

    const container = build(Root);

    expect(container.get(alias)).not.to.equal(container.get(Store));
  });

  it("gives one instance under two tokens through a factory", () => {
    const alias = token<Store>("alias");
    @Module({ providers: [provide(alias).useFactory((resolve) => resolve(Store)), Store] })
    class Root {}

    const container = build(Root);

    expect(container.get(alias)).to.equal(container.get(Store));
    expect(names(container.instances())).to.deep.equal(["Store", "Root"]);
  });

  it("injects null and undefined like any other value", () => {
    const nothing = token<null>("null");
    const less = token<undefined>("undefined");
    @Injectable()
    class Empty {
      constructor(
        @Inject(nothing) readonly first: null,
        @Inject(less) readonly second: undefined,
      ) {}
    }
    @Module({ providers: [Empty, provide(nothing).useFactory(() => null), provide(less).useValue(undefined)] })
    class Root {}

    const container = build(Root);

    expect(container.get(Empty)).to.deep.equal(new Empty(null, undefined));
    expect(container.get(less)).to.equal(undefined);
  });

  it("runs a factory once, even if it returns undefined", () => {
    let runs = 0;
    const counted = token<undefined>("counted");
    @Injectable()
    class User {
      constructor(
        @Inject(counted) readonly first: undefined,
        @Inject(counted) readonly second: undefined,
      ) {}
    }
    @Module({
      providers: [
        User,
        provide(counted).useFactory(() => {
          runs += 1;
          return undefined;
        }),
      ],
    })
    class Root {}

    const container = build(Root);
    container.get(counted);

    expect(runs).to.equal(1);
  });

  it("gives a factory only what its module sees", () => {
    const secret = token<string>("secret");
    const made = token<string>("made");
    @Module({ providers: [provide(secret).useValue("hidden")] })
    class Vault {}
    @Module({ imports: [Vault], providers: [provide(made).useFactory((resolve) => resolve(secret))] })
    class Root {}

    const { diagnostics } = startupErrorOf(() => build({ root: Root }));

    expect(diagnostics).to.deep.equal([
      {
        code: "E_PROVIDER_INVISIBLE",
        what: "secret is not visible in Root: Vault provides it, but does not export it",
        where: "factory of made, in Root",
        fix: "add secret to the exports of Vault",
      },
    ]);
  });

  it("lets a factory catch the error of a missing provider", () => {
    const spare = token<string>("spare");
    const made = token<string>("made");
    const orElse = (resolve: Resolve) => {
      try {
        return resolve(spare);
      } catch {
        return "without";
      }
    };
    @Module({ providers: [provide(made).useFactory(orElse)] })
    class Root {}

    expect(build(Root).get(made)).to.equal("without");
  });

  it("lets a factory store resolve for a later call", () => {
    const lazy = token<() => Store>("lazy");
    @Module({ providers: [provide(lazy).useFactory((resolve) => () => resolve(Store)), Store] })
    class Root {}

    const container = build(Root);

    expect(container.get(lazy)()).to.equal(container.get(Store));
  });

  it("shows the path of a cycle through a factory and constructors", () => {
    const made = token<unknown>("made");
    @Injectable()
    class Needs {
      constructor(@Inject(made) readonly thing: unknown) {}
    }
    @Injectable()
    class Between {
      constructor(readonly needs: Needs) {}
    }
    @Module({ providers: [provide(made).useFactory((resolve) => resolve(Between)), Needs, Between] })
    class Root {}

    const { diagnostics } = startupErrorOf(() => build({ root: Root }));

    expect(diagnostics.map(({ code, what }) => `${code} ${what}`)).to.deep.equal([
      "E_PROVIDER_CYCLE providers need each other: made -> Between -> Needs -> made",
    ]);
  });

  it("shows the path of a cycle through several factories", () => {
    const [a, b, c] = [token<unknown>("a"), token<unknown>("b"), token<unknown>("c")];
    const bindings = [
      provide(a).useFactory((resolve) => resolve(b)),
      provide(b).useFactory((resolve) => resolve(c)),
      provide(c).useFactory((resolve) => resolve(b)),
    ];

    const { diagnostics } = startupErrorOf(() => build({ bindings }));

    expect(diagnostics.map(({ what }) => what)).to.deep.equal(["providers need each other: b -> c -> b"]);
  });

  it("refuses a factory that returns a promise, and handles the rejection", async () => {
    const later = token<unknown>("later");
    @Module({ providers: [provide(later).useFactory(() => Promise.reject(new Error("late")))] })
    class Root {}

    const { diagnostics } = startupErrorOf(() => build({ root: Root }));
    await new Promise((resolve) => setImmediate(resolve));

    expect(diagnostics).to.have.lengthOf(1);
    expect(diagnostics[0]).to.include({ code: "E_FACTORY_PROMISE", where: "factory of later, in Root" });
    expect(diagnostics[0]?.fix).to.include("Subsystem.start");
  });

  it("lists each constructor and factory that threw, with the cause, and not their dependents", () => {
    const thrown = new Error("no such file");
    const made = token<unknown>("made");
    class Broken {
      constructor() {
        throw thrown;
      }
    }
    @Injectable()
    class Dependent {
      constructor(readonly broken: Broken) {}
    }
    @Module({ providers: [Broken, Dependent, provide(made).useFactory(refuse)] })
    class Root {}

    const error = startupErrorOf(() => build({ root: Root }));

    expect(error.diagnostics.map(({ code, what, where }) => `${code} ${what} | ${where}`)).to.deep.equal([
      "E_PROVIDER_FAILED Broken could not be built: Error: no such file | constructor of Broken, in Root",
      "E_PROVIDER_FAILED made could not be built: it threw a value that cannot be printed | factory of made, in Root",
    ]);
    expect((error.cause as AggregateError).errors[0]).to.equal(thrown);
  });

  it("has a single cause unchanged", () => {
    const thrown = new Error("no such file");
    class Broken {
      constructor() {
        throw thrown;
      }
    }

    const error = startupErrorOf(() => build({ bindings: [provide(Broken).useClass(Broken)] }));

    expect(error.cause).to.equal(thrown);
  });

  it("disposes of the built instances when a later provider fails", () => {
    const log: string[] = [];
    class Opened {
      dispose(): void {
        log.push("closed");
      }
    }
    @Injectable()
    class Broken {
      constructor(_opened: Opened) {
        throw new Error("broken");
      }
    }
    @Module({ providers: [Opened, Broken] })
    class Root {}

    startupErrorOf(() => build({ root: Root }));

    expect(log).to.deep.equal(["closed"]);
  });

  it("shares no instance between two applications or two builds", () => {
    @Module({ providers: [Store, Service] })
    class Root {}
    const { build: make } = inspect({ root: Root });

    const containers = [make(), make(), build(Root)];

    expect(new Set(containers.map((container) => container.get(Store))).size).to.equal(3);
    expect(new Set(containers.map((container) => container.get(Service).store)).size).to.equal(3);
  });

  it("does not read or write the global container", () => {
    globalContainer.registerInstance(Store, new Store());
    @Module({ providers: [Service] })
    class Root {}

    const { diagnostics } = inspect({ root: Root });
    globalContainer.reset();
    build({ root: Root, bindings: [provide(Store).useClass(Store)] });

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_PROVIDER_MISSING"]);
    expect(globalContainer.isRegistered(Store)).to.equal(false);
    expect(globalContainer.isRegistered(Service)).to.equal(false);
  });

  it("names the missing provider of a token that the caller resolves", () => {
    expect(() => build({}).get(Store))
      .to.throw("nothing provides Store; at a call of get in the application")
      .with.property("code", "E_PROVIDER_MISSING");
  });
});

describe("Container#provides", () => {
  const defaults = [provide(Store).useClass(Store)];
  @Module({ providers: [Store] })
  class One {}
  @Module({ imports: [One], providers: [Store] })
  class Two {}
  @Module({ imports: [One] })
  class Root {}

  const rows: readonly (readonly [title: string, inspection: InspectionOptions, provided: boolean])[] = [
    ["nothing", {}, false],
    ["a default", { defaults }, false],
    ["a binding of the application", { defaults, bindings: [provide(Store).useClass(Store)] }, true],
    ["a test override", { defaults, overrides: [provide(Store).useClass(Store)] }, true],
    ["the root module", { defaults, root: One }, true],
    ["one module that does not export it", { defaults, root: Root }, true],
    ["two modules, of which the root is one", { defaults, root: Two }, true],
  ];
  for (const [title, inspection, provided] of rows) {
    it(`is ${provided} for a token provided by ${title}`, () => {
      expect(build(inspection).provides(Store)).to.equal(provided);
    });
  }
});

describe("Container, long chains", () => {
  it("builds 10,000 classes that each need the next", () => {
    @Module({ providers: chainOfClasses(DEEP) })
    class Root {}

    const instances = build(Root).instances();

    expect(instances).to.have.lengthOf(DEEP + 1);
    expect(instances[0]).to.be.instanceOf(Store);
  });

  it("builds 10,000 classes from a factory that resolves the first", () => {
    const classes = chainOfClasses(DEEP);
    const first = token<unknown>("first");
    const binding = provide(first).useFactory((resolve) => resolve(classes[0] ?? Store));
    @Module({ providers: [binding, ...classes] })
    class Root {}

    expect(build(Root).instances()).to.have.lengthOf(DEEP + 1);
  });

  it("builds 1,000 factories that each resolve the next", () => {
    const bindings = chainOfFactories(CHAIN);

    const container = build({ bindings });

    expect(container.instances())
      .to.have.lengthOf(CHAIN)
      .and.to.include(CHAIN - 1);
  });

  it("shows a cycle of 10,002 providers", () => {
    const classes = chainOfClasses(DEEP);
    const last = token<unknown>("last");
    Inject(last)(Store, undefined, 0);
    @Module({ providers: [...classes, provide(last).useFactory((resolve) => resolve(classes[0] ?? Store))] })
    class Root {}

    const { diagnostics } = startupErrorOf(() => build({ root: Root }));

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_PROVIDER_CYCLE"]);
    expect(diagnostics[0]?.what.split(" -> ")).to.have.lengthOf(DEEP + 2);
  });
});

describe("Container#dispose", () => {
  const log: string[] = [];
  class Base {
    dispose(): void {
      log.push(this.constructor.name);
    }
  }
  class Pool extends Base {}
  @Injectable()
  class Repository extends Base {
    constructor(readonly pool: Pool) {
      super();
    }
  }
  class Given extends Base {}

  beforeEach(() => {
    log.length = 0;
  });

  it("disposes in reverse order of construction", async () => {
    const container = build({ bindings: [provide(Repository).useClass(Repository), provide(Pool).useClass(Pool)] });

    await container.dispose();

    expect(log).to.deep.equal(["Repository", "Pool"]);
  });

  it("disposes once of an instance of a factory that is bound to two tokens", async () => {
    const alias = token<Pool>("alias");
    const bindings = [
      provide(alias).useFactory((resolve) => resolve(Pool)),
      provide(Pool).useFactory(() => new Pool()),
    ];

    await build({ bindings }).dispose();

    expect(log).to.deep.equal(["Pool"]);
  });

  it("does not dispose of a value given with useValue, under any token", async () => {
    const alias = token<Given>("alias");
    const bindings = [provide(Given).useValue(new Given()), provide(alias).useFactory((resolve) => resolve(Given))];

    await build({ bindings }).dispose();

    expect(log).to.deep.equal([]);
  });

  it("does not build a default to dispose of it", async () => {
    const container = build({ defaults: [provide(Pool).useClass(Pool), provide(Given).useClass(Given)] });
    container.get(Given);

    await container.dispose();

    expect(log).to.deep.equal(["Given"]);
  });

  it("disposes once, and resolves no token afterwards", async () => {
    await using container = build({ bindings: [provide(Pool).useClass(Pool)] });

    await Promise.all([container.dispose(), container.dispose()]);

    expect(log).to.deep.equal(["Pool"]);
    expect(names(container.instances())).to.deep.equal(["Pool"]);
    expect(() => container.get(Pool))
      .to.throw("Pool cannot be resolved: the container is disposed of")
      .with.property("code", "E_CONTAINER_DISPOSED");
  });

  it("disposes of the excepted instance only in disposeOfExcepted", async () => {
    const container = build({ bindings: [provide(Pool).useClass(Pool), provide(Repository).useClass(Repository)] });

    await container.dispose(container.get(Pool));
    const before = [...log];
    await container.disposeOfExcepted();

    expect(before).to.deep.equal(["Repository"]);
    expect(log).to.deep.equal(["Repository", "Pool"]);
  });

  it("does not dispose of an excepted value of the caller", async () => {
    const given = new Given();
    const container = build({ bindings: [provide(Given).useValue(given)] });

    await container.dispose(given);
    await container.disposeOfExcepted();

    expect(log).to.deep.equal([]);
  });

  it("refuses a call of a resolve that a factory has stored", async () => {
    const lazy = token<() => Pool>("lazy");
    const bindings = [provide(lazy).useFactory((resolve) => () => resolve(Pool)), provide(Pool).useClass(Pool)];
    const container = build({ bindings });
    const kept = container.get(lazy);

    await container.dispose();

    expect(kept)
      .to.throw("Pool cannot be resolved: the container is disposed of")
      .with.property("code", "E_CONTAINER_DISPOSED");
  });
});
