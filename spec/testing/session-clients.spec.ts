import {
  Application,
  Clock,
  type Context,
  type ContextOf,
  Controller,
  Get,
  Module,
  Post,
  provide,
  Route,
  Routes,
  routes as createTable,
} from "@stagecraft/framework";
import { CsrfConfig, Session, SessionConfig } from "@stagecraft/framework/session";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { rejectionOf } from "../support/rejection-of.js";

const KEY = "5a".repeat(64);

const routes = new Routes([
  Route.get("/name", async (ctx: Context) => (await Session.of(ctx).get("name")) ?? "nobody"),
  Route.post("/name/{name}", (ctx: Context<"name">) => Session.of(ctx).put("name", ctx.params.name)),
  Route.post("/login", (ctx: Context) => Session.of(ctx).regenerate()),
]);

const builder = () => Application.create().session(SessionConfig.pages(KEY)).routes(routes);

describe("a client with a session", () => {
  it("has the values, and keeps its cookies", async () => {
    await using app = await testApp(builder());
    const ada = await app.withSession({ name: "Ada" });
    const other = await app.withSession({ name: "Eve" });

    expect(await (await ada.get("/name")).text()).to.equal("Ada");
    await ada.post("/name/Grace");
    await ada.post("/login");
    expect(await (await ada.get("/name")).text()).to.equal("Grace");
    expect(await (await other.get("/name")).text()).to.equal("Eve");
    expect(await (await app.get("/name")).text()).to.equal("nobody");
  });

  it("follows the clock of the test", async () => {
    const clock = new FakeClock();
    await using app = await testApp(builder(), provide(Clock).useValue(clock));
    const ada = await app.withSession({ name: "Ada" });

    clock.advance(14 * 86_400_000);

    expect(await (await ada.get("/name")).text()).to.equal("nobody");
  });

  it("sends the CSRF token where the application requires one", async () => {
    await using app = await testApp(builder().csrf(CsrfConfig.pages()));
    const ada = await app.withSession({ name: "Ada" });

    expect((await ada.post("/name/Grace")).status).to.equal(204);
    expect((await ada.post("/login")).status).to.equal(204);
    expect((await ada.post("/name/Grace")).status).to.equal(204);
  });

  it("cannot be created in an application without sessions", async () => {
    await using app = await testApp(Application.create());

    expect(String(await rejectionOf(app.withSession({})))).to.include("add them with .session(");
  });
});

describe("a client with CSRF tokens", () => {
  it("gets its cookie when it first needs one, and sends the token by itself", async () => {
    await using app = await testApp(builder().csrf(new CsrfConfig().cookie("mine").header("x-mine")));
    const browser = app.withCsrf();

    expect((await app.post("/name/Ada")).status).to.equal(403);
    expect((await browser.post("/name/Ada", { headers: { "x-other": ["a", "b"] } })).status).to.equal(204);
    expect(await (await browser.get("/name")).text()).to.equal("Ada");
  });

  it("sends a request as it is where the test sets the header", async () => {
    await using app = await testApp(builder().csrf(new CsrfConfig()));

    expect((await app.withCsrf().post("/name/Ada", { headers: { "x-csrf-token": "wrong" } })).status).to.equal(403);
    expect((await app.withCookies().post("/name/Ada")).status).to.equal(403);
  });

  it("cannot be created in an application without CSRF protection", async () => {
    await using app = await testApp(Application.create());

    expect(() => app.withCsrf()).to.throw("add it with .csrf(");
  });
});

const names = createTable("names", "/names", { show: Get("/mine"), change: Post("/{name}") });

@Controller(names)
class Names {
  @names.show async show(ctx: ContextOf<typeof names.show>) {
    return { name: await Session.of(ctx).get("name") };
  }
  @names.change change(ctx: ContextOf<typeof names.change>) {
    Session.of(ctx).put("name", ctx.params.name);
  }
}

@Module({ controllers: [Names] })
class NamesModule {}

describe("a typed client of a table", () => {
  it("has the session and the CSRF token of the client that made it", async () => {
    const site = Application.create(NamesModule).session(SessionConfig.pages(KEY)).csrf(CsrfConfig.pages());
    await using app = await testApp(site);
    const ada = (await app.withSession({ name: "Ada" })).client(names);

    await ada.change({ params: { name: "Grace" } });

    expect(await ada.show()).to.deep.equal({ name: "Grace" });
    expect(await app.client(names).show()).to.deep.equal({});
    expect(await rejectionOf(app.client(names).change({ params: { name: "Eve" } }))).to.have.property("status", 403);
  });
});
