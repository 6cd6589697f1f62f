/**
 * `build()` reports every wrong setting of an application at once, with the name of the call, also for callers without types. Only a
 * value without a name, such as a member of a list of routes, throws where it is written.
 */
import {
  Application,
  AppConfig,
  type ApplicationBuilder,
  Controller,
  ErrorMapping,
  Get,
  Inject,
  Injectable,
  Middleware,
  Module,
  RateLimit,
  resource,
  Route,
  RouteGroup,
  Routes,
  routes,
} from "@stagecraft/framework";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { errorOf } from "../support/error-of.js";
import { startupErrorOf } from "../support/startup-error-of.js";

/** Values that a caller without types may pass anywhere. */
function untyped(value: unknown): never {
  return value as never;
}

class Handless {}

const METHOD = { value: () => {} };

class Undecorated {}

type Tell = (builder: ApplicationBuilder) => unknown;

const HEALTH = "Application.create().healthPrefix(path)";

const wrong: readonly (readonly [what: string, code: string, where: string, tell: Tell])[] = [
  ["a port that is none", "E_PORT", ".port(n)", (b) => b.port(70_000)],
  ["a port as text", "E_PORT", ".port(n)", (b) => b.port(untyped("80"))],
  ["the port of a configuration", "E_PORT", "AppConfig.port", (b) => b.config(new AppConfig({ port: -1 }))],
  [
    "a configuration without an origin",
    "E_APP_URL",
    "AppConfig.url (APP_URL)",
    (b) => b.config(new AppConfig({ url: "shop" })),
  ],
  ["a configuration that is none", "E_CONFIG", ".config(…)", (b) => b.config(untyped({ name: "shop" }))],
  ["no address, which Node takes for all of them", "E_BIND", ".bind(host)", (b) => b.bind("")],
  ["an address that is undefined", "E_BIND", ".bind(host)", (b) => b.bind(untyped(undefined))],
  ["a number for an address", "E_BIND", ".bind(host)", (b) => b.bind(untyped(127n))],
  ["an address that is none", "E_BIND", ".bind(host)", (b) => b.bind("127.0.0.1 ")],
  ["a URL for an address", "E_BIND", ".bind(host)", (b) => b.bind("http://localhost")],
  ["an address with a port", "E_BIND", ".bind(host)", (b) => b.bind("0.0.0.0:80")],
  ["an address in brackets", "E_BIND", ".bind(host)", (b) => b.bind("[::1]")],
  [
    "a proxy that is not an address",
    "E_TRUSTED_PROXIES",
    ".trustedProxies(list)",
    (b) => b.trustedProxies("10.0.0.0/99"),
  ],
  [
    "proxies that are not text",
    "E_TRUSTED_PROXIES",
    ".trustedProxies(list)",
    (b) => b.trustedProxies(untyped(["lan"])),
  ],
  ["a health prefix without a slash", "E_HEALTH_PREFIX", HEALTH, (b) => b.healthPrefix("up")],
  [
    "a health prefix that is not a text at all",
    "E_HEALTH_PREFIX",
    HEALTH,
    (b) => b.healthPrefix(untyped(Symbol("up"))),
  ],
  ["a health prefix that is undefined", "E_HEALTH_PREFIX", HEALTH, (b) => b.healthPrefix(untyped(undefined))],
  ["a time that is none", "E_LIFECYCLE_OPTION", lifecycle("drainDelayMs"), (b) => b.lifecycle({ drainDelayMs: -1 })],
  ["a time of no such name", "E_LIFECYCLE_OPTION", lifecycle("drain"), (b) => b.lifecycle(untyped({ drain: 1 }))],
  ["a number for times", "E_LIFECYCLE_OPTION", lifecycle("…"), (b) => b.lifecycle(untyped(5000))],
  ["nothing for times", "E_LIFECYCLE_OPTION", lifecycle("…"), (b) => b.lifecycle(untyped(null))],
  ["routes that are none", "E_ROUTES_INVALID", ".routes(…)", (b) => b.routes(untyped([]))],
  ["a binding that is none", "E_PROVIDER_INVALID", "binding 1 of the application", (b) => b.provide(untyped("links"))],
  ["a proxy function that is none", "E_STAGE", ".proxy(…)", (b) => b.proxy(untyped("/new"))],
  ["a threshold that is none", "E_COMPRESSION_OPTION", ".compression(…)", (b) => b.compression({ threshold: -1 })],
  [
    "security headers that are none",
    "E_STAGE",
    ".securityHeaders(…)",
    (b) => b.securityHeaders(untyped({ hsts: true })),
  ],
  ["a function for security headers", "E_STAGE", ".securityHeaders(…)", (b) => b.securityHeaders(untyped(() => ""))],
  ["no policy", "E_CORS_ORIGINS", ".cors(…)", (b) => b.cors(untyped(undefined))],
  ["an origin for a policy", "E_CORS_ORIGINS", ".cors(…)", (b) => b.cors(untyped("https://shop.example"))],
  ["origins that are missing", "E_CORS_ORIGINS", ".cors(…)", (b) => b.cors(untyped({}))],
  ["credentials for everyone", "E_CORS_WILDCARD", ".cors(…)", (b) => b.cors({ origins: "*", credentials: true })],
  ["a registry that is none", "E_STAGE", ".metrics(…)", (b) => b.metrics(untyped(new Map()))],
  ["an error mapping that is none", "E_STAGE", ".errorMapping(…)", (b) => b.errorMapping(untyped({}))],
  ["a mapper for an error mapping", "E_STAGE", ".errorMapping(…)", (b) => b.errorMapping(untyped(() => undefined))],
  ["a body limit that is none", "E_BODY_LIMIT", ".bodyLimit(…)", (b) => b.bodyLimit(untyped("2mb"))],
  ["a timeout that no timer can hold", "E_TIMEOUT_SETTING", ".timeout(…)", (b) => b.timeout(2 ** 40)],
  ["a maintenance handle that is none", "E_STAGE", ".maintenance(…)", (b) => b.maintenance(untyped(true))],
  ["a rate limit that is none", "E_STAGE", ".rateLimit(…)", (b) => b.rateLimit(untyped(120))],
  ["a rate limit that is undefined", "E_STAGE", ".rateLimit(…)", (b) => b.rateLimit(untyped(undefined))],
  ["another stage for a rate limit", "E_STAGE", ".rateLimit(…)", (b) => b.rateLimit(untyped(new ErrorMapping()))],
  ["a layer that is undefined", "E_MIDDLEWARE_INVALID", ".layer(…)", (b) => b.layer(untyped(undefined))],
  ["a layer's class without handle", "E_MIDDLEWARE_INVALID", ".layer(…)", (b) => b.layer(untyped(Handless))],
  ["a directory without a name", "E_STATIC_ROOT", ".staticFiles(…)", (b) => b.staticFiles({ root: "" })],
  ["a number for a directory", "E_STATIC_ROOT", ".staticFiles(…)", (b) => b.staticFiles({ root: untyped(5) })],
  ["a number for a prefix", "E_STATIC_PREFIX", ".staticFiles(…)", (b) => b.staticFiles({ prefix: untyped(5) })],
  ["a stage twice", "E_STAGE_TWICE", "the application's builder", (b) => b.requestId().requestId()],
];

