import { expect } from "chai";
import * as fc from "fast-check";
import { token } from "../../lib/di/token.js";
import type { Class } from "../../lib/runtime/class.js";
import type { Container } from "../../lib/di/container.js";
import { inspect } from "../../lib/di/graph.js";
import { Inject, Injectable } from "../../lib/di/injectable.js";
import type { InspectionOptions } from "../../lib/di/inspection.js";
import { Module } from "../../lib/di/module.js";
import { provide } from "../../lib/di/provide.js";

abstract class Store {
  readonly kind: string = "none";
}
class SqlStore extends Store {
  override readonly kind = "sql";
}
class MemoryStore extends Store {
  override readonly kind = "memory";
}
const Greeting = token<string>("greeting");

@Injectable()
class Reader {
  constructor(readonly store: Store) {}
}

@Injectable()
class Greeter {
  constructor(@Inject(Greeting) readonly greeting: string) {}
}

function pick<T>(list: readonly T[], indices: readonly number[]): T[] {
  return indices.flatMap((index) => list[index] ?? []);
}

function build(input: InspectionOptions | Class): Container {
  return inspect(typeof input === "function" ? { root: input } : input).build();
}

function whatOf(root: Class): readonly string[] {
  return inspect({ root }).diagnostics.map(({ code, what, fix }) => `${code} ${what} | ${fix}`);
}

