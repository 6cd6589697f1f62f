/** The parts and the security that a document calls required, beside what the application takes. */
import {
  Application,
  content,
  Get,
  guard,
  Guards,
  Injectable,
  Module,
  Post,
  provide,
  Route,
  Routes,
} from "@stagecraft/framework";
import { createOpenApi, type OpenApiDocument } from "@stagecraft/framework/openapi";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { Uploads } from "@stagecraft/framework/uploads";
import { expect } from "chai";
import { z } from "zod";

const Optional = z.object({ a: z.string().optional() });
const Needed = z.object({ n: z.int() });
const text = content.text();

const bodies = {
  "/optional-members": Post("/optional-members", { body: Optional }),
  "/needed": Post("/needed", { body: Needed }),
  "/whole": Post("/whole", { body: Needed.optional() }),
  "/preset": Post("/preset", { body: Needed.default({ n: 1 }) }),
  "/form": Post("/form", { body: content.form(Optional) }),
  "/needed-form": Post("/needed-form", { body: content.form(Needed) }),
  "/files": Post("/files", { body: content.multipart(Optional, { photo: { optional: true } }) }),
  "/needed-files": Post("/needed-files", { body: content.multipart(Optional, { photo: {} }) }),
  "/undefined-texts": Post("/undefined-texts", { body: content.multipart(Needed.optional(), {}) }),
  "/text": Post("/text", { body: text }),
  "/first": Post("/first", { body: { "application/json": Optional, "text/plain": text } }),
  "/second": Post("/second", { body: { "text/plain": text, "application/json": Optional } }),
};

const queries = {
  "/search": Get("/search", { query: Needed }),
  "/whole-search": Get("/whole-search", { query: Needed.optional() }),
  "/preset-search": Get("/preset-search", { query: z.object({ n: z.int().default(1) }) }),
};

const visitor = guard<{ user: string | undefined }>("visitor", { scheme: "bearer", refusals: [] });
const session = guard("session", { scheme: "session", refusals: [401] });
const basic = guard("account", { scheme: "basic", refusals: [] });
const guarded = {
  "/visitor": Get("/visitor", { guards: [visitor] }),
  "/session": Get("/session", { guards: [session] }),
  "/both": Get("/both", { guards: [session, visitor] }),
  "/two": Get("/two", { guards: [visitor, basic] }),
};

@Injectable()
class Accounts {
  @Guards(visitor) findUser() {
    return { user: undefined };
  }
  @Guards(session) checkSession() {}
  @Guards(basic) checkAccount() {}
}

@Module({ providers: [Accounts, provide(Uploads).useFactory(() => new Uploads())] })
class Root {}

describe("a part that an OpenAPI document calls required", () => {
  let app: TestApp;
  let document: OpenApiDocument;
  before(async () => {
    const endpoints = Object.values({ ...bodies, ...queries, ...guarded }) as readonly ReturnType<typeof Get>[];
    const routes = new Routes(endpoints.map((each) => Route.of(each, () => "taken")));
    app = await testApp(Application.create(Root).routes(routes));
    document = createOpenApi(app.application, {
      securitySchemes: { session: { type: "apiKey", in: "cookie", name: "s" } },
    });
  });
  after(() => app.stop());

  for (const path of Object.keys(bodies))
    it(`is the body of ${path} where a request without one is refused`, async () => {
      const { status } = await app.request(path, { method: "POST" });
      const body: unknown = Reflect.get(Object(document.paths[path]?.["post"]), "requestBody");

      expect(status).to.be.oneOf([200, 415, 422]);
      expect(Reflect.get(Object(body), "required") ?? false).to.equal(status !== 200);
    });

  for (const path of Object.keys(queries))
    it(`is a parameter of ${path} where a request without it is refused`, async () => {
      const { status } = await app.get(path);
      const [parameter] = Reflect.get(Object(document.paths[path]?.["get"]), "parameters") as readonly object[];

      expect(status).to.be.oneOf([200, 422]);
      expect(parameter).to.include({ name: "n", required: status !== 200 });
    });

  it("is no scheme of a guard that lets visitors in: a request without it is among the alternatives", () => {
    const security = Object.keys(guarded).map((path): unknown =>
      Reflect.get(Object(document.paths[path]?.["get"]), "security"),
    );

    expect(security).to.deep.equal([
      [{ bearer: [] }, {}],
      [{ session: [] }],
      [{ bearer: [], session: [] }, { session: [] }],
      [{ bearer: [] }, { basic: [] }, {}],
    ]);
  });

  it("does not wait for a schema that needs time, whose body counts as required", () => {
    const Slow = Optional.refine(() => Promise.reject(new Error("no database")));
    const routes = new Routes([Route.of(Post("/slow", { body: Slow }), () => "")]);
    const body: unknown = Reflect.get(Object(createOpenApi(routes).paths["/slow"]?.["post"]), "requestBody");

    expect(body).to.include({ required: true });
  });
});