/** Values that a diagnostic cannot name; the stack shows their place. */
const written: readonly (readonly [what: string, code: string, write: () => unknown])[] = [
  ["a route without a handler", "E_HANDLER_INVALID", () => Route.get("/", untyped(undefined))],
  ["a route without a path", "E_ROUTE_PATH", () => Route.get(untyped(undefined), () => "")],
  ["an endpoint without a path", "E_ROUTE_PATH", () => Get(untyped(undefined))],
  ["a table without a prefix", "E_ROUTE_PATH", () => routes("links", untyped(undefined), {})],
  ["a resource without a path", "E_ROUTE_PATH", () => resource("links", untyped(undefined))],
  [
    "an entry of a table that is named then",
    "E_ROUTES_INVALID",
    () => routes("links", "/", Object.fromEntries(["then"].map((key) => [key, Get("/")]))),
  ],
  ["an entry of a table that is none", "E_ROUTES_INVALID", () => routes("links", "/", { index: untyped(undefined) })],
  ["a group without a prefix", "E_ROUTE_PATH", () => new RouteGroup(untyped(undefined), [])],
  ["a group of nothing", "E_ROUTES_INVALID", () => new RouteGroup("/x", untyped(undefined))],
  ["a member of a group that is none", "E_ROUTES_INVALID", () => new RouteGroup("/x", [untyped(undefined)])],
  ["a member of a collection that is none", "E_ROUTES_INVALID", () => new Routes([untyped(Undecorated)])],
  ["a collection to merge that is none", "E_ROUTES_INVALID", () => new Routes().merge(untyped(undefined))],
];

