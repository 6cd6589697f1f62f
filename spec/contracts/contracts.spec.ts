/** Endpoints with schemas and guards, through an application and a real socket. */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  content,
  type Context,
  type ContextOf,
  Controller,
  Get,
  guard,
  Guards,
  Injectable,
  Module,
  Post,
  Reply,
  routes,
  UnauthorizedError,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";

async function listFaults(response: Response): Promise<readonly string[]> {
  const { errors } = (await response.json()) as { readonly errors: object };
  return Object.keys(errors);
}

interface User {
  readonly id: string;
}

const signedIn = guard<{ user: User }>("signed-in");
const role = guard<{ roles: readonly string[] }, [role: string]>("role");

const Link = z.object({ id: z.number(), url: z.string(), owner: z.string() });
const NewLink = z.object({ url: z.url(), tags: z.array(z.string()).default([]) });
const Filter = z.object({
  page: z.int().default(1),
  tag: z.array(z.string()).optional(),
  open: z.boolean().optional(),
});

const links = routes("links", "/teams/{team}/links", {
  index: Get("/", { query: Filter, headers: z.object({ "x-version": z.int().optional() }) }),
  store: Post("/", {
    guards: [signedIn],
    body: NewLink,
    responses: { 201: Link, 409: z.object({ taken: z.string() }) },
  }),
  show: Get("/{id}", { params: { id: z.int() }, responses: { 200: Link } }),
  leak: Get("/{id}/leak", { responses: { 200: z.object({ owner: z.object({ name: z.string() }) }) } }),
  admin: Get("/admin/all", { guards: [role("admin")] }),
  text: Post("/text", { body: content.text(), responses: { 200: content.text() } }),
  gone: Post("/gone", { responses: { 204: content.none() } }),
});

@Controller(links)
class LinksController {
  @links.index index({ input, params }: ContextOf<typeof links.index>) {
    return { query: input.query, headers: input.headers, team: params.team };
  }
  @links.store store({ input, user }: ContextOf<typeof links.store>) {
    if (input.body.url.endsWith("/taken")) return Reply.json({ taken: input.body.url }, 409);
    return { id: input.body.tags.length, url: input.body.url, owner: user.id };
  }
  @links.show show({ params }: ContextOf<typeof links.show>) {
    return Promise.resolve({ id: params.id + 1, url: "", owner: params.team });
  }
  @links.leak leak() {
    const row = { owner: { name: "Ada", passwordHash: "canary" } };
    return row;
  }
  @links.admin admin({ roles }: ContextOf<typeof links.admin>) {
    return roles;
  }
  @links.text text({ input }: ContextOf<typeof links.text>) {
    return input.body.toUpperCase();
  }
  @links.gone gone() {}
}

@Injectable()
class Accounts {
  @Guards(signedIn) check(ctx: Context): { user: User } {
    if (ctx.get("authorization") === "") throw new UnauthorizedError("sign in first");
    return { user: { id: ctx.get("authorization") } };
  }
  @Guards(role) async hasRole(_ctx: Context, wanted: string) {
    return Promise.resolve({ roles: [wanted] });
  }
}

@Module({ controllers: [LinksController], providers: [Accounts] })
class App {}

describe("an endpoint with a contract", () => {
  it("gives the handler the parsed values of query, headers and captures", async () => {
    await using app = await testApp(Application.create(App));
    const response = await app.get("/teams/red/links?page=2&tag=a&open=false", { headers: { "x-version": "3" } });
    expect(await response.json()).to.deep.equal({
      query: { page: 2, tag: ["a"], open: false },
      headers: { "x-version": 3 },
      team: "red",
    });
    expect(await (await app.get("/teams/red/links/41")).json()).to.deep.equal({ id: 42, url: "", owner: "red" });
  });

  it("runs the guard before it reads the body", async () => {
    await using app = await testApp(Application.create(App));
    const refused = await app.post("/teams/red/links", { body: "no json" });
    expect(refused.status).to.equal(401);
    const invalid = await app.post("/teams/red/links", {
      json: { url: "x", tags: [1] },
      headers: { authorization: "ada" },
    });
    expect(invalid.status).to.equal(422);
    expect(await listFaults(invalid)).to.deep.equal(["body.url", "body.tags.0"]);
    const made = await app.post("/teams/red/links", {
      json: { url: "https://a.example/" },
      headers: { authorization: "ada" },
    });
    expect([made.status, await made.json()]).to.deep.equal([201, { id: 0, url: "https://a.example/", owner: "ada" }]);
  });

  it("collects the faults of all parts in one 422", async () => {
    await using app = await testApp(Application.create(App));
    const response = await app.get("/teams/red/links?page=9007199254740993&open=yes", { headers: { "x-version": "" } });
    expect(response.status).to.equal(422);
    expect(await listFaults(response)).to.deep.equal(["query.page", "query.open", "headers.x-version"]);
    expect((await app.get("/teams/red/links/x")).status).to.equal(422);
  });

  it("refuses a member that the responses do not declare", async () => {
    await using app = await testApp(Application.create(App));
    const response = await app.get("/teams/red/links/1/leak");
    expect(response.status).to.equal(500);
    expect(await response.text()).not.to.contain("canary");
  });

  it("gives a guard its arguments", async () => {
    await using app = await testApp(Application.create(App));
    expect(await (await app.get("/teams/red/links/admin/all")).json()).to.deep.equal(["admin"]);
  });

  it("reads and sends text, and responds 204 with no content", async () => {
    await using app = await testApp(Application.create(App));
    const response = await app.post("/teams/red/links/text", {
      body: "hello",
      headers: { "content-type": "text/plain; charset=utf-8" },
    });
    expect(await response.text()).to.equal("HELLO");
    expect((await app.post("/teams/red/links/text", { json: "hello" })).status).to.equal(415);
    expect((await app.post("/teams/red/links/gone")).status).to.equal(204);
  });

  it("stops the start without a provider of the guard", async () => {
    @Module({ controllers: [LinksController] })
    class Unguarded {}
    expect(() => Application.create(Unguarded).build()).to.throw(
      /E_GUARD_MISSING[^]*signed-in[^]*E_GUARD_MISSING[^]*role/,
    );
  });
});