describe("module boundaries", () => {
  it("give a module the exports of its imports", () => {
    @Module({ providers: [provide(Store).useClass(SqlStore)], exports: [Store] })
    class Data {}
    @Module({ imports: [Data], controllers: [Reader] })
    class Root {}

    expect(build(Root).get(Reader).store.kind).to.equal("sql");
  });

  it("hide a provider that an import does not export", () => {
    @Module({ providers: [provide(Store).useClass(SqlStore)] })
    class Data {}
    @Module({ imports: [Data], controllers: [Reader] })
    class Root {}

    expect(whatOf(Root)).to.deep.equal([
      "E_PROVIDER_INVISIBLE Store is not visible in Root: Data provides it, but does not export it (Reader -> Store) | add Store to the exports of Data",
    ]);
  });

  it("hide an export of a module that is not imported", () => {
    @Module({ providers: [provide(Store).useClass(SqlStore)], exports: [Store] })
    class Data {}
    @Module({ controllers: [Reader] })
    class Shop {}
    @Module({ imports: [Data, Shop] })
    class Root {}

    expect(whatOf(Root)).to.deep.equal([
      "E_PROVIDER_INVISIBLE Store is not visible in Shop: Data provides and exports it, but Shop does not import Data (Reader -> Store) | add Data to the imports of Shop",
    ]);
  });

  it("hide a provider that is neither exported nor imported", () => {
    @Module({ providers: [provide(Store).useClass(SqlStore)] })
    class Data {}
    @Module({ controllers: [Reader] })
    class Shop {}
    @Module({ imports: [Data, Shop] })
    class Root {}

    expect(whatOf(Root)).to.deep.equal([
      "E_PROVIDER_INVISIBLE Store is not visible in Shop: Data provides it, but does not export it, and Shop does not import Data (Reader -> Store) | add Store to the exports of Data and add Data to the imports of Shop",
    ]);
  });

  it("hide the root's providers from the modules it imports", () => {
    @Module({ controllers: [Reader] })
    class Shop {}
    @Module({ imports: [Shop], providers: [provide(Store).useClass(SqlStore)] })
    class Root {}

    expect(whatOf(Root)).to.have.lengthOf(1);
  });

  it("hide the imports of an import that does not export them", () => {
    @Module({ providers: [provide(Store).useClass(SqlStore)], exports: [Store] })
    class Data {}
    @Module({ imports: [Data] })
    class Middle {}
    @Module({ imports: [Middle], controllers: [Reader] })
    class Root {}

    expect(whatOf(Root)).to.have.lengthOf(1);
  });

  it("show the exports of a module that is exported again, at any depth", () => {
    @Module({ providers: [provide(Store).useClass(SqlStore)], exports: [Store] })
    class Data {}
    @Module({ imports: [Data], exports: [Data] })
    class Inner {}
    @Module({ imports: [Inner], exports: [Inner] })
    class Outer {}
    @Module({ imports: [Outer], controllers: [Reader] })
    class Root {}

    expect(build(Root).get(Reader).store.kind).to.equal("sql");
  });

  it("show a token that is exported again, and only that token", () => {
    @Module({
      providers: [provide(Store).useClass(SqlStore), provide(Greeting).useValue("hello")],
      exports: [Store, Greeting],
    })
    class Data {}
    @Module({ imports: [Data], exports: [Store] })
    class Middle {}
    @Module({ imports: [Middle], controllers: [Reader, Greeter] })
    class Root {}

    expect(whatOf(Root)).to.have.lengthOf(1);
    expect(whatOf(Root)[0]).to.include("greeting is not visible in Root");
  });

  it("share one instance along both sides of a diamond", () => {
    @Module({ providers: [provide(Store).useClass(SqlStore)], exports: [Store] })
    class Data {}
    @Injectable()
    class LeftReader extends Reader {}
    @Module({ imports: [Data], providers: [LeftReader], exports: [LeftReader] })
    class Left {}
    @Module({ imports: [Data], providers: [Reader], exports: [Reader] })
    class Right {}
    @Module({ imports: [Left, Right] })
    class Root {}

    const container = build(Root);

    expect(container.get(LeftReader).store).to.equal(container.get(Reader).store);
    expect(container.instances().filter((instance) => instance instanceof Store)).to.have.lengthOf(1);
    expect(container.instances().filter((instance) => instance instanceof Data)).to.have.lengthOf(1);
  });

  it("share one instance of a class that several of them list", () => {
    class Counter {}
    @Injectable()
    class Service {
      constructor(readonly counter: Counter) {}
    }
    @Module({ providers: [Service, Counter] })
    class Left {}
    @Module({ providers: [Counter, Service] })
    class Right {}
    @Module({ imports: [Left, Right], providers: [Service, Counter] })
    class Root {}

    const container = build(Root);

    const services = [Left, Right, Root].map((each) => container.in(each).get(Service));
    expect(new Set(services).size).to.equal(1);
    expect(new Set([Left, Right, Root].map((each) => container.in(each).get(Counter)))).to.deep.equal(
      new Set([services[0]?.counter]),
    );
    expect(container.instances()).to.have.lengthOf(5);
  });

  it("share an instance that the root module does not see, and the application resolves it", () => {
    class Counter {}
    @Module({ providers: [Counter] })
    class Left {}
    @Module({ providers: [Counter] })
    class Right {}
    @Module({ imports: [Left, Right] })
    class Root {}

    const container = build(Root);

    expect(container.get(Counter))
      .to.equal(container.in(Left).get(Counter))
      .and.to.equal(container.in(Right).get(Counter));
  });

  it("share a class that several of them build, unless their bindings give it different dependencies", () => {
    @Injectable()
    class Plain {}
    @Module({ providers: [provide(Greeting).useValue("left")] })
    class Left {}
    @Module({ providers: [provide(Greeting).useValue("right")] })
    class Right {}
    @Module({ imports: [Left, Right], providers: [provide(Greeting).useValue("root")] })
    class Root {}

    const container = build({ root: Root, extras: () => [Plain, Greeter] });

    expect(container.in(Left).get(Plain)).to.equal(container.in(Right).get(Plain)).and.to.equal(container.get(Plain));
    expect(container.in(Left).get(Greeter)).not.to.equal(container.in(Right).get(Greeter));
  });

  it("give each module its own binding of a token", () => {
    @Module({ providers: [provide(Greeting).useValue("left"), Greeter] })
    class Left {}
    @Module({ providers: [provide(Greeting).useValue("right"), Greeter] })
    class Right {}
    @Module({ imports: [Left, Right] })
    class Root {}

    const container = build(Root);

    expect(container.in(Left).get(Greeter).greeting).to.equal("left");
    expect(container.in(Right).get(Greeter).greeting).to.equal("right");
  });

  it("take the last binding of a token in one list", () => {
    @Module({ providers: [provide(Store).useClass(SqlStore), provide(Store).useClass(MemoryStore)] })
    class Root {}

    expect(build(Root).get(Store).kind).to.equal("memory");
  });

  it("prefer a module's own binding to an import's, and the last import to the others", () => {
    @Module({ providers: [provide(Greeting).useValue("first")], exports: [Greeting] })
    class First {}
    @Module({ providers: [provide(Greeting).useValue("last")], exports: [Greeting] })
    class Last {}
    @Module({ imports: [First, Last], providers: [Greeter] })
    class Importing {}
    @Module({ imports: [First, Last, Importing], providers: [provide(Greeting).useValue("own"), Greeter] })
    class Root {}

    const container = build(Root);

    expect(container.in(Importing).get(Greeter).greeting).to.equal("last");
    expect(container.in(Root).get(Greeter).greeting).to.equal("own");
  });

  it("hold for token names such as __proto__", () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty", ""].map((name) => token<string>(name));
    @Module({ providers: names.map((name, index) => provide(name).useValue(`${index}`)) })
    class Root {}

    const container = build(Root);

    expect(names.map((name) => container.get(name))).to.deep.equal(["0", "1", "2", "3", "4"]);
    expect(() => container.get(token("__proto__"))).to.throw("nothing provides __proto__");
  });
});

