/**
 * Two copies of the package in one process, as two installed versions, or tsx where CommonJS requires it. What one copy has decorated or
 * created is unknown to the other, so an application refuses it at its start and names both.
 */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  Controller,
  Events,
  Get,
  Guards,
  inject,
  Inject,
  Injectable,
  Middleware,
  Module,
  On,
  provide,
  Reply,
  Route,
  RouteGroup,
  routes,
  Routes,
  token,
} from "@stagecraft/framework";
import { Every, Handles } from "@stagecraft/framework/jobs";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import type { Class } from "../../lib/runtime/class.js";
import { errorOf } from "../support/error-of.js";
import { rejectionOf } from "../support/rejection-of.js";
import { FIRST_PLACE, loadSecondCopy, type SecondCopy } from "../support/second-copy.js";

let copy: SecondCopy;

/** The message of the start-up report of an application with the module. */
function startOf(options: Parameters<typeof Module>[0]): string {
  @Module(options)
  class Shop {}
  return errorOf(() => Application.create(Shop).build()).message;
}

/** Asserts that the message has one fault, with both places and the cure. */
function expectTwoCopies(message: string, subject: string): void {
  expect(message)
    .to.include(`${subject} is of another copy of the framework`)
    .and.to.include(`; two are loaded: ${FIRST_PLACE} and ${copy.place}`)
    .and.to.include("fix: install the package once, which npm ls @stagecraft/framework shows")
    .and.to.not.include(" faults");
}

/** A decorator that a spec calls as a compiler does. */
type AnyDecorator = (...args: never[]) => unknown;

const KINDS = {
  legacy: {
    decorateClass: (decorator: AnyDecorator, target: Class) => Reflect.apply(decorator, undefined, [target]),
    decorateMethod: (decorator: AnyDecorator, { prototype }: Class) =>
      Reflect.apply(decorator, undefined, [prototype, "index", Object.getOwnPropertyDescriptor(prototype, "index")]),
    method: "Links.index",
  },
  standard: {
    decorateClass: (decorator: AnyDecorator, target: Class) =>
      Reflect.apply(decorator, undefined, [target, { kind: "class", name: target.name, addInitializer: () => {} }]),
    decorateMethod: (decorator: AnyDecorator, { prototype }: Class) =>
      Reflect.apply(decorator, undefined, [
        Reflect.get(Object(prototype), "index"),
        { kind: "method", name: "index", static: false, private: false, addInitializer: () => {} },
      ]),
    method: "index",
  },
} as const;

class Guard {
  handle(): Reply {
    return Reply.empty(401);
  }
}

const METHOD_DECORATORS: Readonly<Record<string, (from: SecondCopy) => AnyDecorator>> = {
  "@Get": ({ Get: decorator }) => decorator("/"),
  "@Post": ({ Post: decorator }) => decorator("/"),
  "@Put": ({ Put: decorator }) => decorator("/"),
  "@Patch": ({ Patch: decorator }) => decorator("/"),
  "@Delete": ({ Delete: decorator }) => decorator("/"),
  "@Head": ({ Head: decorator }) => decorator("/"),
  "@Options": ({ Options: decorator }) => decorator("/"),
  "@Any": ({ Any: decorator }) => decorator("/"),
  "@Middleware": ({ Middleware: decorator }) => decorator(Guard),
  "@Command": ({ Command: decorator }) => decorator("links:show"),
  "@On": ({ On: decorator, event: create }) => decorator(create("shown")),
  "@Guards": ({ Guards: decorator, guard }) => decorator(guard("plain")),
  "@Handles": ({ Handles: decorator, job }) => decorator(job("show")),
  "@Every": ({ Every: decorator, schedule: create }) => decorator(create("show", "0 3 * * *")),
};

const CLASS_DECORATORS: Readonly<Record<string, (from: SecondCopy) => AnyDecorator>> = {
  "@Controller": ({ Controller: decorator }) => decorator("/links"),
  "@Injectable": ({ Injectable: decorator }) => decorator(),
  "@Module": ({ Module: decorator }) => decorator({}),
  "@Middleware": ({ Middleware: decorator }) => decorator(Guard),
};

class Store {}

