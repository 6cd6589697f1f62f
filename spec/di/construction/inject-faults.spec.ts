/** The faults of `inject`, with their messages: those of the graph in the start-up report, and calls outside a construction. */
import { expect } from "chai";
import {
  Controller,
  Get,
  inject,
  Injectable,
  Module,
  provide,
  token,
  type InjectionToken,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import type { Class } from "../../../lib/runtime/class.js";
import { inspect } from "../../../lib/di/graph.js";
import { errorOf } from "../../support/error-of.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { startupErrorOf } from "../../support/startup-error-of.js";
import { CyclicFirst, CyclicThird } from "../fixtures/cyclic-first.js";
import { CyclicSecond } from "../fixtures/cyclic-second.js";
import { LinkStore, MemoryLinks } from "../fixtures/links.js";

const Secret = token<string>("Secret");
const Missing = token<{ readonly size: number }>("Missing");

/** Each row of the report as one text, with `FILE` for a line of this file. */
function reportOf(root: Class): readonly string[] {
  const { diagnostics } = startupErrorOf(() => inspect({ root }).build());
  return diagnostics.map(({ code, what, where, fix }) => hideLines(`${code} ${what} | ${where} | ${fix}`));
}

function hideLines(text: string): string {
  return text.replaceAll(/[^( ]+inject-faults\.spec\.[jt]s:\d+:\d+/g, "FILE");
}

@Module({ providers: [provide(Secret).useValue("hidden")] })
class Vault {}

describe("a fault of inject in the start-up report", () => {
  it("is a missing token", () => {
    class Links {
      constructor(readonly store = inject(LinkStore)) {}
    }
    @Module({ providers: [Links] })
    class Root {}

    expect(reportOf(Root)).to.deep.equal([
      "E_PROVIDER_MISSING nothing provides LinkStore | Links, call 1 of inject (FILE), in Root | " +
        "add LinkStore, or a binding provide(LinkStore)…, to the providers of Root, or import a module that exports it",
    ]);
  });

  it("is a token that the module does not see", () => {
    class Links {
      readonly secret = inject(Secret);
    }
    @Module({ imports: [Vault], providers: [Links] })
    class Root {}

    expect(reportOf(Root)).to.deep.equal([
      "E_PROVIDER_INVISIBLE Secret is not visible in Root: Vault provides it, but does not export it | " +
        "Links, call 1 of inject (FILE), in Root | add Secret to the exports of Vault",
    ]);
  });

  it("is a cycle, also where a part of it is the type of a parameter", () => {
    const second = token<unknown>("second");
    class First {
      readonly second = inject(second);
    }
    @Injectable()
    class Second {
      constructor(readonly first: First) {}
    }
    @Module({ providers: [First, provide(second).useClass(Second)] })
    class Root {}

    expect(reportOf(Root)).to.deep.equal([
      "E_PROVIDER_CYCLE providers need each other: First -> second (Second) -> First | " +
        "First, call 1 of inject (FILE), in Root | move the shared part into another class, and inject that class into both",
    ]);
  });

  it("is a value that is no token", () => {
    class Links {
      readonly store = inject(undefined as unknown as InjectionToken<LinkStore>);
    }
    @Module({ providers: [Links] })
    class Root {}

    expect(reportOf(Root)).to.deep.equal([
      "E_TOKEN_INVALID inject(undefined) cannot be resolved: undefined is neither a class nor a token | " +
        "Links, call 1 of inject (FILE), in Root | inject a class, or the result of token<…>(…)",
    ]);
  });

  it("is none for files that import each other: inject is called after all are loaded", () => {
    @Module({ providers: [CyclicFirst, CyclicSecond, CyclicThird] })
    class Root {}

    expect(inspect({ root: Root }).build().get(CyclicFirst).second.third.name).to.equal("third");
  });

  it("is a token that a factory injects", () => {
    const Copy = token<string>("Copy");
    @Module({ imports: [Vault], providers: [provide(Copy).useFactory(() => inject(Secret))] })
    class Root {}

    expect(reportOf(Root)).to.deep.equal([
      "E_PROVIDER_INVISIBLE Secret is not visible in Root: Vault provides it, but does not export it | " +
        "factory of Copy, call 1 of inject (FILE), in Root | add Secret to the exports of Vault",
    ]);
  });

  it("leaves the others in the report: every call of every constructor is checked", () => {
    class Links {
      readonly size = inject(Missing);
      readonly helper = new Helper();

      constructor(
        readonly store = inject(LinkStore),
        readonly found = inject(MemoryLinks),
      ) {}
    }
    class Helper {
      readonly secret = inject(Secret);
    }
    class Users {
      constructor(
        readonly links = inject(Links),
        readonly size = inject(Missing),
      ) {}
    }
    class Broken {
      constructor() {
        throw new Error("broken");
      }
    }
    class NeedsBroken {
      readonly broken = inject(Broken);
      readonly size = inject(Missing);
    }
    @Module({ imports: [Vault], providers: [Users, NeedsBroken, Links, Broken, MemoryLinks] })
    class Root {}

    expect(reportOf(Root).map((row) => row.split(" | ").slice(0, 2).join(" | "))).to.deep.equal([
      "E_PROVIDER_MISSING nothing provides Missing | Links, call 1 of inject (FILE), in Root",
      "E_PROVIDER_INVISIBLE Secret is not visible in Root: Vault provides it, but does not export it | " +
        "Links, call 2 of inject (FILE), in Root",
      "E_PROVIDER_MISSING nothing provides LinkStore: Root provides its subclass MemoryLinks, but only under the subclass's own name | " +
        "Links, call 3 of inject (FILE), in Root",
      "E_PROVIDER_MISSING nothing provides Missing | Users, call 2 of inject (FILE), in Root",
      "E_PROVIDER_FAILED Broken could not be built: Error: broken | constructor of Broken, in Root",
      "E_PROVIDER_MISSING nothing provides Missing | NeedsBroken, call 2 of inject (FILE), in Root",
    ]);
  });

  it("is listed once where a constructor uses the placeholder", () => {
    const uses: readonly ((value: { readonly size: number }) => unknown)[] = [
      (value) => value.size,
      (value) => Object.keys(value),
      (value) => JSON.stringify(value),
      (value) => value instanceof Map,
      (value) => Reflect.apply(value as unknown as () => void, undefined, []),
      (value) => new (value as unknown as Class)(),
    ];
    for (const use of uses) {
      class Links {
        readonly used = use(inject(Missing));
      }
      @Module({ providers: [Links] })
      class Root {}

      expect(reportOf(Root), String(use)).to.have.lengthOf(1);
      expect(reportOf(Root)[0]).to.include("E_PROVIDER_MISSING nothing provides Missing | Links, call 1 of inject");
    }
  });

  it("is listed alone where the constructor fails because of the placeholder", () => {
    class Counter {
      #size = 0;

      static read(counter: Counter): number {
        return counter.#size;
      }
    }
    class User {
      readonly size = Counter.read(inject(Counter));
    }
    class Needs {
      readonly user = inject(User);
    }
    @Module({ providers: [User, Needs] })
    class Root {}

    expect(reportOf(Root)).to.have.lengthOf(1);
    expect(reportOf(Root)[0]).to.include("E_PROVIDER_MISSING nothing provides Counter | User, call 1 of inject");
  });

  it("is not reached while the static checks find faults", () => {
    let ran = 0;
    class Links {
      readonly count = (ran += 1);
      readonly size = inject(Missing);
    }
    @Injectable()
    class Typed {
      constructor(readonly store: LinkStore) {}
    }
    @Module({ providers: [Links, Typed] })
    class Root {}

    expect(reportOf(Root)).to.have.lengthOf(1);
    expect(ran).to.equal(0);
  });

  it("is thrown where a default is built after the start", () => {
    class Late {
      readonly size = inject(Missing);
    }
    const container = inspect({ defaults: [provide(Late).useClass(Late)] }).build();

    expect(() => container.get(Late)).to.throw("nothing provides Missing; at Late, call 1 of inject");
  });
});

class Links {
  readonly store = inject(MemoryLinks);
}

describe("a call of inject outside a construction", () => {
  it("says so at module level", async () => {
    const error = await rejectionOf(import("../fixtures/inject-at-module-level.js"));

    expect(error).to.include({ code: "E_INJECT_OUTSIDE" });
    expect(error.message).to.equal(
      "inject(MemoryLinks) is called at module level or in a static member, which belong to no container: " +
        "call it in the default of a constructor parameter or in a field of a class that a module lists",
    );
  });

  it("says so in a static member", async () => {
    const error = await rejectionOf(import("../fixtures/inject-in-static-member.js"));

    expect(error.message).to.include("inject(MemoryLinks) is called at module level or in a static member");
  });

  it("says so in a function that a module calls while it loads, also after a build", async () => {
    const error = await rejectionOf(import("../fixtures/inject-after-build.js"));

    expect(error).to.include({ code: "E_INJECT_OUTSIDE" });
    expect(error.message).to.equal(
      "inject(MemoryLinks) is called in seed(), which a module calls while it loads, and no container calls: " +
        "call it in a constructor or a field of a class that a module lists, and pass the value to seed()",
    );
  });

  it("says so in a function that the framework calls while a module loads", async () => {
    const error = await rejectionOf(import("../fixtures/inject-in-a-hook.js"));

    expect(error.message).to.include("is called in a handler or another function that the framework calls");
  });

  it("lists the causes where no frame proves one: below a module that awaits, in a getter, and in a nameless callback", async () => {
    const below = await rejectionOf(import("../fixtures/inject-after-an-awaited-import.js"));
    const getter = await rejectionOf(import("../fixtures/inject-in-a-getter.js"));
    const callback = await rejectionOf(Promise.resolve().then(() => inject(MemoryLinks)));

    for (const error of [below, getter, callback]) {
      expect(error.message).to.equal(
        "inject(MemoryLinks) is called where the container runs no constructor: at module level or in a static member, in a handler, " +
          "after an await or in a callback, or in a class that the program itself creates with new: call it in the default of a constructor " +
          "parameter or in a field of a class that a module lists, and in a test call construct(P, …) in place of new P()",
      );
    }
  });

  it("names a class that creates it with new, also by a method, and not a promise", () => {
    class Opened {
      readonly links: MemoryLinks;

      constructor() {
        this.links = this.open();
      }

      open(): MemoryLinks {
        return inject(MemoryLinks);
      }
    }
    const Nameless = (() =>
      class {
        readonly links = inject(MemoryLinks);
      })();
    let thrown = "";
    void new Promise(() => (thrown = errorOf(() => inject(MemoryLinks)).message));

    expect(errorOf(() => new Opened()).message).to.include("the program itself calls new Opened()");
    expect(errorOf(() => new Nameless()).message).to.include(
      "is called because the program itself creates the class with new: let the container create it, " +
        "pass the argument to new, or in a test call construct(P, …)",
    );
    expect(thrown).to.include("is called where the container runs no constructor");
  });

  it("has the same message and place where the program prepares stack traces as call sites or as another value", () => {
    const prepareStackTrace: unknown = Reflect.get(Error, "prepareStackTrace");
    try {
      Error.prepareStackTrace = (_, sites) => sites;
      expect(errorOf(() => new Links()).message).to.include("the program itself calls new Links()");
      @Module({ providers: [Links] })
      class Root {}
      expect(reportOf(Root)[0]).to.include("Links, call 1 of inject (FILE), in Root");
      expect(errorOf(() => Reflect.apply(Controller, undefined, [class {}])).message).to.include("@Controller");

      Error.prepareStackTrace = () => 7;
      expect(errorOf(() => new Links())).to.include({ code: "E_INJECT_OUTSIDE" });
    } finally {
      Object.assign(Error, { prepareStackTrace });
    }
  });

  it("says so in a class that the program creates with new, and names the outermost", () => {
    class Outer extends class Base {
      readonly links = new Links();
    } {}

    expect(errorOf(() => new Outer()).message).to.equal(
      "inject(MemoryLinks) is called because the program itself calls new Outer(): let the container create Outer, " +
        "pass the argument to new, or in a test call construct(Outer, …)",
    );
  });

  it("says so in a handler, before and after an await", async () => {
    const errors: string[] = [];
    const call = () => errors.push(errorOf(() => inject(MemoryLinks)).message);
    @Controller("/")
    class LinksController {
      @Get("/")
      async show() {
        call();
        await new Promise((resolve) => setImmediate(resolve));
        call();
        return "shown";
      }
    }
    @Module({ controllers: [LinksController], providers: [MemoryLinks] })
    class Root {}
    await using app = await testApp(Root);

    await app.get("/");

    expect(errors).to.deep.equal([
      "inject(MemoryLinks) is called in a handler or another function that the framework calls: " +
        "call it in the constructor or a field of the class, and use the field here",
      "inject(MemoryLinks) is called after an await or in a callback, when the container has left the constructor: " +
        "call it before, in the default of a constructor parameter or in a field, and use the value here",
    ]);
  });

  it("says so after an await of a constructor", async () => {
    class Waiting {
      readonly ready = this.wait();

      async wait(): Promise<MemoryLinks> {
        await Promise.resolve();
        return inject(MemoryLinks);
      }
    }
    @Module({ providers: [Waiting, MemoryLinks] })
    class Root {}

    const error = await rejectionOf(inspect({ root: Root }).build().get(Waiting).ready);

    expect(error.message).to.include("inject(MemoryLinks) is called after an await or in a callback");
  });
});
