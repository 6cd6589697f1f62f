import { expect } from "chai";
import { type Diagnostic, StartupError } from "../../lib/errors/diagnostic.js";
import { inspect } from "../../lib/di/graph.js";
import { Inject, Injectable } from "../../lib/di/injectable.js";
import type { Inspection } from "../../lib/di/inspection.js";
import { Module, moduleOf } from "../../lib/di/module.js";
import { provide } from "../../lib/di/provide.js";
import { token, type Class } from "../../lib/di/token.js";
import { Newsletter, Subject } from "./fixtures/type-only.js";

abstract class LinkStore {
  abstract all(): readonly string[];
}

class MemoryLinks extends LinkStore {
  override all(): readonly string[] {
    return [];
  }
}

@Injectable()
class LinkService {
  constructor(readonly store: LinkStore) {}
}

@Injectable()
class LinksController {
  constructor(readonly service: LinkService) {}
}

function guard(): void {}

function findingsOf(input: Inspection): readonly Diagnostic[] {
  return inspect(input).findings;
}

/** The only finding, or a failing assertion that shows them all. */
function onlyFinding(input: Inspection): Diagnostic {
  const findings = findingsOf(input);
  expect(findings, JSON.stringify(findings, null, 2)).to.have.lengthOf(1);
  return findings[0] ?? expect.fail("no finding");
}

describe("inspect", () => {
  it("finds nothing wrong in a graph that is whole", () => {
    @Module({ controllers: [LinksController], providers: [LinkService, provide(LinkStore).useClass(MemoryLinks)] })
    class ShopModule {}

    const { findings, modules } = inspect({ root: ShopModule });

    expect(findings).to.deep.equal([]);
    expect(modules.map(({ name }) => name)).to.deep.equal(["ShopModule"]);
  });

  it("finds nothing wrong where there is nothing", () => {
    expect(findingsOf({})).to.deep.equal([]);
  });

  it("builds nothing while it looks", () => {
    let built = 0;
    class Counted {
      constructor() {
        built += 1;
      }
    }
    @Module({ providers: [Counted, provide(LinkStore).useFactory(() => (built++, new MemoryLinks()))] })
    class Root {}

    inspect({ root: Root });

    expect(built).to.equal(0);
  });

  it("lists every fault at once, and build() throws them all", () => {
    class Stray {}
    @Injectable()
    class Chicken {
      constructor(@Inject(token("egg")) readonly egg: unknown) {}
    }
    @Module({ imports: [Stray], providers: [LinkService, Chicken, Newsletter, Subject], exports: [LinkStore] })
    class Root {}

    const { findings, build } = inspect({ root: Root });

    expect(findings.map(({ code }) => code)).to.deep.equal([
      "E_NOT_A_MODULE",
      "E_EXPORT_UNKNOWN",
      "E_PROVIDER_MISSING",
      "E_PROVIDER_MISSING",
      "E_TYPE_ERASED",
    ]);
    expect(build).to.throw(StartupError, "5 faults").with.property("diagnostics", findings);
  });

  it("describes modules from the root down, each once, in declared order", () => {
    @Module({ providers: [provide(LinkStore).useClass(MemoryLinks), MemoryLinks], exports: [LinkStore] })
    class Store {}
    @Module({ imports: [Store], controllers: [LinksController], providers: [LinkService], middleware: [guard] })
    class Shop {}
    @Module({ imports: [Store] })
    class Admin {}
    @Module({ imports: [Shop, Admin, Store] })
    class Root {}

    const { modules } = inspect({ root: Root });

    expect(modules.map(({ module }) => module)).to.deep.equal([Root, Shop, Store, Admin]);
    expect(modules[0]?.imports).to.deep.equal([Shop, Admin, Store]);
    expect(modules[1]).to.deep.equal({
      module: Shop,
      name: "Shop",
      imports: [Store],
      exports: [],
      controllers: [LinksController],
      providers: [LinkService],
      middleware: [guard],
    });
    expect(modules[2]).to.deep.include({ providers: [LinkStore, MemoryLinks], exports: [LinkStore] });
  });
});

