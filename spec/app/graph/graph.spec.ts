/** The graph of an application: the shapes of its contracts as data. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";
import {
  Application,
  content,
  Controller,
  event,
  Get,
  Injectable,
  Module,
  On,
  Policy,
  Post,
  provide,
  Route,
  Routes,
  routes,
  type Schema,
} from "@stagecraft/framework";
import { contract, page, PageContracts, Pages, shape } from "@stagecraft/framework/pages";
import { Idempotency, MemoryIdempotencyStore } from "@stagecraft/framework/idempotency";
import { Every, Handles, job, Jobs, MemoryJobs, schedule } from "@stagecraft/framework/jobs";
import { testApp } from "@stagecraft/framework/testing";
import { Uploads } from "@stagecraft/framework/uploads";

const Link = z.object({ slug: z.string(), at: z.date().optional() });
const NewLink = z.object({ target: z.url(), slug: z.string().min(1) });

const links = routes("links", "/links", {
  index: Get("/", { query: z.object({ page: z.int().default(1) }), responses: { 200: z.array(NewLink) } }),
  show: Get("/{id}", {
    params: { id: z.int() },
    headers: z.object({ "if-match": z.string() }),
    responses: { 200: Link, 404: content.none(), 303: content.redirect() },
  }),
  add: Post("/", {
    body: { "application/json": NewLink, "application/x-www-form-urlencoded": content.form(NewLink) },
    responses: { 201: content.text(), 422: content.page("links/new", "links/old") },
  }),
  logo: Post("/logo", {
    body: content.multipart(z.object({ alt: z.string() }), { logo: { types: ["image/*"] } }),
    responses: { 200: content.events(z.object({ done: z.boolean() })) },
  }),
});

@Controller(links)
class LinksController {
  @links.index
  index() {
    return [];
  }

  @links.show
  show() {
    return { slug: "a" };
  }

  @links.add
  add() {
    return "a";
  }

  @links.logo
  async *logo() {
    yield { data: { done: true } };
  }
}

@Module({ controllers: [LinksController], providers: [provide(Uploads).useFactory(() => new Uploads())] })
class LinksModule {}

const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

const NEW_LINK = {
  type: "object",
  properties: { slug: { type: "string", minLength: 1 }, target: { type: "string", format: "uri" } },
  required: ["target", "slug"],
};

const build = () => Application.create(LinksModule).build();

function findRoute(application: Application, action: string) {
  return application.graph().routes.find((route) => route.action === action);
}

/** The graph of a route whose query has the schema. */
function getQuery(query: Schema): unknown {
  const search = Get("/search", { query });
  const application = Application.create()
    .routes(new Routes([Route.of(search, () => "")]))
    .build();
  return application.graph().routes[0]?.query;
}

