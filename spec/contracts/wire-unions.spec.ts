/** Unions and tuples as texts, in the parts of a request that have texts: an alternative is chosen by its constants. */
import { expect } from "chai";
import { z } from "zod";
import { Application, content, Get, Post, Route, Routes } from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";

const Place = z.discriminatedUnion("k", [
  z.object({ k: z.literal("a"), v: z.int() }),
  z.object({ k: z.literal("b"), v: z.string() }),
]);
const Size = z.union([z.literal("auto"), z.int()]);
const Level = z.union([z.enum(["low", "high"]), z.int()]);
const Fields = z.object({ size: Size, level: Level, point: z.tuple([z.int(), z.boolean()]) });

const routes = new Routes([
  Route.of(Get("/place", { query: Place }), ({ input }) => input.query),
  Route.of(Post("/place", { body: content.form(Place) }), ({ input }) => input.body),
  Route.of(Get("/headers", { headers: z.object({ size: Size }) }), ({ input }) => input.headers),
  Route.of(Get("/capture/{size}", { params: { size: Size } }), ({ params }) => params),
  Route.of(Get("/fields", { query: Fields }), ({ input }) => input.query),
]);

describe("a union in a text", () => {
  let app: TestApp;
  before(async () => {
    app = await testApp(Application.create().routes(routes));
  });
  after(() => app.stop());

  it("is the alternative that its constant chooses, in a query and in a form", async () => {
    expect(await (await app.get("/place?k=a&v=1")).json()).to.deep.equal({ k: "a", v: 1 });
    expect(await (await app.get("/place?k=b&v=1")).json()).to.deep.equal({ k: "b", v: "1" });
    expect(await (await app.post("/place", { form: { k: "b", v: "1" } })).json()).to.deep.equal({ k: "b", v: "1" });
  });

  it("names the faults of the chosen alternative alone", async () => {
    const value = (await (await app.get("/place?k=a&v=x")).json()) as object;
    const constant = (await (await app.get("/place?k=z&v=x")).json()) as object;

    expect(value).to.have.property("errors").that.has.all.keys("query.v");
    expect(constant).to.have.property("errors").that.has.all.keys("query.k");
  });

  it("is its constant, or a number, in each part", async () => {
    expect(await (await app.get("/headers", { headers: { size: "5" } })).json()).to.deep.equal({ size: 5 });
    expect(await (await app.get("/headers", { headers: { size: "auto" } })).json()).to.deep.equal({ size: "auto" });
    expect(await (await app.get("/capture/5")).json()).to.deep.equal({ size: 5 });
    expect(await (await app.get("/capture/auto")).json()).to.deep.equal({ size: "auto" });
    expect((await app.get("/capture/other")).status).to.equal(422);
  });

  it("is a text of its enum or a number, beside a tuple of a number and a boolean", async () => {
    const fields = await app.get("/fields?size=5&level=7&point=3&point=true");
    expect(await fields.json()).to.deep.equal({ size: 5, level: 7, point: [3, true] });
    const texts = await app.get("/fields?size=auto&level=high&point=3&point=false");
    expect(await texts.json()).to.deep.equal({ size: "auto", level: "high", point: [3, false] });
  });
});