/** Values of another copy: how the spec passes one to the framework, and how the message names it. */
const VALUES: readonly (readonly [title: string, subject: string, pass: (from: SecondCopy) => unknown])[] = [
  [
    "a table of a controller",
    "the table",
    (from) => Controller(from.routes("links", "/links", { index: from.Get("/") })),
  ],
  ["a resource of a controller", "the table", (from) => Controller(from.resource("links", "/links"))],
  [
    "a table of a group of routes",
    "the table",
    (from) => RouteGroup.of(from.resource("links", "/links", { only: ["index"] }), { index: () => "" }),
  ],
  [
    "an entry of a table",
    "the endpoint links.index",
    (from) => routes("", "/", { index: from.Get("/", "links.index") }),
  ],
  ["the endpoint of a route", "the endpoint", (from) => Route.of(from.Get("/"), () => "")],
  ["a route in a collection", "the route", (from) => new Routes([from.Route.get("/", () => "")])],
  ["a group in a collection", "the group of routes", (from) => Routes.of(new from.RouteGroup("/", []))],
  ["a merged collection", "the collection of routes", (from) => new Routes().merge(new from.Routes())],
  [
    "the routes of the application",
    "the collection of routes",
    (from) => Application.create().routes(new from.Routes()).build(),
  ],
  ["a job under @Handles", "the job show", (from) => Handles(from.job("show"))],
  ["a schedule under @Every", "the job show", (from) => Every(from.schedule("show", "0 3 * * *"))],
  ["a guard of an endpoint", "the guard plain", (from) => Get("/", { guards: [from.guard("plain")] })],
  [
    "a guard with arguments of a table",
    "the guard role",
    (from) => routes("", "/", {}, { guards: [from.guard<object, [string]>("role")("admin")] }),
  ],
  ["a guard under @Guards", "the guard plain", (from) => Guards(from.guard("plain"))],
  ["an event under @On", "the event shown", (from) => On(from.event("shown"))],
];

/** The same in the module of an application. */
const IN_MODULES: readonly (readonly [
  title: string,
  subject: string,
  create: (from: SecondCopy) => Parameters<typeof Module>[0],
])[] = [
  ["a binding", "the binding", (from) => ({ providers: [from.provide(Store).useClass(Store)] })],
  [
    "the token of a binding",
    "the token size",
    (from) => ({ providers: [provide(from.token<number>("size")).useValue(1)] }),
  ],
  ["an exported token", "the token size", (from) => ({ exports: [from.token("size")] })],
  [
    "a token that a factory resolves",
    "the token size",
    (from) => ({ providers: [provide(Store).useFactory((resolve) => resolve(from.token("size")))] }),
  ],
  [
    "a token of inject",
    "the token size",
    (from) => ({ providers: [provide(Store).useFactory(() => inject(from.token("size")))] }),
  ],
  [
    "a token of @Inject",
    "the token size",
    (from) => {
      @Injectable()
      class Links {
        constructor(@Inject(from.token<number>("size")) readonly size: number) {}
      }
      return { providers: [Links] };
    },
  ],
  ["an event of the module", "the event shown", (from) => ({ events: [from.event("shown")] })],
  [
    "a subsystem",
    "the subsystem Database",
    (from) => {
      class Database extends from.Subsystem {
        readonly kind = "database";
        start(): void {}
        stop(): void {}
      }
      return { providers: [Database] };
    },
  ],
];

/** The routes of an application of one copy. */
function listRoutes(from: Pick<SecondCopy, "Application" | "Controller" | "Get" | "Middleware" | "Module">) {
  @from.Middleware(Guard)
  @from.Controller("/links")
  class Links {
    @from.Get("/")
    index(): string {
      return "";
    }
  }
  @from.Module({ controllers: [Links] })
  class Shop {}
  return from.Application.create(Shop).build().graph().routes;
}