describe("the graph of an application", () => {
  it("has the action and the JSON Schemas of the query and of a response", () => {
    expect(findRoute(build(), "LinksController.index")).to.deep.include({
      action: "LinksController.index",
      query: { type: "object", properties: { page: { default: 1, type: "integer", ...SAFE } } },
      responses: { 200: { kind: "json", type: "application/json", schema: { type: "array", items: NEW_LINK } } },
    });
  });

  it("has the schemas of captures and headers; a part without JSON Schema takes any value", () => {
    expect(findRoute(build(), "LinksController.show")).to.deep.include({
      params: ["id"],
      paramSchemas: { id: { type: "integer", ...SAFE } },
      headers: { type: "object", properties: { "if-match": { type: "string" } }, required: ["if-match"] },
      responses: {
        200: {
          kind: "json",
          type: "application/json",
          schema: { type: "object", properties: { at: {}, slug: { type: "string" } }, required: ["slug"] },
        },
        303: { kind: "redirect" },
        404: { kind: "none" },
      },
    });
  });

  it("has the contents of a body by media type, and those of responses with their kind", () => {
    expect(findRoute(build(), "LinksController.add")).to.deep.include({
      body: {
        "application/json": { kind: "json", type: "application/json", schema: NEW_LINK },
        "application/x-www-form-urlencoded": {
          kind: "form",
          type: "application/x-www-form-urlencoded",
          schema: NEW_LINK,
        },
      },
      responses: {
        201: { kind: "text", type: "text/plain" },
        422: { kind: "page", type: "text/html", pages: ["links/new", "links/old"] },
      },
    });
    expect(findRoute(build(), "LinksController.logo")).to.deep.include({
      body: {
        "multipart/form-data": {
          kind: "multipart",
          type: "multipart/form-data",
          files: { logo: { types: ["image/*"] } },
          schema: { type: "object", properties: { alt: { type: "string" } }, required: ["alt"] },
        },
      },
      responses: {
        200: {
          kind: "events",
          type: "text/event-stream",
          schema: { type: "object", properties: { done: { type: "boolean" } }, required: ["done"] },
        },
      },
    });
  });

  it("says where a schema has no JSON Schema, and why", () => {
    expect(getQuery(v.object({ page: v.string() }))).to.deep.equal({
      $comment: "no JSON Schema: the schema library gives none",
    });
  });

  it("asks a schema for its JSON Schema once, and not again at each call", () => {
    const schema = z.object({ page: z.string() });
    const { jsonSchema } = schema["~standard"] as { jsonSchema: { input: (options: never) => unknown } };
    const { input } = jsonSchema;
    let calls = 0;
    jsonSchema.input = (options) => {
      calls += 1;
      return input(options);
    };
    const search = Get("/search", { query: schema });
    const application = Application.create()
      .routes(new Routes([Route.of(search, () => "")]))
      .build();

    const graph = application.graph();

    expect(calls).to.equal(1);
    expect(application.graph()).to.equal(graph);
    expect(calls).to.equal(1);
  });

  it("says of an endpoint that it takes an Idempotency-Key", () => {
    const pay = Post("/pay", { idempotent: { required: true, ttlMs: 60_000 } });
    const keys = new Idempotency(new MemoryIdempotencyStore(), { principal: () => "all" });
    const application = Application.create()
      .provide(provide(Idempotency).useValue(keys))
      .routes(new Routes([Route.of(pay, () => "")]))
      .build();

    expect(application.graph().routes[0]?.idempotent).to.deep.equal({ required: true, ttlMs: 60_000 });
    expect(findRoute(build(), "LinksController.add")).to.not.have.property("idempotent");
  });

  it("has no shapes of a route without a contract", () => {
    const application = Application.create()
      .routes(new Routes([Route.get("/", () => "")]))
      .build();

    expect(application.graph().routes[0]).not.to.have.any.keys("query", "body", "responses", "headers", "paramSchemas");
  });

  it("is the same text for a second application, and after the stop", async () => {
    await using app = await testApp(Application.create(LinksModule));
    const { application } = app;
    await app.stop();

    expect(JSON.stringify(application.graph())).to.equal(JSON.stringify(build().graph()));
  });
});

describe("the pages of a graph", () => {
  const shown = contract("links/show", {
    link: shape.object({ slug: shape.string, tags: shape.array(shape.string), note: shape.nullable(shape.string) }),
    clicks: shape.optional(shape.array(shape.number)),
    next: shape.optional(shape.nullable(shape.object({}))),
    isOwn: shape.boolean,
  });
  const listed = contract("links/index", {});

  const show = Get("/links/{id}", { name: "links.show", page: "links/show" });
  const store = Post("/links", {
    pages: ["links/new"],
    responses: { 200: content.page("links/new", "links/wrong"), 303: content.redirect() },
  });
  const all = new Routes([Route.of(show, () => ""), Route.of(store, () => page("links/new", {}))]);

  const describePages = () =>
    Application.create().routes(all).pages(new Pages()).pageContracts(new PageContracts().register(shown, listed));

  it("have the props that their handlers give, as JSON Schema, where a contract is registered", () => {
    const { pages } = describePages().build().graph();

    expect(pages).to.deep.equal([
      { name: "links/index", props: { type: "object", properties: {} } },
      { name: "links/new" },
      {
        name: "links/show",
        props: {
          type: "object",
          properties: {
            clicks: { type: "array", items: { type: "number" } },
            isOwn: { type: "boolean" },
            link: {
              type: "object",
              properties: {
                note: { anyOf: [{ type: "string" }, { type: "null" }] },
                slug: { type: "string" },
                tags: { type: "array", items: { type: "string" } },
              },
              required: ["note", "slug", "tags"],
            },
            next: { anyOf: [{ type: "object", properties: {} }, { type: "null" }] },
          },
          required: ["isOwn", "link"],
        },
      },
      { name: "links/wrong" },
    ]);
  });

  it("have JSON Schemas that take the props of the contract, and refuse others", () => {
    const props = describePages()
      .build()
      .graph()
      .pages.find(({ name }) => name === "links/show")?.props;
    const isValid = new Ajv2020({ strict: true }).compile(props ?? false);
    const link = { slug: "a", tags: ["b"], note: null };

    expect(isValid({ link, isOwn: true, errors: {} })).to.equal(true);
    expect(isValid({ link, isOwn: true, clicks: [1], next: null })).to.equal(true);
    expect(isValid({ link: { ...link, note: 7 }, isOwn: true })).to.equal(false);
    expect(isValid({ link })).to.equal(false);
  });

  it("are those of the option and those of the responses of an endpoint", () => {
    const { routes: described } = describePages().build().graph();

    expect(described.map(({ method, pages }) => [method, pages])).to.deep.equal([
      ["POST", ["links/new", "links/wrong"]],
      ["GET", ["links/show"]],
    ]);
  });

  it("have no props in an application without registered contracts", () => {
    const { pages } = Application.create().routes(all).build().graph();

    expect(pages).to.deep.equal([{ name: "links/new" }, { name: "links/show" }, { name: "links/wrong" }]);
  });
});