function lifecycle(name: string): string {
  return `Application.create().lifecycle({ ${name} })`;
}

const findingsOf = (builder: ApplicationBuilder) => startupErrorOf(() => builder.build()).diagnostics;

describe("a wrong configuration", () => {
  for (const [what, code, where, tell] of wrong) {
    it(`with ${what} is found at build(): ${code}`, () => {
      const builder = Application.create();
      tell(builder);

      const findings = findingsOf(builder);

      expect(findings.map((each) => [each.code, each.where])).to.deep.equal([[code, where]]);
      expect(findings[0]?.what, "what").not.to.equal("");
      expect(findings[0]?.fix, "fix").to.match(/./).and.not.contain("see the message");
    });
  }

  it("with a class in the place of a value shows the name of the class and none of its source text", () => {
    const given = untyped(Handless);
    const builders: readonly Tell[] = [
      (b) => b.port(given),
      (b) => b.lifecycle({ drainDelayMs: given }),
      (b) => b.compression({ threshold: given }),
      (b) => b.cors({ origins: "*", maxAge: given }),
      (b) => b.metrics(given),
      (b) => b.bodyLimit(given),
      (b) => b.timeout(given),
      (b) => b.maintenance(given),
      (b) => b.routes(new Routes([Route.get("/", () => "").middleware(given)])),
    ];

    for (const tell of builders) {
      const builder = Application.create();
      const error = errorOf(() => {
        tell(builder);
        builder.build();
      });

      expect(error.message).to.contain("Handless").and.not.contain("class Handless");
    }
  });

  it("with a decorator without parentheses names the decorator and the class or method", () => {
    const bare: readonly (readonly [named: string, decorate: () => unknown])[] = [
      [
        "@Module stands above the class Handless without parentheses: write @Module({ … })",
        () => Module(untyped(Handless)),
      ],
      [
        '@Controller stands above the class Handless without parentheses: write @Controller("/prefix")',
        () => Controller(untyped(Handless)),
      ],
      [
        '@Controller stands above the method Handless.show without parentheses: write @Controller("/prefix") above a class',
        () => Reflect.apply(Controller, undefined, [Handless.prototype, "show", METHOD]),
      ],
      [
        "@Module stands above the method Handless.show without parentheses: write @Module({ … }) above a class",
        () => Reflect.apply(Module, undefined, [Handless.prototype, "show", METHOD]),
      ],
      [
        "@Injectable stands above the class Handless without parentheses: write @Injectable()",
        () => Injectable(untyped(Handless)),
      ],
      [
        "@Inject stands on parameter 1 of the constructor of Handless without parentheses: write @Inject(token)",
        () => Reflect.apply(Inject, undefined, [Handless, undefined, 0]),
      ],
      [
        '@Get stands above the method Handless.show without parentheses: write @Get("/path")',
        () => Reflect.apply(Get, undefined, [Handless.prototype, "show", METHOD]),
      ],
      [
        "@Middleware stands above the method Handless.show without parentheses: write @Middleware(SignedIn)",
        () => Reflect.apply(Middleware, undefined, [Handless.prototype, "show", METHOD]),
      ],
    ];

    for (const [message, decorate] of bare) expect(errorOf(decorate)).to.include({ code: "E_DECORATOR_CALL", message });
  });

  it("with @Middleware without parentheses above a class names the decorator and the class, where the class is used", () => {
    // As the compiler applies it: the class becomes the value that the decorator returns.
    const replaced = Reflect.apply(Middleware, undefined, [Handless]) as new () => object;
    const bare = "@Middleware stands above the class Handless without parentheses: write @Middleware(SignedIn)";

    @Module({ controllers: [replaced], providers: [replaced] })
    class Root {}
    const builder = Application.create(Root)
      .layer(untyped(replaced))
      .routes(new Routes([Route.get("/", () => "").middleware(untyped(replaced))]));
    const error = startupErrorOf(() => builder.build());

    expect(error.diagnostics.map(({ what }) => what)).to.deep.equal([bare, bare, bare, bare]);
    for (const decorate of [Controller("/x"), Injectable(), Module({})]) {
      expect(errorOf(() => decorate(replaced))).to.include({ code: "E_DECORATOR_CALL", message: bare });
    }
  });

  it("is reported together with all other faults", () => {
    const builder = Application.create();
    // A second call of the same method would hide the first.
    const firsts = wrong
      .filter(([, , where]) => !where.startsWith("AppConfig"))
      .filter(([, , where], at, all) => all.findIndex((each) => each[2] === where) === at);
    for (const [, , , tell] of firsts) tell(builder);

    const codes = findingsOf(builder).map(({ code }) => code);

    expect(codes).to.have.members(firsts.map(([, code]) => code));
  });

  it("with a root that is not a module is found", () => {
    expect(findingsOf(Application.create(Undecorated)).map(({ code }) => code)).to.deep.equal(["E_NOT_A_MODULE"]);
  });

  it("in a list of a module is found, also where the module has no route", () => {
    @Module({ controllers: [untyped(undefined)], middleware: [untyped(undefined), untyped(Handless)] })
    class Lists {}
    @Module({ imports: untyped({}), controllers: untyped({}), providers: untyped(null), exports: untyped(7) })
    class NoLists {}
    @Module({ imports: [Lists, NoLists] })
    class Root {}

    expect(findingsOf(Application.create(Root)).map(({ code, where }) => `${code} ${where}`)).to.have.members([
      "E_PROVIDER_INVALID controller 1 of Lists",
      "E_MIDDLEWARE_INVALID middleware of Lists",
      "E_MIDDLEWARE_INVALID middleware of Lists",
      "E_NOT_A_MODULE import 1 of NoLists",
      "E_PROVIDER_INVALID controller 1 of NoLists",
      "E_PROVIDER_INVALID provider 1 of NoLists",
      "E_EXPORT_UNKNOWN exports of NoLists",
    ]);
  });

  it("with one endpoint below two prefixes is found, because its URL is ambiguous", () => {
    const show = Get("/{id}");
    @Controller("/a")
    class Left {
      @show show() {}
    }
    @Controller("/b")
    class Right {
      @show show() {}
    }
    @Module({ controllers: [Left, Right] })
    class Root {}

    expect(findingsOf(Application.create(Root)).map(({ code }) => code)).to.deep.equal(["E_ENDPOINT_SHARED"]);
  });

  it("with a capture in a controller's prefix is found, because the URLs of its endpoints lack it", () => {
    const prefix: string = "/teams/{team}";
    @Controller(prefix)
    class Panels {
      @Get("/panels/{id}") show() {}
    }
    @Module({ controllers: [Panels] })
    class Root {}

    expect(findingsOf(Application.create(Root)).map(({ code, where }) => [code, where])).to.deep.equal([
      ["E_CONTROLLER_PREFIX", "Panels"],
    ]);
  });

  for (const [what, code, write] of written) {
    it(`with ${what} throws where it is written: ${code}`, () => {
      expect(errorOf(write)).to.include({ code });
    });
  }

  it("does not include valid settings", () => {
    @Module()
    class Root {}
    const builder = Application.create(Root)
      .config(new AppConfig())
      .bind("::1")
      .metrics(new Metrics())
      .errorMapping(new ErrorMapping())
      .rateLimit(RateLimit.perMinute(1))
      .lifecycle({})
      .layer((_ctx, next) => next());

    expect(() => builder.build()).not.to.throw();
  });
});
