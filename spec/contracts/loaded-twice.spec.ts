/** A module of a table that is loaded twice, and two versions of one schema library in one program. */
import { expect } from "chai";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import {
  Application,
  type ContextOf,
  Controller,
  Module,
  Post,
  redirect,
  Route,
  RouteGroup,
  Routes,
  routes,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { startupErrorOf } from "../support/startup-error-of.js";
import { doubled } from "./doubled.routes.js";

interface Loaded {
  readonly doubled: typeof doubled;
}

/** The table of a second evaluation of the module. */
async function loadAgain(): Promise<typeof doubled> {
  const specifier = "./doubled.routes.js?v=2";
  const { doubled: copy } = (await import(specifier)) as Loaded;
  return copy;
}

function createController(table: typeof doubled, methods: typeof doubled): new () => object {
  class Doubled {
    @methods.index index() {
      return "index";
    }
    @methods.show show() {
      return "show";
    }
  }
  Controller(table)(Doubled);
  return Doubled;
}

function listFaults(...controllers: readonly (new () => object)[]): readonly string[] {
  class Twice {}
  Module({ controllers })(Twice);
  const { diagnostics } = startupErrorOf(() => Application.create(Twice).build());
  return diagnostics.map(({ code, what, fix }) => `${code} ${what}: ${fix}`);
}

describe("a table whose module is loaded twice", () => {
  it("stops the start where both have a controller", async () => {
    const copy = await loadAgain();

    const faults = listFaults(createController(doubled, doubled), createController(copy, copy));

    expect(copy).not.to.equal(doubled);
    expect(faults.join("\n"))
      .to.include("E_ROUTE_DUPLICATE GET /doubled/{id} handles the same requests")
      .and.match(
        /E_ROUTE_NAME_REPEATED the name "doubled\.show" .*: remove one of the two; a module .* is loaded twice/,
      );
  });

  it("stops the start where a controller of one has methods of the other", async () => {
    const copy = await loadAgain();

    const faults = listFaults(createController(doubled, copy));

    expect(faults.join("\n")).to.match(
      /E_ENDPOINT_FOREIGN GET \/doubled is an entry of a second table "doubled": decorate .* is loaded twice/,
    );
  });

  it("gives the URL of the controller's table, and leads to no path that is no route", async () => {
    const copy = await loadAgain();
    const shown = Route.of(doubled.show, () => "show");
    const away = Route.get("/away", () => redirect().route(copy.show, "7"));
    await using app = await testApp(Application.create().routes(new Routes([shown, away])));
    await using below = await testApp(Application.create().routes(new Routes([new RouteGroup("/api", [shown]), away])));

    const [found, refused] = [await app.get("/away"), await below.get("/away")];

    expect(copy.show.url("7")).to.equal("/doubled/7");
    expect([found.headers.get("location"), refused.status]).to.deep.equal(["/doubled/7", 500]);
  });
});

const mixed = routes("mixed", "/mixed/{id}", {
  store: Post("/", {
    params: { id: z.int() },
    query: z3.object({ page: z3.coerce.number() }),
    headers: z3.object({ "x-old": z3.string().min(3) }).passthrough(),
    body: z.object({ name: z.string().min(2) }),
    responses: { 201: z3.object({ page: z3.number(), name: z3.string() }) },
  }),
});

@Controller(mixed)
class Mixed {
  @mixed.store store({ input: { query, body } }: ContextOf<typeof mixed.store>) {
    return { page: query.page, name: body.name };
  }
}

@Module({ controllers: [Mixed] })
class MixedModule {}

describe("two versions of a schema library in one endpoint", () => {
  it("parse their parts, and check the response", async () => {
    await using app = await testApp(MixedModule);

    const response = await app.post("/mixed/7?page=2", { json: { name: "ada" }, headers: { "x-old": "yes" } });

    expect([response.status, await response.json()]).to.deep.equal([201, { page: 2, name: "ada" }]);
  });

  it("name their faults in one 422", async () => {
    await using app = await testApp(MixedModule);

    const response = await app.post("/mixed/x?page=y", { json: { name: "a" }, headers: { "x-old": "n" } });
    const { errors } = (await response.json()) as { readonly errors: Readonly<Record<string, unknown>> };

    expect(response.status).to.equal(422);
    expect(Object.keys(errors)).to.have.members(["params.id", "query.page", "headers.x-old", "body.name"]);
  });
});