describe("beside a second copy of the package", () => {
  before(async () => {
    copy = await loadSecondCopy();
  });
  after(() => copy[Symbol.dispose]());

  describe("an application does not start with", () => {
    for (const [kind, { decorateClass, decorateMethod, method }] of Object.entries(KINDS)) {
      for (const [name, create] of Object.entries(METHOD_DECORATORS)) {
        it(`its ${name} above a method, called as a ${kind} decorator`, () => {
          class Links {
            index(): string {
              return "";
            }
          }
          decorateMethod(create(copy), Links);
          Controller("/links")(Links);

          expectTwoCopies(startOf({ controllers: [Links] }), `a decorator above ${method}`);
        });
      }

      for (const [name, create] of Object.entries(CLASS_DECORATORS)) {
        it(`its ${name} above a class, called as a ${kind} decorator`, () => {
          class Links {}
          decorateClass(create(copy), Links);

          const message = startOf(name === "@Module" ? { imports: [Links] } : { controllers: [Links] });

          expectTwoCopies(message, "a decorator above Links");
        });
      }
    }

    it("its @Inject", () => {
      class Links {
        constructor(readonly size: number) {}
      }
      Injectable()(Links);
      copy.Inject(copy.token("size"))(Links, undefined, 0);

      expectTwoCopies(startOf({ providers: [Links] }), "a decorator above Links");
    });

    it("its inject(), which is called in a constructor or in a factory", () => {
      class Links {
        readonly store = copy.inject(Store);
      }
      const ofFactory = provide(Store).useFactory(() => copy.inject(Store));

      const ofConstructor = startOf({ providers: [Links, Store] });

      expect(ofConstructor).to.match(
        /E_TWO_COPIES inject\(Store\) at .*two-copies\.spec\.[jt]s:\d+:\d+ is of another copy/,
      );
      expect(ofConstructor).to.include("at constructor of Links, in Shop");
      expectTwoCopies(ofConstructor, "");
      expectTwoCopies(startOf({ providers: [ofFactory] }), "");
    });

    it("its guard above a controller that has decorators of both copies", () => {
      @Controller("/links")
      class Links {
        @Get("/")
        index(): string {
          return "secret";
        }
      }
      copy.Middleware(Guard)(Links);

      expectTwoCopies(startOf({ controllers: [Links] }), "a decorator above Links");
    });

    it("its decorators above a base class", () => {
      class Base {
        @copy.Get("/")
        index(): string {
          return "";
        }
      }
      @Controller("/links")
      class Links extends Base {}

      expectTwoCopies(startOf({ controllers: [Links] }), "a decorator above Base.index");
    });

    it("its @On above a method of a value, or of the result of a factory", () => {
      class Announcer {
        @copy.On(copy.event("shown"))
        hear(): void {}
      }
      const announcer = token<Announcer>("announcer");
      const subject = "a decorator above Announcer.hear";

      expectTwoCopies(startOf({ providers: [provide(announcer).useValue(new Announcer())] }), subject);
      expectTwoCopies(startOf({ providers: [provide(announcer).useFactory(() => new Announcer())] }), subject);
    });

    for (const [title, subject, pass] of VALUES) {
      it(`its value as ${title}`, () => expectTwoCopies(errorOf(() => pass(copy)).message, subject));
    }

    for (const [title, subject, create] of IN_MODULES) {
      it(`its value as ${title}`, () => expectTwoCopies(startOf(create(copy)), subject));
    }

    it("its class of a default of the framework", () => {
      const message = startOf({ providers: [provide(Store).useFactory(() => inject(copy.Events))] });

      expect(message)
        .to.include("nothing provides Events: the framework provides another class or token of the same name")
        .and.to.include("a file or package that is loaded twice makes two of them");
    });

    it("its event, or refuses to emit it", async () => {
      const events = new Events(new FakeClock());

      expectTwoCopies((await rejectionOf(events.emit(copy.event("shown")))).message, "the event shown");
    });

    it("its binding that the application, or a test, is given", async () => {
      @Module({})
      class Shop {}
      const binding = copy.provide(Store).useClass(Store);

      const ofBuilder = errorOf(() => Application.create(Shop).provide(binding).build());
      const ofTest = await rejectionOf(testApp(Shop, binding));

      expectTwoCopies(ofBuilder.message, "the binding");
      expectTwoCopies(ofTest.message, "the binding");
    });
  });

  describe("a request is an error, and the log names both copies, for", () => {
    const RETURNED: readonly (readonly [title: string, subject: string, handle: (from: SecondCopy) => unknown])[] = [
      ["its reply", "the reply", (from) => from.Reply.empty(204)],
      ["its redirect", "the returned value", (from) => from.redirect().to("/")],
      [
        "its error with a status",
        "the error NotFoundError (no link)",
        (from) => {
          throw new from.NotFoundError("no link");
        },
      ],
    ];
    const PLACES = {
      "a handler": undefined,
      "a handler with a contract": { responses: { 201: z.object({ name: z.string().optional() }) } },
    };
    for (const [title, subject, handle] of RETURNED)
      for (const [place, options] of Object.entries(PLACES))
        it(`${title}, in ${place}`, async () => {
          const endpoint = Get("/", options);
          const route = Route.of(endpoint, (() => handle(copy)) as never);
          await using app = await testApp(Application.create().routes(Routes.of(route)));

          expect((await app.get("/")).status).to.equal(500);

          const logged = app.logs.lines().find((line) => line.includes("of another copy")) ?? "";
          expect(logged).to.include(`${subject} is of another copy of the framework`).and.to.include(copy.place);
        });

    it("its reply from middleware", async () => {
      class Refusing {
        handle(): unknown {
          return copy.Reply.empty(401);
        }
      }
      const route = Route.get("/", () => "secret").middleware(Refusing);
      await using app = await testApp(Application.create().routes(Routes.of(route)));

      expect((await app.get("/")).status).to.equal(500);
    });
  });

  it("a decorator refuses a class that is frozen below it, where no copy could find it", () => {
    class Links {}
    Object.freeze(Links);
    class Sealed {
      index(): void {}
    }
    Object.seal(Sealed.prototype);

    for (const decorate of [
      () => copy.Middleware(Guard)(Links),
      () => Controller("/")(Links),
      () => Get("/")(Sealed.prototype, "index", { value: () => "" }),
    ])
      expect(errorOf(decorate)).to.include({ code: "E_DECORATOR_ORDER" });
    expect(errorOf(() => Middleware(Guard)(Links)).message).to.equal(
      "Links is frozen or sealed before a decorator of the framework above it runs: write the decorator that freezes it above all of the framework",
    );
  });

  it("an application of each copy starts, because neither has a value of the other", () => {
    const own = listRoutes({ Application, Controller, Get, Middleware, Module });

    expect(listRoutes(copy)).to.deep.equal(own);
    expect(own).to.have.lengthOf(1);
  });
});
