/**
 * The scopes of middleware, over a socket, with and without decorators: its route, its group, its collection, and nothing else. It does
 * not run where no route matches.
 */
import { createServer } from "node:http";
import {
  Application,
  Controller,
  Get,
  Injectable,
  Middleware,
  middleware,
  Module,
  provide,
  Route,
  RouteGroup,
  Routes,
  type Context,
  type Next,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import Koa from "koa";
import { listening } from "../support/listening.js";

/** Adds its name to the response; the outermost comes first. */
const marking = (name: string) =>
  middleware((ctx, next) => {
    ctx.append("x-passed", name);
    return next();
  }, name);

const OfRoute = marking("Route");
const OfGroup = marking("Group");
const OfCollection = marking("Collection");
const OfImport = marking("Import");

@Controller("/group")
@Middleware(OfGroup)
class GroupController {
  @Get("/marked")
  @Middleware(OfRoute)
  marked() {
    return "of a marked route";
  }

  @Get("/plain")
  plain() {
    return "of its group alone";
  }
}

@Controller("/sibling")
class SiblingController {
  @Get("/")
  show() {
    return "of the collection alone";
  }
}

@Controller("/imported")
class ImportedController {
  @Get("/")
  show() {
    return "of another collection";
  }
}

@Module({ controllers: [ImportedController], middleware: [OfImport] })
class ImportedModule {}

@Module({ imports: [ImportedModule], controllers: [GroupController, SiblingController], middleware: [OfCollection] })
class RootModule {}

const withoutDecorators = () =>
  new Routes([
    new RouteGroup("/group", [
      Route.get("/marked", () => "of a marked route").middleware(OfRoute),
      Route.get("/plain", () => "of its group alone"),
    ]).middleware(OfGroup),
    Route.get("/sibling", () => "of the collection alone"),
  ])
    .middleware(OfCollection)
    .merge(new Routes([Route.get("/imported", () => "of another collection")]).middleware(OfImport));

const WAYS = {
  "with decorators": () => Application.create(RootModule),
  "without decorators": () => Application.create().routes(withoutDecorators()),
} as const;

const ROWS: readonly (readonly [method: string, path: string, status: number, passed: string | null])[] = [
  ["GET", "/group/marked", 200, "Collection, Group, Route"],
  ["HEAD", "/group/marked", 200, "Collection, Group, Route"],
  ["GET", "/group/plain", 200, "Collection, Group"],
  ["GET", "/sibling", 200, "Collection"],
  ["GET", "/imported", 200, "Import"],
  ["GET", "/group", 404, null],
  ["GET", "/group/nowhere", 404, null],
  ["POST", "/group/marked", 405, null],
  ["OPTIONS", "/group/marked", 204, null],
  ["GET", "/group/%zz", 400, null],
];

for (const [way, builder] of Object.entries(WAYS)) {
  describe(`middleware, ${way}`, () => {
    for (const [method, path, status, passed] of ROWS) {
      it(`lets ${method} ${path} pass ${passed ?? "nothing"}`, async () => {
        await using app = await testApp(builder());

        const response = await app.request(path, { method });

        expect([response.status, response.headers.get("x-passed")]).to.deep.equal([status, passed]);
      });
    }
  });
}

describe("middleware of a collection", () => {
  it("does not reach routes merged after it, which is a warning at the start", async () => {
    const routes = new Routes([Route.get("/before", () => "")]).middleware(OfCollection);
    routes.merge(new Routes([Route.get("/after", () => "")]));
    await using app = await testApp(Application.create().routes(routes));

    const responses = [await app.get("/before"), await app.get("/after")];

    expect(responses.map(({ headers }) => headers.get("x-passed"))).to.deep.equal(["Collection", null]);
    expect(app.logs.transcript()).to.include('"routes":["GET /after"]');
  });
});

describe("the @koa/router of an application", () => {
  abstract class Tag {
    abstract readonly name: string;
  }

  @Injectable()
  class Tagging implements Middleware {
    constructor(private readonly tag: Tag) {}

    handle(ctx: Context, next: Next) {
      ctx.append("x-passed", this.tag.name);
      return next();
    }
  }

  @Controller("/first")
  @Middleware(Tagging)
  class FirstController {
    @Get("/")
    show() {
      return "first";
    }
  }

  @Controller("/second")
  @Middleware(Tagging)
  class SecondController {
    @Get("/")
    show() {
      return "second";
    }
  }

  @Module({ controllers: [FirstController], providers: [provide(Tag).useValue({ name: "of the first" })] })
  class FirstModule {}

  @Module({ controllers: [SecondController], providers: [provide(Tag).useValue({ name: "of the second" })] })
  class SecondModule {}

  @Module({ imports: [FirstModule, SecondModule] })
  class BothModule {}

  it("runs the same instances of middleware as the application, those of each module", async () => {
    await using app = await testApp(BothModule);
    const router = app.resolve(Routes).router();
    const listener = new Koa().use(router.routes()).callback();
    using koa = await listening(createServer((request, response) => void listener(request, response)));

    for (const path of ["/first", "/second"]) {
      const response = await app.get(path);
      const ofRouter = await fetch(koa.url + path);

      expect(response.headers.get("x-passed")).to.equal(`of the ${path.slice(1)}`);
      expect(ofRouter.headers.get("x-passed")).to.equal(`of the ${path.slice(1)}`);
    }
  });
});
