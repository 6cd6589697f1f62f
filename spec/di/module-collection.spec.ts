import { expect } from "chai";
import { Module, findModuleDefinition } from "../../lib/di/module.js";
import { provide } from "../../lib/di/provide.js";
import type { Class } from "../../lib/runtime/class.js";
import { diagnosticsOf, LinkService, LinkStore, MemoryLinks, onlyDiagnostic } from "./fixtures/links.js";

describe("collectModules", () => {
  it("refuses a root that is not a module", () => {
    class Plain {}

    const diagnostic = onlyDiagnostic({ root: Plain });

    expect(diagnostic).to.deep.equal({
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

    expect(onlyDiagnostic({ root: Child }).code).to.equal("E_NOT_A_MODULE");
    expect(findModuleDefinition(Child)).to.equal(undefined);
  });

  it("names the place of an import that is not loaded yet", () => {
    @Module({ imports: [undefined as unknown as Class] })
    class Root {}

    const diagnostic = onlyDiagnostic({ root: Root });

    expect(diagnostic).to.include({ code: "E_NOT_A_MODULE", where: "import 1 of Root" });
    expect(diagnostic.what).to.include("two files import each other");
  });

  it("shows the path of modules that import each other, and continues with the checks", () => {
    const imports: Class[] = [];
    @Module({ imports })
    class A {}
    @Module({ imports: [A], providers: [LinkService] })
    class C {}
    @Module({ imports: [C] })
    class B {}
    imports.push(B);

    const [cycle, missing] = diagnosticsOf({ root: A });

    expect(cycle).to.include({ code: "E_MODULE_CYCLE", what: "modules import each other: A -> B -> C -> A" });
    expect(missing).to.include({ code: "E_PROVIDER_MISSING" });
  });

  it("refuses a module that imports itself", () => {
    const imports: Class[] = [];
    @Module({ imports })
    class A {}
    imports.push(A);

    expect(onlyDiagnostic({ root: A }).what).to.equal("modules import each other: A -> A");
  });

  it("refuses entries that are neither class nor binding", () => {
    @Module()
    class Other {}
    const bad = [undefined, 7, {}, () => 1, Other] as unknown as Class[];
    @Module({ providers: bad, controllers: [undefined as unknown as Class] })
    class Root {}

    const diagnostics = diagnosticsOf({ root: Root });

    expect(diagnostics.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_PROVIDER_INVALID provider 1 of Root",
      "E_PROVIDER_INVALID provider 2 of Root",
      "E_PROVIDER_INVALID provider 3 of Root",
      "E_PROVIDER_INVALID provider 4 of Root",
      "E_PROVIDER_INVALID provider 5 of Root",
      "E_PROVIDER_INVALID controller 1 of Root",
    ]);
    expect(diagnostics[4]?.what).to.equal("Other is a module: it belongs under imports");
  });

  it("refuses bindings of and to classes that are not loaded yet", () => {
    const gone = undefined as unknown as typeof MemoryLinks;
    @Module({ providers: [provide(gone).useValue(new MemoryLinks()), provide(LinkStore).useClass(gone)] })
    class Root {}

    const codes = diagnosticsOf({ root: Root, bindings: [provide(gone).useClass(MemoryLinks)] }).map(
      ({ where }) => where,
    );

    expect(codes).to.deep.equal(["binding 1 of the application", "provider 1 of Root", "provider 2 of Root"]);
  });

  it("refuses exports that are neither provided nor imported", () => {
    @Module({ providers: [provide(LinkStore).useClass(MemoryLinks)] })
    class Private {}
    @Module()
    class Elsewhere {}
    @Module({ imports: [Private], exports: [LinkStore, Elsewhere, Private] })
    class Root {}

    const diagnostics = diagnosticsOf({ root: Root });

    expect(diagnostics.map(({ what }) => what)).to.deep.equal([
      "Root exports LinkStore, which it neither provides nor imports",
      "Root exports Elsewhere, which it neither provides nor imports",
    ]);
    expect(diagnostics[1]?.fix).to.include("add Elsewhere to the imports of Root");
  });
});