describe("inspect, modules", () => {
  it("refuses a root that is no module", () => {
    class Plain {}

    const finding = onlyFinding({ root: Plain });

    expect(finding).to.deep.equal({
      code: "E_NOT_A_MODULE",
      what: "Plain is not a module",
      where: "the root of the application",
      fix: "decorate the class with @Module({ … }); a provider belongs under providers",
    });
  });

  it("refuses a child of a module that is not decorated itself", () => {
    @Module()
    class Parent {}
    class Child extends Parent {}

    expect(onlyFinding({ root: Child }).code).to.equal("E_NOT_A_MODULE");
    expect(moduleOf(Child)).to.equal(undefined);
  });

  it("names the place of an import that is not there yet", () => {
    @Module({ imports: [undefined as unknown as Class] })
    class Root {}

    const finding = onlyFinding({ root: Root });

    expect(finding).to.include({ code: "E_NOT_A_MODULE", where: "import 1 of Root" });
    expect(finding.what).to.include("the files import each other");
  });

  it("shows the path of modules that import each other, and looks on", () => {
    const imports: Class[] = [];
    @Module({ imports })
    class A {}
    @Module({ imports: [A], providers: [LinkService] })
    class C {}
    @Module({ imports: [C] })
    class B {}
    imports.push(B);

    const [cycle, missing] = findingsOf({ root: A });

    expect(cycle).to.include({ code: "E_MODULE_CYCLE", what: "modules import each other: A -> B -> C -> A" });
    expect(missing).to.include({ code: "E_PROVIDER_MISSING" });
  });

  it("refuses a module that imports itself", () => {
    const imports: Class[] = [];
    @Module({ imports })
    class A {}
    imports.push(A);

    expect(onlyFinding({ root: A }).what).to.equal("modules import each other: A -> A");
  });

  it("refuses entries that are neither class nor binding", () => {
    @Module()
    class Other {}
    const bad = [undefined, 7, {}, () => 1, Other] as unknown as Class[];
    @Module({ providers: bad, controllers: [undefined as unknown as Class] })
    class Root {}

    const findings = findingsOf({ root: Root });

    expect(findings.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_PROVIDER_INVALID provider 1 of Root",
      "E_PROVIDER_INVALID provider 2 of Root",
      "E_PROVIDER_INVALID provider 3 of Root",
      "E_PROVIDER_INVALID provider 4 of Root",
      "E_PROVIDER_INVALID provider 5 of Root",
      "E_PROVIDER_INVALID controller 1 of Root",
    ]);
    expect(findings[4]?.what).to.equal("Other is a module: it belongs under imports");
  });

  it("refuses bindings of and to classes that are not there yet", () => {
    const gone = undefined as unknown as typeof MemoryLinks;
    @Module({ providers: [provide(gone).useValue(new MemoryLinks()), provide(LinkStore).useClass(gone)] })
    class Root {}

    const codes = findingsOf({ root: Root, bindings: [provide(gone).useClass(MemoryLinks)] }).map(({ where }) => where);

    expect(codes).to.deep.equal(["binding 1 of the application", "provider 1 of Root", "provider 2 of Root"]);
  });

  it("refuses exports of what is neither provided nor imported", () => {
    @Module({ providers: [provide(LinkStore).useClass(MemoryLinks)] })
    class Private {}
    @Module()
    class Elsewhere {}
    @Module({ imports: [Private], exports: [LinkStore, Elsewhere, Private] })
    class Root {}

    const findings = findingsOf({ root: Root });

    expect(findings.map(({ what }) => what)).to.deep.equal([
      "Root exports LinkStore, which it neither provides nor imports",
      "Root exports Elsewhere, which it neither provides nor imports",
    ]);
    expect(findings[1]?.fix).to.include("add Elsewhere to the imports of Root");
  });
});

