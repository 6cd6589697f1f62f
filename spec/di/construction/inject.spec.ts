import { expect } from "chai";
import {
  Application,
  Controller,
  Get,
  Inject,
  inject,
  Injectable,
  Module,
  provide,
  token,
} from "@stagecraft/framework";
import type { Class } from "../../../lib/runtime/class.js";
import { inspect } from "../../../lib/di/graph.js";
import type { Container } from "../../../lib/di/container.js";
import type { InspectionOptions } from "../../../lib/di/inspection.js";
import { startupErrorOf } from "../../support/startup-error-of.js";

abstract class LinkStore {
  abstract all(): readonly string[];
}
class MemoryLinks extends LinkStore {
  override all(): readonly string[] {
    return [];
  }
}
class FakeLinks extends LinkStore {
  override all(): readonly string[] {
    return ["fake"];
  }
}
const Greeting = token<string>("Greeting");
const Nothing = token<null>("Nothing");

class ByParameter {
  constructor(
    readonly store = inject(LinkStore),
    readonly greeting = inject(Greeting),
    readonly limit = 10,
  ) {}
}

class ByField {
  readonly store = inject(LinkStore);
  readonly greeting = inject(Greeting);
}

@Injectable()
class ByBoth {
  readonly field = inject(LinkStore);

  constructor(
    readonly typed: LinkStore,
    readonly greeting = inject(Greeting),
    readonly named: LinkStore = inject(LinkStore),
    @Inject(Greeting) readonly text = "no",
  ) {}
}

const memory = provide(LinkStore).useClass(MemoryLinks);
const greeting = provide(Greeting).useValue("hello");

/** @param levels of inheritance of each class */
function chain(length: number, levels = 0): readonly Class[] {
  const classes: Class[] = [MemoryLinks];
  for (let index = 1; index < length; index += 1) {
    const next = classes.at(-1) ?? MemoryLinks;
    classes.push(
      inherit(
        class Link {
          readonly needed = inject(next);
        },
        levels,
      ),
    );
  }
  return classes.toReversed();
}

function inherit(base: new () => object, levels: number): Class {
  if (levels === 0) return base;
  return inherit(
    class Link extends base {
      readonly sum: number;

      constructor() {
        const [one, two] = [levels, levels + 1];
        super();
        this.sum = one + two;
      }
    },
    levels - 1,
  );
}

function build(input: InspectionOptions | Class): Container {
  return inspect(typeof input === "function" ? { root: input } : input).build();
}

