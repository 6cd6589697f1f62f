import { expect } from "chai";
import { Inject, Injectable } from "../../lib/di/injectable.js";
import { Module } from "../../lib/di/module.js";
import { provide } from "../../lib/di/provide.js";
import { token } from "../../lib/di/token.js";
import {
  diagnosticsOf,
  LinksController,
  LinkService,
  LinkStore,
  MemoryLinks,
  onlyDiagnostic,
} from "./fixtures/links.js";
import { Newsletter, Subject } from "./fixtures/type-only.js";

describe("DependencyWiring", () => {
  it("names class, parameter, position, chain and fix of a missing provider", () => {
    @Module({ controllers: [LinksController], providers: [LinkService] })
    class ShopModule {}

    const diagnostic = onlyDiagnostic({ root: ShopModule });

    expect(diagnostic).to.deep.equal({
      code: "E_PROVIDER_MISSING",
      what: "nothing provides LinkStore (LinksController -> LinkService -> LinkStore)",
      where: "LinkService, constructor parameter 1 (store), in ShopModule",
      fix: "add LinkStore, or a binding provide(LinkStore)…, to the providers of ShopModule, or import a module that exports it",
    });
  });

  it("proposes a binding where a subclass is provided under the token of the subclass", () => {
    @Module({ providers: [LinkService, MemoryLinks] })
    class ShopModule {}

    expect(onlyDiagnostic({ root: ShopModule }).fix).to.equal(
      "bind it in ShopModule: provide(LinkStore).useClass(MemoryLinks)",
    );
  });

  it("says that another class of the same name is provided", () => {
    const namesake = { LinkStore: class extends Array {} }.LinkStore;
    @Module({ providers: [LinkService, namesake] })
    class ShopModule {}

    expect(onlyDiagnostic({ root: ShopModule }).what).to.include(
      "ShopModule provides another class or token of the same name",
    );
  });

  it("does not inject controllers", () => {
    @Injectable()
    class Intrusive {
      constructor(readonly links: LinksController) {}
    }
    @Module({
      controllers: [LinksController],
      providers: [LinkService, provide(LinkStore).useClass(MemoryLinks), Intrusive],
    })
    class ShopModule {}

    expect(onlyDiagnostic({ root: ShopModule }).what).to.include("it is a controller");
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

    const diagnostic = onlyDiagnostic({ root: Root });

    expect(diagnostic).to.include({
      code: "E_PROVIDER_CYCLE",
      what: "providers need each other: first (First) -> second (Second) -> third (Third) -> first (First)",
      where: "constructor of Third, in Root",
    });
  });

  it("refuses a provider that needs itself", () => {
    const self = token("self");
    @Injectable()
    class SelfReferring {
      constructor(@Inject(self) readonly image: unknown) {}
    }
    @Module({ providers: [provide(self).useClass(SelfReferring)] })
    class Root {}

    expect(onlyDiagnostic({ root: Root }).what).to.equal(
      "providers need each other: self (SelfReferring) -> self (SelfReferring)",
    );
  });

  it("refuses types that are not tokens, each with its own fix", () => {
    interface Shape {
      readonly area: number;
    }
    @Injectable()
    class WithoutTokens {
      constructor(
        readonly shape: Shape,
        readonly nothing: undefined,
        readonly text: string,
        readonly call: () => void,
      ) {}
    }
    @Module({ providers: [WithoutTokens] })
    class Root {}

    const diagnostics = diagnosticsOf({ root: Root });

    expect(diagnostics.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_TYPE_ERASED WithoutTokens, constructor parameter 1 (shape), in Root",
      "E_TYPE_UNDEFINED WithoutTokens, constructor parameter 2 (nothing), in Root",
      "E_TYPE_PRIMITIVE WithoutTokens, constructor parameter 3 (text), in Root",
      "E_TYPE_ERASED WithoutTokens, constructor parameter 4 (call), in Root",
    ]);
    expect(diagnostics[0]?.fix).to.include("import the class, not its type");
    expect(diagnostics[3]?.what).to.include("its type is Function").and.to.include("`import type`");
  });

  it("refuses a class imported as a type only", () => {
    @Module({ providers: [Newsletter, Subject] })
    class Root {}

    expect(onlyDiagnostic({ root: Root })).to.include({
      code: "E_TYPE_ERASED",
      where: "Newsletter, constructor parameter 2 (mailer), in Root",
    });
  });

  it("does not inject a binding of String into a string parameter", () => {
    @Injectable()
    class Text {
      constructor(readonly text: string) {}
    }
    @Module({ providers: [Text, provide(String).useValue("surprise")] })
    class Root {}

    expect(onlyDiagnostic({ root: Root }).code).to.equal("E_TYPE_PRIMITIVE");
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

    const diagnostics = diagnosticsOf({ root: Root });

    expect(diagnostics.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_INJECTABLE_MISSING constructor of Bare, in Root",
      "E_METADATA_DROPPED constructor of Dropped, in Root",
      "E_INJECTABLE_MISSING constructor of Heir, in Root (inherited from Bare)",
    ]);
    // The first cure works with any compiler.
    for (const at of [0, 2])
      expect(diagnostics[at]?.fix).to.match(/^give each parameter a default: store = inject\(Store\)/);
    const { fix } = diagnostics[1] ?? {};
    for (const tool of ["tsc", "swc", "vitest", "esbuild", "tsx", "Node"]) expect(fix).to.include(tool);
  });

  it("does not check a provider that a binding of the application overrides", () => {
    @Module({ providers: [LinkService] })
    class Root {}

    const diagnostics = diagnosticsOf({
      root: Root,
      bindings: [provide(LinkService).useValue(new LinkService(new MemoryLinks()))],
    });

    expect(diagnostics).to.deep.equal([]);
  });

  it("names the call that requires a missing token", () => {
    const missing = token("missing");

    const diagnostic = onlyDiagnostic({
      requiredTokens: [{ token: missing, requiredBy: ".maintenance()" }],
    });

    expect(diagnostic).to.include({
      code: "E_PROVIDER_MISSING",
      what: "nothing provides missing",
      where: ".maintenance()",
    });
  });
});