describe("module boundaries, for any modules", () => {
  interface ModuleLists {
    readonly imports: readonly number[];
    readonly exports: readonly number[];
    readonly again: readonly number[];
  }
  interface Model {
    readonly visible: ReadonlySet<number>;
    readonly exported: ReadonlySet<number>;
  }

  const numbers = fc.array(fc.nat(7), { maxLength: 4 });
  const wishes = fc.array(fc.record({ imports: numbers, exports: numbers, again: numbers }), {
    minLength: 1,
    maxLength: 8,
  });

  /** The rule in sets: module n provides token n, imports lower modules, and exports visible tokens or imported modules. */
  function modelOf(all: readonly ModuleLists[]): readonly (Model & ModuleLists)[] {
    const models: (Model & ModuleLists)[] = [];
    for (const [index, wish] of all.entries()) {
      const imports = [...new Set(wish.imports.filter((lower) => lower < index))];
      const visible = new Set([index, ...imports.flatMap((lower) => [...(models[lower]?.exported ?? [])])]);
      const exports = wish.exports.filter((number) => visible.has(number));
      const again = wish.again.filter((number) => imports.includes(number));
      const exported = new Set([...exports, ...again.flatMap((lower) => [...(models[lower]?.exported ?? [])])]);
      models.push({ imports, exports, again, visible, exported });
    }
    return models;
  }

  it("show a module exactly its own providers and the exports of its imports", () => {
    fc.assert(
      fc.property(wishes, (all) => {
        const models = modelOf(all);
        const tokens = all.map((_, index) => token<number>(`token ${index}`));
        const modules: Class[] = [];
        for (const [index, { imports, exports, again }] of models.entries()) {
          @Module({
            imports: pick(modules, imports),
            providers: pick(tokens, [index]).map((own) => provide(own).useValue(index)),
            exports: [...pick(tokens, exports), ...pick(modules, again)],
          })
          class Numbered {}
          modules.push(Numbered);
        }
        @Module({ imports: modules })
        class Root {}

        const container = build(Root);

        for (const [index, { visible }] of models.entries()) {
          const inside = container.in(modules[index] ?? Root);
          for (const [number, name] of tokens.entries()) {
            if (visible.has(number)) expect(inside.get(name)).to.equal(number);
            else expect(() => inside.get(name)).to.throw(`token ${number} is not visible in Numbered`);
          }
        }
      }),
    );
  });
});

describe("application-wide bindings", () => {
  it("replace every module's binding of the token, exported or not, with one instance", () => {
    @Module({ providers: [provide(Store).useClass(SqlStore), Reader] })
    class Left {}
    @Module({ providers: [provide(Store).useClass(SqlStore), Reader] })
    class Right {}
    @Module({ imports: [Left, Right] })
    class Root {}

    const container = build({ root: Root, bindings: [provide(Store).useClass(MemoryStore)] });

    expect(container.in(Left).get(Reader).store.kind).to.equal("memory");
    expect(container.in(Left).get(Reader).store).to.equal(container.in(Right).get(Reader).store);
    expect(container.instances().some((instance) => instance instanceof SqlStore)).to.equal(false);
  });

  it("are visible in modules that do not provide the token", () => {
    @Module({ controllers: [Greeter] })
    class Shop {}
    @Module({ imports: [Shop] })
    class Root {}

    const container = build({ root: Root, bindings: [provide(Greeting).useValue("hello")] });

    expect(container.get(Greeter).greeting).to.equal("hello");
  });

  it("may inject a provider that a single module has and does not export", () => {
    @Module({ providers: [provide(Greeting).useValue("private")] })
    class Shop {}
    @Module({ imports: [Shop] })
    class Root {}

    const container = build({ root: Root, bindings: [provide(Greeter).useClass(Greeter)] });

    expect(container.get(Greeter).greeting).to.equal("private");
  });

  it("serve an application without modules", () => {
    const container = build({ bindings: [provide(Greeting).useValue("hello")], extras: () => [Greeter] });

    expect(container.get(Greeter).greeting).to.equal("hello");
  });

  it("are overridden by test overrides", () => {
    const container = build({
      bindings: [provide(Greeting).useValue("real")],
      overrides: [provide(Greeting).useValue("override")],
      extras: () => [Greeter],
    });

    expect(container.get(Greeter).greeting).to.equal("override");
  });
});

