import { expect } from "chai";
import { StartupError } from "../../lib/errors/diagnostic.js";
import { inspect } from "../../lib/di/graph.js";
import { Inject, Injectable } from "../../lib/di/injectable.js";
import { Module } from "../../lib/di/module.js";
import { provide } from "../../lib/di/provide.js";
import { token } from "../../lib/di/token.js";
import { diagnosticsOf, LinksController, LinkService, LinkStore, MemoryLinks } from "./fixtures/links.js";
import { Newsletter, Subject } from "./fixtures/type-only.js";

function guard(): void {}

describe("inspect", () => {
  it("has no diagnostics for a complete graph", () => {
    @Module({ controllers: [LinksController], providers: [LinkService, provide(LinkStore).useClass(MemoryLinks)] })
    class ShopModule {}

    const { diagnostics, modules } = inspect({ root: ShopModule });

    expect(diagnostics).to.deep.equal([]);
    expect(modules.map(({ name }) => name)).to.deep.equal(["ShopModule"]);
  });

  it("has no diagnostics without any module", () => {
    expect(diagnosticsOf({})).to.deep.equal([]);
  });

  it("builds nothing", () => {
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

  it("lists every diagnostic at once, and build() throws them all", () => {
    class Stray {}
    @Injectable()
    class Incomplete {
      constructor(@Inject(token("missing")) readonly missing: unknown) {}
    }
    @Module({ imports: [Stray], providers: [LinkService, Incomplete, Newsletter, Subject], exports: [LinkStore] })
    class Root {}

    const { diagnostics, build } = inspect({ root: Root });

    expect(diagnostics.map(({ code }) => code)).to.deep.equal([
      "E_NOT_A_MODULE",
      "E_EXPORT_UNKNOWN",
      "E_PROVIDER_MISSING",
      "E_PROVIDER_MISSING",
      "E_TYPE_ERASED",
    ]);
    expect(build).to.throw(StartupError, "5 faults").with.property("diagnostics", diagnostics);
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
      events: [],
    });
    expect(modules[2]).to.deep.include({ providers: [LinkStore, MemoryLinks], exports: [LinkStore] });
  });
});
