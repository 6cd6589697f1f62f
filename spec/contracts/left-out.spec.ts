/** Parts of a request that a client may leave out: the schema takes nothing, or an object without members. */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  content,
  type ContextOf,
  Controller,
  Get,
  Module,
  Post,
  provide,
  routes,
} from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { Uploads } from "@stagecraft/framework/uploads";

const Optional = z.object({ a: z.string().optional() });
const Needed = z.object({ n: z.int() });
const Found = z.object({ found: z.unknown() });

const parts = routes("parts", "/parts", {
  json: Post("/json", { body: Optional, responses: { 200: Found } }),
  whole: Post("/whole", { body: Needed.optional(), responses: { 200: Found } }),
  preset: Post("/preset", { body: Optional.default({ a: "preset" }), responses: { 200: Found } }),
  form: Post("/form", { body: content.form(Optional), responses: { 200: Found } }),
  upload: Post("/upload", {
    body: content.multipart(Optional, { photo: { optional: true } }),
    responses: { 200: Found },
  }),
  several: Post("/several", {
    body: { "application/json": Optional, "text/plain": content.text() },
    responses: { 200: Found },
  }),
  needed: Post("/needed", { body: Needed }),
  search: Get("/search", { query: Needed.optional(), responses: { 200: Found } }),
  page: Get("/page", { query: z.object({ n: z.int().default(1) }).optional(), responses: { 200: Found } }),
  must: Get("/must", { query: Needed }),
});

@Controller(parts)
class PartsController {
  @parts.json json({ input }: ContextOf<typeof parts.json>) {
    return { found: input.body };
  }
  @parts.whole whole({ input }: ContextOf<typeof parts.whole>) {
    return { found: input.body ?? "nothing" };
  }
  @parts.preset preset({ input }: ContextOf<typeof parts.preset>) {
    return { found: input.body };
  }
  @parts.form form({ input }: ContextOf<typeof parts.form>) {
    return { found: input.body };
  }
  @parts.upload upload({ input }: ContextOf<typeof parts.upload>) {
    return { found: Object.keys(input.body) };
  }
  @parts.several several({ input }: ContextOf<typeof parts.several>) {
    return { found: input.body };
  }
  @parts.needed needed() {
    return {};
  }
  @parts.search search({ input }: ContextOf<typeof parts.search>) {
    return { found: input.query ?? "nothing" };
  }
  @parts.page page({ input }: ContextOf<typeof parts.page>) {
    return { found: input.query };
  }
  @parts.must must() {
    return {};
  }
}

@Module({ controllers: [PartsController], providers: [provide(Uploads).useFactory(() => new Uploads())] })
class PartsModule {}

describe("a part of a request that is left out", () => {
  let app: TestApp;
  before(async () => {
    app = await testApp(Application.create(PartsModule));
  });
  after(() => app.stop());

  it("is an object without members, where the schema takes one: a body of each content", async () => {
    const api = app.client(parts);

    expect(await api.json()).to.deep.equal({ found: {} });
    expect(await api.form()).to.deep.equal({ found: {} });
    expect(await (await app.post("/parts/upload")).json()).to.deep.equal({ found: [] });
    expect(await (await app.post("/parts/several")).json()).to.deep.equal({ found: {} });
  });

  it("is undefined, where the schema takes it", async () => {
    const api = app.client(parts);

    expect(await api.whole()).to.deep.equal({ found: "nothing" });
    expect(await api.preset()).to.deep.equal({ found: { a: "preset" } });
    expect(await api.search()).to.deep.equal({ found: "nothing" });
  });

  it("is a query without fields as ever, where the schema takes one", async () => {
    expect(await app.client(parts).page()).to.deep.equal({ found: { n: 1 } });
  });

  it("is checked where it is not left out", async () => {
    const api = app.client(parts);

    expect(await api.whole({ body: { n: 1 } })).to.deep.equal({ found: { n: 1 } });
    expect(await api.search({ query: { n: 2 } })).to.deep.equal({ found: { n: 2 } });
    expect((await app.post("/parts/whole", { json: {} })).status).to.equal(422);
    expect((await app.get("/parts/search?m=1")).status).to.equal(422);
  });

  it("is a 415 for a body that the schema needs or that has no media type, and a 422 for a query", async () => {
    expect((await app.post("/parts/needed")).status).to.equal(415);
    expect((await app.post("/parts/json", { body: new Uint8Array([1]) })).status).to.equal(415);
    expect((await app.get("/parts/must")).status).to.equal(422);
  });
});