describe("defaults", () => {
  const defaults = [provide(Greeting).useFactory(() => "default")];

  it("are visible everywhere", () => {
    @Module({ controllers: [Greeter] })
    class Shop {}
    @Module({ imports: [Shop] })
    class Root {}

    expect(build({ root: Root, defaults }).get(Greeter).greeting).to.equal("default");
  });

  it("are overridden by a module's binding where that is visible, and only there", () => {
    @Module({ providers: [provide(Greeting).useValue("own"), Greeter] })
    class Shop {}
    @Module({ providers: [Greeter] })
    class Admin {}
    @Module({ imports: [Shop, Admin] })
    class Root {}

    const container = build({ root: Root, defaults });

    expect(container.in(Shop).get(Greeter).greeting).to.equal("own");
    expect(container.in(Admin).get(Greeter).greeting).to.equal("default");
  });

  it("are overridden by application-wide bindings", () => {
    const container = build({ bindings: [provide(Greeting).useValue("bound")], defaults });

    expect(container.get(Greeting)).to.equal("bound");
  });

  it("are built once, at their first use", () => {
    let made = 0;
    const counting = [provide(Greeting).useFactory(() => `made ${++made}`)];

    const container = build({ defaults: counting });

    expect(made).to.equal(0);
    expect([container.get(Greeting), container.get(Greeting)]).to.deep.equal(["made 1", "made 1"]);
  });
});

describe("the application's view", () => {
  it("prefers the provider of the only module that has one to a default", () => {
    @Module({ providers: [provide(Greeting).useValue("private")] })
    class Shop {}
    @Module({ imports: [Shop] })
    class Root {}

    const container = build({ root: Root, defaults: [provide(Greeting).useValue("default")] });

    expect(container.get(Greeting)).to.equal("private");
  });

  it("prefers the provider that the root module sees", () => {
    @Module({ providers: [provide(Greeting).useValue("exported")], exports: [Greeting] })
    class Shop {}
    @Module({ providers: [provide(Greeting).useValue("private")] })
    class Admin {}
    @Module({ imports: [Shop, Admin] })
    class Root {}

    expect(build(Root).get(Greeting)).to.equal("exported");
  });

  it("refuses to choose between two modules", () => {
    @Module({ providers: [provide(Greeting).useValue("a")] })
    class Shop {}
    @Module({ providers: [provide(Greeting).useValue("b")] })
    class Admin {}
    @Module({ imports: [Shop, Admin] })
    class Root {}

    const { diagnostics, build: make } = inspect({ root: Root });

    expect(diagnostics).to.deep.equal([]);
    expect(() => make().get(Greeting))
      .to.throw("Shop and Admin each provide greeting")
      .with.property("code", "E_PROVIDER_AMBIGUOUS");
  });

  it("finds controllers and modules", () => {
    @Module({ controllers: [Greeter], providers: [provide(Greeting).useValue("hello")] })
    class Shop {}
    @Module({ imports: [Shop] })
    class Root {}

    const container = build(Root);

    expect(container.get(Greeter)).to.equal(container.in(Shop).get(Greeter));
    expect(container.get(Shop)).to.be.instanceOf(Shop);
  });

  it("knows the modules of its own application only", () => {
    @Module()
    class Stranger {}
    @Module()
    class Root {}

    expect(() => build(Root).in(Stranger))
      .to.throw("Stranger is not a module")
      .with.property("code", "E_NOT_A_MODULE");
  });
});

describe("extras", () => {
  it("are built inside their module", () => {
    @Module({ providers: [provide(Greeting).useValue("shop")] })
    class Shop {}
    @Module({ imports: [Shop], providers: [provide(Greeting).useValue("root")] })
    class Root {}

    const container = build({ root: Root, extras: () => [Greeter] });

    expect(container.in(Shop).get(Greeter).greeting).to.equal("shop");
    expect(container.in(Root).get(Greeter).greeting).to.equal("root");
    expect(container.get(Greeter).greeting).to.equal("root");
  });

  it("are the provided instance where the module sees a provider", () => {
    @Module({ providers: [provide(Greeting).useValue("shop"), Greeter], exports: [Greeter] })
    class Shop {}
    @Module({ imports: [Shop] })
    class Root {}

    const container = build({ root: Root, extras: (module) => (module === Root ? [Greeter] : []) });

    expect(container.in(Root).get(Greeter)).to.equal(container.in(Shop).get(Greeter));
  });

  it("are checked", () => {
    @Module()
    class Root {}

    const { diagnostics } = inspect({ root: Root, extras: (module) => (module === Root ? [Greeter] : []) });

    expect(diagnostics.map(({ where }) => where)).to.deep.equal([
      "Greeter, constructor parameter 1 (greeting), in Root",
    ]);
  });
});