describe("inspect, parameters", () => {
  it("names class, parameter, position, chain and fix of a provider that nobody has", () => {
    @Module({ controllers: [LinksController], providers: [LinkService] })
    class ShopModule {}

    const finding = onlyFinding({ root: ShopModule });

    expect(finding).to.deep.equal({
      code: "E_PROVIDER_MISSING",
      what: "nothing provides LinkStore (LinksController -> LinkService -> LinkStore)",
      where: "LinkService, constructor parameter 1 (store), in ShopModule",
      fix: "add LinkStore, or a binding provide(LinkStore)…, to the providers of ShopModule, or import a module that exports it",
    });
  });

  it("says so when a class is provided that would do, and only has to be bound", () => {
    @Module({ providers: [LinkService, MemoryLinks] })
    class ShopModule {}

    expect(onlyFinding({ root: ShopModule }).fix).to.equal(
      "bind it in ShopModule: provide(LinkStore).useClass(MemoryLinks)",
    );
  });

  it("says so when another class of the same name is provided", () => {
    const twin = { LinkStore: class extends Array {} }.LinkStore;
    @Module({ providers: [LinkService, twin] })
    class ShopModule {}

    expect(onlyFinding({ root: ShopModule }).what).to.include(
      "what ShopModule provides under this name is another class",
    );
  });

  it("does not inject controllers", () => {
    @Injectable()
    class Nosy {
      constructor(readonly links: LinksController) {}
    }
    @Module({
      controllers: [LinksController],
      providers: [LinkService, provide(LinkStore).useClass(MemoryLinks), Nosy],
    })
    class ShopModule {}

    expect(onlyFinding({ root: ShopModule }).what).to.include("it is a controller");
  });

  it("shows the whole path of providers that need each other", () => {
    const [first, second, third] = [token("first"), token("second"), token("third")];
    @Injectable()
    class First {
      constructor(@Inject(second) readonly next: unknown) {}
    }
    @Injectable()
    class Second {
      constructor(@Inject(third) readonly next: unknown) {}
    }
    @Injectable()
    class Third {
      constructor(@Inject(first) readonly next: unknown) {}
    }
    @Module({
      providers: [provide(first).useClass(First), provide(second).useClass(Second), provide(third).useClass(Third)],
    })
    class Root {}

    const finding = onlyFinding({ root: Root });

    expect(finding).to.include({
      code: "E_PROVIDER_CYCLE",
      what: "providers need each other: first (First) -> second (Second) -> third (Third) -> first (First)",
      where: "constructor of Third, in Root",
    });
  });

  it("refuses a provider that needs itself", () => {
    const self = token("self");
    @Injectable()
    class Narcissus {
      constructor(@Inject(self) readonly image: unknown) {}
    }
    @Module({ providers: [provide(self).useClass(Narcissus)] })
    class Root {}

    expect(onlyFinding({ root: Root }).what).to.equal(
      "providers need each other: self (Narcissus) -> self (Narcissus)",
    );
  });

  it("refuses types that name nothing, each with its own fix", () => {
    interface Shape {
      readonly area: number;
    }
    @Injectable()
    class Blank {
      constructor(
        readonly shape: Shape,
        readonly nothing: undefined,
        readonly text: string,
        readonly call: () => void,
      ) {}
    }
    @Module({ providers: [Blank] })
    class Root {}

    const findings = findingsOf({ root: Root });

    expect(findings.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_TYPE_ERASED Blank, constructor parameter 1 (shape), in Root",
      "E_TYPE_UNDEFINED Blank, constructor parameter 2 (nothing), in Root",
      "E_TYPE_PRIMITIVE Blank, constructor parameter 3 (text), in Root",
      "E_TYPE_ERASED Blank, constructor parameter 4 (call), in Root",
    ]);
    expect(findings[0]?.fix).to.include("import the class, not its type");
    expect(findings[3]?.what).to.include("(Function)").and.to.include("`import type`");
  });

  it("refuses a class imported as a type only, even where it is provided", () => {
    @Module({ providers: [Newsletter, Subject] })
    class Root {}

    expect(onlyFinding({ root: Root })).to.include({
      code: "E_TYPE_ERASED",
      where: "Newsletter, constructor parameter 2 (mailer), in Root",
    });
  });

  it("never takes a binding of a primitive's class for a parameter's type", () => {
    @Injectable()
    class Text {
      constructor(readonly text: string) {}
    }
    @Module({ providers: [Text, provide(String).useValue("surprise")] })
    class Root {}

    expect(onlyFinding({ root: Root }).code).to.equal("E_TYPE_PRIMITIVE");
  });

  it("tells a missing decorator from a tool that drops metadata", () => {
    class Bare {
      constructor(readonly store: LinkStore) {}
    }
    class Dropped {
      constructor(readonly store: LinkStore) {}
    }
    Injectable()(Dropped);
    @Injectable()
    class Heir extends Bare {}
    @Module({ providers: [Bare, Dropped, Heir] })
    class Root {}

    const findings = findingsOf({ root: Root });

    expect(findings.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_INJECTABLE_MISSING constructor of Bare, in Root",
      "E_METADATA_DROPPED constructor of Dropped, in Root",
      "E_INJECTABLE_MISSING constructor of Heir, in Root (inherited from Bare)",
    ]);
    expect(findings[1]?.fix).to.include("esbuild");
  });

  it("does not look at what an application-wide binding replaces", () => {
    @Module({ providers: [LinkService] })
    class Root {}

    const findings = findingsOf({
      root: Root,
      bindings: [provide(LinkService).useValue(new LinkService(new MemoryLinks()))],
    });

    expect(findings).to.deep.equal([]);
  });

  it("names who wants a token from outside the modules", () => {
    const missing = token("missing");

    const finding = onlyFinding({
      wanted: [
        { token: missing, by: ".maintenance()" },
        { token: token("spare"), by: "nobody", optional: true },
      ],
    });

    expect(finding).to.include({
      code: "E_PROVIDER_MISSING",
      what: "nothing provides missing",
      where: ".maintenance()",
    });
  });
});