describe("inject", () => {
  it("gives the defaults of constructor parameters, in a class without a decorator", () => {
    @Module({ providers: [ByParameter, memory, greeting] })
    class Root {}

    const container = build(Root);

    expect(container.get(ByParameter)).to.include({ store: container.get(LinkStore), greeting: "hello", limit: 10 });
  });

  it("is not called where the argument is passed", () => {
    const fake = new FakeLinks();

    expect(new ByParameter(fake, "hi")).to.include({ store: fake, greeting: "hi" });
  });

  it("initialises fields", () => {
    @Module({ providers: [ByField, memory, greeting] })
    class Root {}

    const container = build(Root);

    expect(container.get(ByField)).to.include({ store: container.get(LinkStore), greeting: "hello" });
  });

  it("stands beside parameters of which the compiler emits the type, and those with @Inject", () => {
    @Module({ providers: [ByBoth, memory, greeting] })
    class Root {}

    const container = build(Root);
    const links = container.get(LinkStore);

    const expected = { field: links, typed: links, greeting: "hello", named: links, text: "hello" };
    expect(container.get(ByBoth)).to.include(expected);
  });

  it("gives a default precedence over the type that the compiler emits", () => {
    const Sizes = token<Map<string, number>>("Sizes");
    @Injectable()
    class Defaulted {
      constructor(
        readonly links: LinkStore = inject(FakeLinks),
        readonly sizes: Map<string, number> = inject(Sizes),
        readonly url: URL = new URL("http://localhost/"),
        readonly optional?: LinkStore,
      ) {}
    }
    @Module({ providers: [Defaulted, memory, FakeLinks, provide(Sizes).useValue(new Map([["one", 1]]))] })
    class Root {}

    const container = build(Root);

    const { links, sizes, url, optional } = container.get(Defaulted);
    expect([links, sizes.get("one"), url.port, optional]).to.deep.equal([container.get(FakeLinks), 1, "", undefined]);
  });

  it("gives the parameters of a parent, and those of a class that passes them on", () => {
    class Child extends ByParameter {}
    class Passing extends ByParameter {
      constructor(links = inject(LinkStore)) {
        super(links, "passed");
      }
    }
    @Module({ providers: [Child, Passing, memory, greeting] })
    class Root {}

    const container = build(Root);

    expect(container.get(Child).greeting).to.equal("hello");
    expect(container.get(Passing)).to.include({ store: container.get(LinkStore), greeting: "passed" });
  });

  it("gives null like any other value", () => {
    class Empty {
      readonly nothing = inject(Nothing);
    }

    const bindings = [provide(Empty).useClass(Empty), provide(Nothing).useValue(null)];

    expect(build({ bindings }).get(Empty).nothing).to.equal(null);
  });

  it("works in a factory, and in a class that a constructor creates with new", () => {
    class Helper {
      readonly store = inject(LinkStore);
    }
    class Creator {
      readonly helper = new Helper();
    }
    const Links = token<readonly string[]>("Links");
    @Module({ providers: [Creator, memory, provide(Links).useFactory(() => inject(LinkStore).all())] })
    class Root {}

    const container = build(Root);

    expect(container.get(Creator).helper.store).to.equal(container.get(LinkStore));
    expect(container.get(Links)).to.deep.equal([]);
  });

  it("sees what the module sees", () => {
    const other = new FakeLinks();
    @Module({ providers: [memory], exports: [LinkStore] })
    class Links {}
    class Inner {
      readonly store = inject(LinkStore);
    }
    @Module({ providers: [Inner, provide(LinkStore).useValue(other)] })
    class Own {}
    class Outer {
      readonly store = inject(LinkStore);
    }
    @Module({ imports: [Own, Links], providers: [Outer] })
    class Root {}

    const container = build(Root);

    expect(container.in(Own).get(Inner).store).to.equal(other);
    expect(container.get(Outer).store).to.equal(container.get(LinkStore)).and.not.to.equal(other);
  });

  it("builds what it gives first, so that disposal is in the reverse order", async () => {
    const log: string[] = [];
    class Pool {
      dispose(): void {
        log.push("Pool");
      }
    }
    class Repository {
      readonly pool = inject(Pool);

      dispose(): void {
        log.push("Repository");
      }
    }
    @Module({ providers: [Repository, Pool] })
    class Root {}

    await build(Root).dispose();

    expect(log).to.deep.equal(["Repository", "Pool"]);
  });

  it("keeps the context of the outer application where a constructor builds another", () => {
    class Nesting {
      readonly inner = build({ bindings: [provide(Greeting).useValue("inner"), provide(Reader).useClass(Reader)] });
      readonly greeting = inject(Greeting);
    }
    class Reader {
      readonly greeting = inject(Greeting);
    }

    const outer = build({ bindings: [greeting, provide(Nesting).useClass(Nesting)] }).get(Nesting);

    expect([outer.greeting, outer.inner.get(Reader).greeting]).to.deep.equal(["hello", "inner"]);
  });

  it("is in the graph of the application, beside the typed parameters", () => {
    @Controller("/")
    class LinksController {
      constructor(
        readonly typed: ByParameter,
        readonly store = inject(LinkStore),
      ) {}

      @Get("/")
      show() {}
    }
    const Hello = token<string>("Hello");
    const hello = provide(Hello).useFactory(() => inject(Greeting));
    @Module({ controllers: [LinksController], providers: [ByParameter, memory] })
    class Root {}

    const { injections } = Application.create(Root).provide(greeting, hello).build().graph();

    expect(injections).to.deep.equal([
      { module: "", provider: "Hello", tokens: ["Greeting"] },
      { module: "Root", provider: "ByParameter", tokens: ["LinkStore", "Greeting"] },
      { module: "Root", provider: "LinksController", tokens: ["ByParameter", "LinkStore"] },
    ]);
  });
});