describe("the graph of modules", () => {
  const added = event("link.added");
  const nightly = schedule("links.sweep", "30 3 * * *");
  const welcome = job("mail.welcome");

  class LinkPolicy extends Policy<string, string> {
    update(user: string, owner: string) {
      return user === owner;
    }
  }

  class Work {
    @Handles(welcome)
    send() {}

    @Every(nightly)
    sweep() {}

    @On(added)
    announce() {}
  }

  @Injectable()
  @Controller("/notes")
  class NotesController {
    constructor(private readonly policy: LinkPolicy) {}

    @Get("/", { page: "notes/index" })
    index() {
      return String(this.policy.allows("ada").update("eve"));
    }
  }

  @Controller("/plain")
  class PlainController {
    @Get("/", { page: "plain" })
    index() {
      return "";
    }
  }

  @Module({ controllers: [PlainController] })
  class PlainModule {}

  @Module({ imports: [PlainModule], controllers: [NotesController], providers: [LinkPolicy, Work] })
  class NotesModule {}

  const jobs = provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() }));
  const describeNotes = () => Application.create(NotesModule).provide(jobs).build().graph();

  it("has the policies, pages, listeners, jobs and schedules of each", () => {
    const { modules } = describeNotes();

    expect(modules[0]).to.deep.include({
      name: "NotesModule",
      policies: ["LinkPolicy"],
      pages: ["notes/index"],
      listeners: ["Work.announce on link.added"],
      jobs: ["Work.send on mail.welcome"],
      schedules: ["Work.sweep on links.sweep"],
    });
    expect(modules[1]).to.deep.include({
      name: "PlainModule",
      policies: [],
      pages: ["plain"],
      listeners: [],
      jobs: [],
      schedules: [],
    });
  });

  it("lists the work of controllers too", () => {
    @Controller("/sweeps")
    class SweepController {
      @Every(nightly)
      sweep() {}

      @Handles(welcome)
      send() {}

      @On(added)
      announce() {}
    }

    @Module({ controllers: [SweepController] })
    class SweepModule {}

    const { modules } = Application.create(SweepModule).provide(jobs).build().graph();

    expect(modules[0]).to.deep.include({
      listeners: ["SweepController.announce on link.added"],
      jobs: ["SweepController.send on mail.welcome"],
      schedules: ["SweepController.sweep on links.sweep"],
    });
  });

  it("has the providers of the builder, which no module lists, as a module without a name", () => {
    const bound = [provide(Work).useClass(Work), provide(LinkPolicy).useClass(LinkPolicy)];

    const { modules } = Application.create(PlainModule)
      .provide(jobs, ...bound)
      .build()
      .graph();

    expect(modules.map(({ name }) => name)).to.deep.equal(["PlainModule", ""]);
    expect(modules[1]).to.deep.include({
      providers: ["Jobs", "Work", "LinkPolicy"],
      policies: ["LinkPolicy"],
      listeners: ["Work.announce on link.added"],
      jobs: ["Work.send on mail.welcome"],
      schedules: ["Work.sweep on links.sweep"],
    });
  });

  it("has a provider of a module in the module, where the builder binds it again", () => {
    const bound = provide(Work).useClass(Work);

    const { modules } = Application.create(NotesModule).provide(jobs, bound).build().graph();

    expect(modules.map(({ name, providers }) => [name, providers])).to.deep.equal([
      ["NotesModule", ["LinkPolicy", "Work"]],
      ["PlainModule", []],
      ["", ["Jobs"]],
    ]);
  });

  it("names the policies that the controller of a route injects", () => {
    const policies = describeNotes().routes.map((route) => [route.action, route.policies]);

    expect(policies).to.deep.equal([
      ["NotesController.index", ["LinkPolicy"]],
      ["PlainController.index", []],
    ]);
  });

  it("names a policy that a test has replaced by an object that is none", () => {
    const double = provide(LinkPolicy).useValue({ update: () => true } as unknown as LinkPolicy);

    const { modules, routes: all } = Application.create(NotesModule).provide(jobs, double).build().graph();

    expect(modules[0]?.policies).to.deep.equal(["LinkPolicy"]);
    expect(all[0]?.policies).to.deep.equal(["LinkPolicy"]);
  });
});
