/** Guards that protect nothing stop the start; guards without a clear result stop the request. */
import { expect } from "chai";
import {
  Application,
  Clock,
  type Context,
  Controller,
  Get,
  guard,
  Guards,
  inject,
  Injectable,
  Middleware,
  Module,
  type ModuleOptions,
  type Next,
  provide,
  Reply,
  Route,
  RouteGroup,
  routes,
  resource,
  Routes,
  token,
  UnauthorizedError,
} from "@stagecraft/framework";
import { double, expectLogLine, FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { errorOf } from "../support/error-of.js";
import { startupErrorOf } from "../support/startup-error-of.js";
import { Gate } from "../support/gate.js";

const signedIn = guard<{ user: string }>("signed-in");

class Users {
  find(name: string): string | undefined {
    return name === "" ? undefined : name;
  }
}

class Accounts {
  constructor(private readonly users = inject(Users)) {}
  @Guards(signedIn) check(ctx: Context) {
    const user = this.users.find(ctx.get("authorization"));
    if (user === undefined) throw new UnauthorizedError("sign in first");
    return { user };
  }
}

class StrictAccounts extends Accounts {
  override check(ctx: Context) {
    return { user: `${super.check(ctx).user}, strictly` };
  }
}

/** Fits the type of `Accounts`, and has none of its decorators. */
class Everyone {
  check(_ctx: Context) {
    return { user: "everyone" };
  }
}

@Controller("/account")
class AccountController {
  @Get("/", { guards: [signedIn] }) show({ user }: Context & { user: string }) {
    return user;
  }
  @Get("/open") open() {
    return "open";
  }
}

function define(options: ModuleOptions): new () => object {
  @Module({ controllers: [AccountController], ...options })
  class Shop {}
  return Shop;
}

/** The codes, the messages and the places of the faults. */
function faultsOf(options: ModuleOptions): readonly string[] {
  const { diagnostics } = startupErrorOf(() => Application.create(define(options)).build());
  return diagnostics.map(({ code, what, where }) => `${code} ${what} at ${where}`);
}

async function get(app: TestApp, authorization = "ada"): Promise<string> {
  const response = await app.get("/account", { headers: { authorization } });
  return `${response.status} ${response.status === 200 ? await response.text() : ""}`.trim();
}

class Step {
  handle(_ctx: Context, next: Next): unknown {
    return next();
  }
}

describe("build() refuses", () => {
  it("a guard without a provider", () => {
    expect(faultsOf({})).to.deep.equal(["E_GUARD_MISSING the guard signed-in has no provider at GET /account"]);
  });

  it("a guard with two providers, and with two methods of one provider", () => {
    class Twice {
      @Guards(signedIn) check() {
        return { user: "" };
      }
      @Guards(signedIn) verify() {
        return { user: "" };
      }
    }
    expect(
      faultsOf({ providers: [Users, Accounts, Everyone, provide(token("other")).useClass(StrictAccounts)] }),
    ).to.deep.equal([
      "E_GUARD_TWICE the guard signed-in has more than one provider at Accounts.check and StrictAccounts.check",
    ]);
    expect(faultsOf({ providers: [Twice] })).to.deep.equal([
      "E_GUARD_TWICE the guard signed-in has more than one provider at Twice.check and Twice.verify",
    ]);
  });

  it("a guard whose route lacks the guard that it reads, or has it later", () => {
    const owner = guard<object, [], { user: string }>("owner", { after: [signedIn] });
    class Owners {
      @Guards(owner) check({ user }: Context & { user: string }) {
        if (user !== "ada") throw new UnauthorizedError();
      }
    }
    @Controller("/owned")
    class Owned {
      @Get("/alone", { guards: [owner] }) alone() {
        return "";
      }
      @Get("/late", { guards: [owner, signedIn] }) late() {
        return "";
      }
      @Get("/", { guards: [signedIn, owner] }) index() {
        return "";
      }
    }
    const fault =
      "E_GUARD_ORDER the guard owner reads the values of the guard signed-in, which does not run before it at";
    expect(faultsOf({ controllers: [Owned], providers: [Users, Accounts, Owners] })).to.deep.equal([
      `${fault} GET /owned/alone`,
      `${fault} GET /owned/late`,
    ]);
  });

  it("a guard whose route has none of the guards of which it reads one", () => {
    const program = guard<{ user: string }>("program");
    const either = guard<object, [], { user: string }>("either", { after: [[signedIn, program]] });
    class Programs {
      @Guards(program) find() {
        return { user: "" };
      }
      @Guards(either) check() {}
    }
    @Controller("/either")
    class Either {
      @Get("/alone", { guards: [either] }) alone() {
        return "";
      }
      @Get("/person", { guards: [signedIn, either] }) person() {
        return "";
      }
      @Get("/program", { guards: [program, either] }) program() {
        return "";
      }
    }
    expect(faultsOf({ controllers: [Either], providers: [Users, Accounts, Programs] })).to.deep.equal([
      "E_GUARD_ORDER the guard either reads the values of the guard signed-in or program, which does not run before it at GET /either/alone",
    ]);
  });

  it("two guards of one name", () => {
    const namesake = guard("signed-in");
    class Namesakes {
      @Guards(namesake) verify() {}
    }
    expect(faultsOf({ providers: [Users, Accounts, Namesakes] })).to.deep.equal([
      "E_GUARD_TWICE two guards have the name signed-in at Accounts.check and Namesakes.verify",
    ]);
  });

  it("@Guards above a method of a controller, and of a class that it extends", () => {
    class Base {
      @Guards(signedIn) check() {
        return { user: "" };
      }
    }
    @Controller("/guarded")
    class Guarded extends Base {
      @Get("/") index() {
        return "public";
      }
    }
    expect(faultsOf({ controllers: [Guarded] })).to.deep.equal([
      "E_GUARD_ON_CONTROLLER @Guards(signed-in) stands above a method of a controller, where it protects no route at Guarded.check",
    ]);
  });

  it("middleware above a method that handles no endpoint", () => {
    @Controller("/steps")
    class Steps {
      @Get("/") index() {
        return this.helper();
      }
      @Middleware(Step) helper() {
        return "public";
      }
    }
    const photos = resource("photos", "/photos", { only: ["index"] });
    @Controller(photos)
    class Photos {
      index() {
        return "";
      }
      @Middleware(Step) destroy() {
        return "";
      }
    }
    expect(faultsOf({ controllers: [Steps, Photos] })).to.deep.equal([
      "E_MIDDLEWARE_UNROUTED @Middleware stands above a method that handles no endpoint, so it is around no route at Steps.helper",
      "E_MIDDLEWARE_UNROUTED @Middleware stands above a method that handles no endpoint, so it is around no route at Photos.destroy",
    ]);
  });

  it("middleware above a class that is no controller, and above its methods", () => {
    @Middleware(Step)
    class Store {
      @Middleware(Step) find() {
        return "";
      }
    }
    expect(faultsOf({ controllers: [], providers: [Store] })).to.deep.equal([
      "E_MIDDLEWARE_UNROUTED @Middleware stands above a method that handles no endpoint, so it is around no route at Store.find",
      "E_MIDDLEWARE_UNROUTED @Middleware stands above a class that is no controller, so it is around no route at Store",
    ]);
    expect(errorOf(() => Application.create().provide(Store).build()).message).to.include("E_MIDDLEWARE_UNROUTED");
  });

  it("middleware above a module, or above its base", () => {
    @Middleware(Step)
    class Base {}
    @Middleware(Step)
    @Module({ imports: [] })
    class Inner {}
    @Module({ imports: [Inner] })
    class Shop extends Base {}

    const { message } = errorOf(() => Application.create(Shop).build());

    expect(message).to.include("@Middleware stands above the module Inner, where it is around no route");
    expect(message).to.include("@Middleware stands above the module Shop, where it is around no route");
    expect(message).to.include("fix: write middleware: [Step] into its @Module");
  });

  it("middleware above a middleware class, or above its handle, wherever the class is given", () => {
    @Middleware(Step)
    class Outer {
      @Middleware(Step) handle(_ctx: Context, next: Next) {
        return next();
      }
    }
    @Controller("/steps")
    class Steps {
      @Get("/") @Middleware(Outer) index() {
        return "";
      }
    }
    const faults = [
      "E_MIDDLEWARE_UNROUTED @Middleware stands above a method that handles no endpoint, so it is around no route at Outer.handle",
      "E_MIDDLEWARE_UNROUTED @Middleware stands above a class that is no controller, so it is around no route at Outer",
    ];
    expect(faultsOf({ controllers: [Steps] })).to.deep.equal(faults);
    expect(faultsOf({ middleware: [Outer], providers: [Users, Accounts] })).to.deep.equal(faults);
    const given = [
      Application.create().layer(Outer),
      Application.create().routes(new Routes([Route.get("/", () => "").middleware(Outer)])),
    ];
    for (const builder of given)
      expect(errorOf(() => builder.build()).message).to.include("so it is around no route\n    at Outer\n");
  });

  it("endpoints above the methods of a module or of a middleware class", () => {
    class Shown {
      @Get("/step") show() {
        return "";
      }
      handle(_ctx: Context, next: Next) {
        return next();
      }
    }
    @Module({ controllers: [AccountController], providers: [Users, Accounts], middleware: [Shown] })
    class Shop {
      @Get("/shop") show() {
        return "";
      }
    }
    const { message } = errorOf(() => Application.create(Shop).build());

    expect(message).to.include(
      "E_ENDPOINT_UNROUTED Shop is a module and has endpoints above its methods, whose routes do not exist",
    );
    expect(message).to.include("E_ENDPOINT_UNROUTED Shown is middleware and has endpoints above its methods");
  });

  it("middleware of a module that lists no controllers", () => {
    @Module({ controllers: [AccountController], providers: [Users, Accounts] })
    class Inner {}
    expect(faultsOf({ controllers: [], imports: [Inner], middleware: [Step] })).to.deep.equal([
      "E_MIDDLEWARE_UNROUTED the middleware of Shop, Step, is around no route: the module lists no controllers at middleware of Shop",
    ]);
  });

  it("no middleware of a base class whose method another controller routes", async () => {
    class Base {
      index() {
        return "index";
      }
      @Middleware(Step) destroy() {
        return "destroyed";
      }
    }
    @Controller(resource("some", "/some", { only: ["index"] }))
    class Some extends Base {}
    @Controller(resource("all", "/all", { only: ["index", "destroy"] }))
    class All extends Base {}

    await using app = await testApp(define({ controllers: [Some, All] }));
    expect(await (await app.delete("/all/1")).text()).to.equal("destroyed");
  });
});

describe("a value that is no guard", () => {
  const WRONG: readonly (readonly [title: string, given: unknown, message: string])[] = [
    ["undefined, as of two files that import each other", [undefined], 'undefined in "guards" is no guard'],
    ["a middleware class", [Step], 'Step in "guards" is no guard'],
    ["an object", [{ definition: Step, args: [] }], 'an object in "guards" is no guard'],
    ["a guard without a list", signedIn, '"guards" is signed-in: give a list of guards'],
    ["null", null, '"guards" is null: give a list of guards'],
  ];
  for (const [title, given, message] of WRONG)
    it(`is refused where it is written: ${title}`, () => {
      const options = { guards: given } as { readonly guards: readonly [] };
      const calls = [
        () => Get("/", options),
        () => routes("links", "/links", {}, options),
        () => resource("links", "/links", options),
      ];
      for (const call of calls)
        expect(errorOf(call)).to.include({ code: "E_GUARD" }).and.have.property("message").include(message);
    });

  it("is refused under @Guards, and so is a class or a field below @Guards", () => {
    const anything = {} as typeof signedIn;
    const decorate = (...args: readonly unknown[]): unknown => Reflect.apply(Guards(signedIn), undefined, args);
    expect(errorOf(() => Guards(anything))).to.include({ code: "E_GUARD" });
    expect(errorOf(() => Guards(Step as unknown as typeof signedIn))).to.include({ code: "E_DECORATOR_CALL" });
    expect(errorOf(() => decorate(Step))).to.include({ code: "E_DECORATOR_KIND" });
    expect(errorOf(() => decorate(Step, { kind: "class", name: "Step" }))).to.include({ code: "E_DECORATOR_KIND" });
    expect(errorOf(() => decorate(Step.prototype, "field", undefined))).to.include({ code: "E_DECORATOR_KIND" });
    expect(errorOf(() => decorate()).message).to.equal(
      "@Guards(signed-in) is called without a method: write its value above a method without further parentheses",
    );
    expect(errorOf(() => guard(""))).to.include({ code: "E_GUARD" });
  });

  it("is refused under @Guards with the arguments of an endpoint", () => {
    const role = guard<object, [name: string]>("role");
    expect(errorOf(() => Guards(role("admin") as unknown as typeof role)).message).to.equal(
      "@Guards needs the value of guard(…), without arguments: @Guards(role)",
    );
  });
});

describe("the provider of a guard", () => {
  const BOUND: readonly (readonly [
    title: string,
    providers: NonNullable<ModuleOptions["providers"]>,
    response: string,
  ])[] = [
    ["a class", [Users, Accounts], "200 ada"],
    ["a subclass that overrides the method", [Users, provide(Accounts).useClass(StrictAccounts)], "200 ada, strictly"],
    [
      "a class that only has the method",
      [provide<Pick<Accounts, "check">>(Accounts).useClass(Everyone)],
      "200 everyone",
    ],
    [
      "the instance of a factory",
      [Users, provide(Accounts).useFactory(() => new StrictAccounts(inject(Users)))],
      "200 ada, strictly",
    ],
    [
      "an instance under two tokens",
      [Users, Accounts, provide(token<Accounts>("alias")).useFactory((resolve) => resolve(Accounts))],
      "200 ada",
    ],
    ["a value", [provide(Accounts).useValue(new Accounts(new Users()))], "200 ada"],
  ];
  for (const [title, providers, response] of BOUND)
    it(`is found: ${title}`, async () => {
      await using app = await testApp(define({ providers }));
      expect(await get(app)).to.equal(response);
    });

  it("is replaced by a double of its class, which serves the guard with the method of the same name", async () => {
    const shop = define({ providers: [Users, Accounts] });
    await using app = await testApp(shop, double(Accounts, { check: () => ({ user: "double" }) }));
    expect(await get(app, "")).to.equal("200 double");

    class Fake {
      readonly users = new Users();
      check() {
        return { user: "fake" };
      }
    }
    await using other = await testApp(shop, provide(Accounts).useValue(new Fake() as unknown as Accounts));
    expect(await get(other, "")).to.equal("200 fake");
  });

  it("is asked at each request, so that a test may replace its method", async () => {
    await using app = await testApp(define({ providers: [Users, Accounts] }));
    expect(await get(app)).to.equal("200 ada");
    app.resolve(Accounts).check = () => ({ user: "spy" });
    expect(await get(app)).to.equal("200 spy");
  });

  it("is missing where the object in the place of its class has no such method", async () => {
    const message = await testApp(define({ providers: [Users, Accounts] }), double(Accounts, {})).catch(String);
    expect(message).to.include(
      "the guard signed-in has no provider: the object in the place of Accounts has no method check",
    );
  });

  it("is named in a warning at the start if no route has the guard", async () => {
    const unused = guard("unused");
    @Injectable()
    class More {
      @Guards(unused) check() {}
    }
    await using app = await testApp(define({ providers: [Users, Accounts, More] }));
    const warnings = app.logs
      .lines()
      .map((line) => expectLogLine(line))
      .filter(({ level }) => level === "WARN");
    expect(warnings.map(({ message, fields }) => [message, fields])).to.deep.equal([
      ["a guard has a provider and no route has the guard: it protects nothing", { guards: ["unused of More.check"] }],
    ]);
  });
});

describe("the result of a guard", () => {
  class Row {
    readonly user = "ada";
  }
  const WRONG: Readonly<Record<string, unknown>> = {
    false: false,
    true: true,
    null: null,
    "a text": "ada",
    "a list": ["ada"],
    "a Reply": Reply.empty(401),
    "an instance of a class": new Row(),
    "a value with a name that Context has": { params: {} },
    "a value with the name of a field of Context": { incoming: {} },
    "a value with the name of a method of Koa's context": { throw: {} },
  };
  for (const [title, result] of Object.entries(WRONG))
    for (const given of [result, Promise.resolve(result)])
      it(`refuses the request with 500: ${title}${given === result ? "" : ", in a promise"}`, async () => {
        let hasRun = false;
        const plain = guard<{ user: string }>("plain");
        class Plain {
          @Guards(plain) check() {
            return given as { user: string };
          }
        }
        const open = Route.of(Get("/plain", { guards: [plain] }), () => (hasRun = true));
        await using app = await testApp(
          Application.create()
            .provide(Plain)
            .routes(new Routes([open])),
        );

        const response = await app.get("/plain");

        expect([response.status, hasRun]).to.deep.equal([500, false]);
        expect(app.logs.lines().join("\n")).to.include("Plain.check, the guard plain, ");
      });

  it("cannot be assigned by a handler", async () => {
    const write = Route.of(Get("/write", { guards: [signedIn] }), (ctx) => (ctx.user = "other"));
    await using app = await testApp(
      Application.create()
        .provide(Users, Accounts)
        .routes(new Routes([write])),
    );
    expect((await app.get("/write", { headers: { authorization: "ada" } })).status).to.equal(500);
  });

  it("refuses the request with 500 where an earlier guard, of the table too, has added a value of the name", async () => {
    const first = guard<{ user: { id: string } }>("first");
    const second = guard<{ user: { name: string } }>("second");
    class Both {
      @Guards(first) one() {
        return { user: { id: "1" } };
      }
      @Guards(second) two() {
        return { user: { name: "ada" } };
      }
    }
    let hasRun = false;
    const both = Route.of(Get("/both", { guards: [first, second] }), () => (hasRun = true));
    const table = routes("table", "/table", { show: Get("/", { guards: [second] }) }, { guards: [first] });
    await using app = await testApp(
      Application.create()
        .provide(Both)
        .routes(new Routes([both, RouteGroup.of(table, { show: () => (hasRun = true) })])),
    );

    const statuses = [(await app.get("/both")).status, (await app.get("/table")).status];

    expect([...statuses, hasRun]).to.deep.equal([500, 500, false]);
    expect(app.logs.lines().join("\n")).to.include(
      "Both.two, the guard second, adds user, which an earlier guard has added: choose another name, or name that guard in after and read its value",
    );
  });

  it("replaces that of the same guard, which stands on the route before with other arguments", async () => {
    const role = guard<{ role: string }, [name: string]>("role");
    class Roles {
      @Guards(role) check(_ctx: Context, wanted: string) {
        return { role: wanted };
      }
    }
    const show = Route.of(Get("/role", { guards: [role("reader"), role("writer")] }), (ctx) => ctx.role);
    await using app = await testApp(
      Application.create()
        .provide(Roles)
        .routes(new Routes([show])),
    );
    expect(await (await app.get("/role")).text()).to.equal("writer");
  });

  it("that never comes is ended by the timeout of the application", async () => {
    const clock = new FakeClock();
    const entered = new Gate();
    const never = guard("never");
    class Never {
      @Guards(never) async check() {
        entered.open();
        await new Promise<void>(() => {});
      }
    }
    const open = Route.of(Get("/never", { guards: [never] }), () => "not reached");
    const builder = Application.create()
      .provide(Never, provide(Clock).useValue(clock))
      .timeout(1000, { status: 503 })
      .routes(new Routes([open]));
    await using app = await testApp(builder);

    const pending = app.get("/never");
    await entered.passed;
    clock.advance(1000);

    expect((await pending).status).to.equal(503);
  });
});
