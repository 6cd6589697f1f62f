/** A client of the type of a table and its manifest, without its values, over a real socket. */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  content,
  type ContextOf,
  Controller,
  createManifest,
  Get,
  Module,
  NotFoundError,
  Post,
  routes,
} from "@stagecraft/framework";
import { client, ClientProblem, type RoutesManifest } from "@stagecraft/framework/routes";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { rejectionOf } from "../support/rejection-of.js";

const Link = z.object({ id: z.int(), url: z.string() });

const links = routes("links", "/teams/{team}/links", {
  index: Get("/", {
    query: z.object({ page: z.int().optional(), tags: z.array(z.string()).optional() }),
    headers: z.object({ "x-version": z.int().optional() }),
    responses: {
      200: z.object({
        team: z.string(),
        page: z.int().optional(),
        tags: z.array(z.string()).optional(),
        version: z.int().optional(),
      }),
    },
  }),
  store: Post("/", { body: z.object({ url: z.url() }), responses: { 201: Link } }),
  form: Post("/form", {
    body: content.form(z.object({ size: z.int() })),
    responses: { 200: z.object({ size: z.int() }) },
  }),
  either: Post("/either", {
    body: { "application/json": Link, "text/plain": content.text() },
    responses: { 200: content.text() },
  }),
  show: Get("/{id}", { params: { id: z.int() }, responses: { 200: Link } }),
  file: Get("/files/{*rest}", { responses: { 200: content.text() } }),
  events: Get("/events/now", { responses: { 200: content.events(z.string()) } }),
  open: Get("/open/now"),
});

@Controller(links)
class LinksController {
  @links.index index({ input, params }: ContextOf<typeof links.index>) {
    return { ...input.query, team: params.team, version: input.headers["x-version"] };
  }
  @links.store store({ input }: ContextOf<typeof links.store>) {
    return { id: 1, url: input.body.url };
  }
  @links.form form({ input }: ContextOf<typeof links.form>) {
    return input.body;
  }
  @links.either either({ input }: ContextOf<typeof links.either>) {
    return typeof input.body === "string" ? "text" : "json";
  }
  @links.show show({ params }: ContextOf<typeof links.show>): z.infer<typeof Link> {
    throw new NotFoundError(`no link ${params.id}`);
  }
  @links.file file({ params }: ContextOf<typeof links.file>) {
    return params.rest;
  }
  @links.events async *events() {
    yield await Promise.resolve({ event: "link", data: "7" });
  }
  @links.open open() {
    return { open: true };
  }
}

/** Single endpoints, whose prefix is that of their controller. */
const notes = { read: Get("/notes/{id}", { params: { id: z.int() }, responses: { 200: z.object({ id: z.int() }) } }) };

@Controller("/api")
class NotesController {
  @notes.read read({ params }: ContextOf<typeof notes.read>) {
    return { id: params.id };
  }
}

@Module({ controllers: [LinksController, NotesController] })
class App {}

const team = { team: "a b" };

for (const [what, copy] of [
  ["as createManifest returns it", (manifest) => manifest],
  ["written as JSON and read again", (manifest) => JSON.parse(JSON.stringify(manifest)) as RoutesManifest],
] as const satisfies readonly (readonly [string, (manifest: RoutesManifest) => RoutesManifest])[]) {
  describe(`a client of a manifest, ${what}`, () => {
    let app: TestApp;

    before(async () => {
      app = await testApp(Application.create(App));
    });
    after(() => app.stop());

    const connect = () => client<typeof links>(copy(createManifest(links)), { origin: app.url });

    it("has the prefix of the controller of single endpoints", async () => {
      const manifest = copy(createManifest(notes));

      expect(manifest["read"]).to.have.property("path", "/api/notes/{id}");
      expect(await client<typeof notes>(manifest, { origin: app.url }).read({ params: { id: 7 } })).to.deep.equal({
        id: 7,
      });
    });

    it("sends captures, query and headers", async () => {
      const found = await connect().index({
        params: team,
        query: { page: 2, tags: ["a", "b"] },
        headers: { "x-version": 3 },
      });

      expect(found).to.deep.equal({ team: "a b", page: 2, tags: ["a", "b"], version: 3 });
      expect(await connect().file({ params: { ...team, rest: "a/b c" } })).to.equal("a/b c");
    });

    it("sends bodies by their content", async () => {
      const api = connect();
      const headers = { "content-type": "text/plain" };

      expect(await api.store({ params: team, body: { url: "https://a.example/" } })).to.have.property("id", 1);
      expect(await api.form({ params: team, body: { size: 7 } })).to.deep.equal({ size: 7 });
      expect(await api.either({ params: team, body: { id: 1, url: "" } })).to.equal("json");
      expect(await api.either({ params: team, body: "text", headers })).to.equal("text");
    });

    it("receives events, problems, and values without a contract", async () => {
      const api = connect();
      const events: unknown[] = [];
      for await (const { event, data } of await api.events({ params: team })) events.push([event, data]);
      const problem = await rejectionOf(api.show({ params: { ...team, id: 404 } }));
      const invalid = await api.store.result({ params: team, body: { url: "x" } });

      expect(events).to.deep.equal([["link", "7"]]);
      expect(problem).to.be.instanceOf(ClientProblem).and.to.have.property("status", 404);
      expect(problem.message).to.contain("GET /teams/{team}/links/{id} responded 404");
      if (invalid.status !== 422) throw new Error(`status ${invalid.status}`);
      expect(Object.keys(invalid.body.errors ?? {})).to.deep.equal(["body.url"]);
      expect(await api.open({ params: team })).to.deep.equal({ open: true });
    });

    it("refuses a value that no URL can have, before it sends", async () => {
      expect(await rejectionOf(connect().show({ params: { team: "..", id: 1 } }))).to.have.property(
        "code",
        "E_ROUTE_PARAM",
      );
    });
  });
}