describe("one instance in several modules", () => {
  class Reader {
    readonly store = inject(LinkStore);
  }
  @Injectable()
  class Service {
    constructor(readonly reader: Reader) {}
  }
  @Module({ providers: [memory], exports: [LinkStore] })
  class Links {}
  @Module({ imports: [Links], providers: [Service, Reader] })
  class First {}

  it("is shared where inject gets the same in each", () => {
    @Module({ imports: [Links], providers: [Reader, Service] })
    class Second {}
    @Module({ imports: [First, Second] })
    class Root {}

    const container = build(Root);

    expect(container.get(Service)).to.equal(container.in(Second).get(Service));
    expect(container.instances().filter((each) => each instanceof Reader)).to.have.lengthOf(1);
  });

  it("is shared where a class that inject gets is shared itself", () => {
    class Outer {
      readonly reader = inject(Reader);
    }
    @Module({ imports: [Links], providers: [Reader, Outer] })
    class One {}
    @Module({ imports: [Links], providers: [Outer, Reader] })
    class Two {}
    @Module({ imports: [One, Two] })
    class Root {}

    const container = build(Root);

    expect(container.in(One).get(Outer)).to.equal(container.in(Two).get(Outer));
    expect(container.in(One).get(Reader)).to.equal(container.in(Two).get(Reader));
  });

  it("is a separate one where inject gets something else, and so for the classes that need it", () => {
    const other = new FakeLinks();
    @Module({ providers: [Reader, Service, provide(LinkStore).useValue(other)] })
    class Second {}
    @Module({ imports: [Links], providers: [Service, Reader] })
    class Third {}
    @Module({ imports: [First, Second, Third] })
    class Root {}

    const container = build(Root);
    const [first, second, third] = [First, Second, Third].map((module) => container.in(module).get(Service));

    expect(second?.reader.store).to.equal(other);
    expect(first).to.equal(third).and.not.to.equal(second);
    expect(() => container.get(Service)).to.throw("First and Second and Third each provide Service");
  });

  it("fails once", () => {
    class Broken {
      constructor(readonly links = inject(LinkStore)) {
        throw new Error("broken");
      }
    }
    @Module({ imports: [Links], providers: [Broken] })
    class One {}
    @Module({ imports: [Links, One], providers: [Broken] })
    class Root {}

    const { diagnostics } = startupErrorOf(() => build({ root: Root }));

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_PROVIDER_FAILED"]);
  });
});

describe("a test override", () => {
  it("is used where inject gets it", () => {
    const overrides = [provide(LinkStore).useValue(new FakeLinks())];
    @Module({ providers: [ByField, memory, greeting] })
    class Root {}

    expect(build({ root: Root, overrides }).get(ByField).store.all()).to.deep.equal(["fake"]);
  });

  it("is refused after the build when nothing has injected it", () => {
    const overrides = [provide(LinkStore).useValue(new FakeLinks())];
    @Module({ providers: [memory] })
    class Root {}

    const { diagnostics } = startupErrorOf(() => build({ root: Root, overrides }));

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_DOUBLE_UNUSED"]);
  });
});

describe("classes that need each other by inject", () => {
  it("nest 500 deep", () => {
    @Module({ providers: chain(500) })
    class Root {}

    expect(build(Root).instances()).to.have.lengthOf(501);
  });

  it("are of any number where each is listed after those that it needs", () => {
    @Module({ providers: chain(5000).toReversed() })
    class Root {}

    expect(build(Root).instances()).to.have.lengthOf(5001);
  });

  it("are a fault where they nest deeper", () => {
    @Module({ providers: chain(600) })
    class Root {}

    const { diagnostics } = startupErrorOf(() => build({ root: Root }));

    expect(diagnostics.map(({ code, what }) => `${code} ${what}`)).to.deep.equal([
      "E_INJECT_DEPTH Link is the end of 500 constructors that each need the next through inject",
    ]);
  });

  it("are a fault where the stack ends before, as with many levels of inheritance", () => {
    @Module({ providers: chain(490, 30) })
    class Root {}

    const { diagnostics } = startupErrorOf(() => build({ root: Root }));

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_INJECT_DEPTH"]);
    expect(diagnostics[0]?.what).to.match(
      /^Link is the end of \d+ constructors that each need the next through inject$/,
    );
  });

  it("are no cause of a recursion in one constructor", () => {
    class Recursive {
      readonly value = this.recurse();

      recurse(): number {
        return this.recurse() + 1;
      }
    }
    class User {
      readonly recursive = inject(Recursive);
    }
    @Module({ providers: [User, Recursive] })
    class Root {}

    const { diagnostics } = startupErrorOf(() => build({ root: Root }));

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_PROVIDER_FAILED"]);
  });
});
