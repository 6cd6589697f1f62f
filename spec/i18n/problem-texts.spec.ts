/** Problems in the language of the client over a real socket: what changes with it, what stays, and what caches may do with them. */
import {
  Application,
  type Context,
  ErrorMapping,
  NotFoundError,
  Problem,
  provide,
  Reply,
  Route,
  Routes,
} from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { MemorySessionStore, SessionConfig } from "@stagecraft/framework/session";
import { type TestApp, testApp } from "@stagecraft/framework/testing";
import { type } from "arktype";
import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";

const languages = new Languages({
  default: "en",
  catalogs: {
    en: "hello = Hello",
    de: [
      "hello = Hallo",
      "problem-not-found = Nicht gefunden",
      "problem-internal = Fehler",
      "    .detail = Das tut uns leid. { $detail }",
      "problem-conflict = Konflikt",
      "problem-unavailable = Nicht erreichbar",
      "problem-418 = Teekanne",
      "validation-too_small = Zu kurz.",
      "validation-minLength = Zu kurz, sagt ArkType.",
      "validation-invalid = Ungültig: { $message }",
    ].join("\n"),
  },
});

const handlers: Readonly<Record<string, (ctx: Context) => unknown>> = {
  "/hello": async (ctx) => (await languages.of(ctx)).t("hello"),
  "/missing": () => {
    throw new NotFoundError("no link 7");
  },
  "/broken": () => {
    throw new Error("secret");
  },
  "/tea": (ctx) => ctx.throw(418, "short and stout"),
  "/returned": () => Reply.problem(Problem.of(409, "taken")),
  "/zod": (ctx) => ctx.json(z.object({ title: z.string().min(3) })),
  "/arktype": (ctx) => ctx.json(type({ title: "string>=3" })),
  "/valibot": (ctx) => ctx.json(v.object({ title: v.pipe(v.string(), v.minLength(3, "at least 3")) })),
};

function createBuilder() {
  return Application.create()
    .provide(provide(Languages).useValue(languages))
    .errorMapping(new ErrorMapping())
    .routes(new Routes(Object.entries(handlers).map(([path, handler]) => Route.any(path, handler))));
}

const accepting = (tag: string) => ({ headers: { "Accept-Language": tag } });

let app: TestApp;

beforeEach(async () => {
  app = await testApp(createBuilder());
});

afterEach(() => app[Symbol.asyncDispose]());

describe("a problem with a text in one of the languages", () => {
  it("varies by the header for the clients of each language, so that no cache sends it to all of them", async () => {
    for (const tag of ["de", "en", "fr", ""]) {
      const response = await app.get("/missing", accepting(tag));

      expect(response.headers.get("vary")).to.equal("Accept-Language");
      expect(response.headers.get("content-language")).to.equal(tag === "de" ? "de" : null);
    }
  });

  it("does not vary where no language has a text of it", async () => {
    const response = await app.post("/zod", { ...accepting("de"), body: "{}" });

    expect(response.status).to.equal(415);
    expect(response.headers.get("vary")).to.equal(null);
  });

  const rows: readonly (readonly [path: string, expected: object])[] = [
    [
      "/missing",
      { type: "urn:framework:problem:not-found", status: 404, detail: "no link 7", title: "Nicht gefunden" },
    ],
    ["/nowhere", { type: "urn:framework:problem:not-found", status: 404, title: "Nicht gefunden" }],
    ["/broken", { type: "urn:framework:problem:internal", status: 500, title: "Fehler", detail: "Das tut uns leid. " }],
    ["/tea", { type: "about:blank", status: 418, detail: "short and stout", title: "Teekanne" }],
  ];
  for (const [path, expected] of rows) {
    it(`has other texts alone: ${path} has its type, status and media type`, async () => {
      const response = await app.get(path, accepting("de"));

      expect(response.headers.get("content-type")).to.equal("application/problem+json");
      expect(response.headers.get("content-language")).to.equal("de");
      expect(await response.json()).to.deep.equal(expected);
    });
  }

  it("has the same headers for HEAD, and no body", async () => {
    const response = await app.head("/missing", accepting("de"));

    expect(response.headers.get("content-language")).to.equal("de");
    expect(response.headers.get("vary")).to.equal("Accept-Language");
    expect(await response.text()).to.equal("");
  });

  it("that a handler returns has the texts of the handler", async () => {
    const response = await app.get("/returned", accepting("de"));

    expect(await response.json()).to.include({ title: "Request conflicts with current state", detail: "taken" });
    expect(response.headers.get("content-language")).to.equal(null);
  });

  it("is that of a session store that fails, in the language of the header", async () => {
    let fails = false;
    const store = new (class extends MemorySessionStore {
      override load(...args: Parameters<MemorySessionStore["load"]>) {
        if (fails) throw new Error("down");
        return super.load(...args);
      }
    })();
    const builder = createBuilder().session(new SessionConfig("0123456789abcdef".repeat(8)), store);
    await using failing = await testApp(builder);
    const visitor = failing.withCookies();
    await visitor.get("/hello?lang=en");
    fails = true;

    const response = await visitor.get("/hello", accepting("de"));

    expect(response.status).to.equal(503);
    expect(await response.json()).to.include({ title: "Nicht erreichbar" });
  });
});

describe("the fault of a field", () => {
  const rows: readonly (readonly [library: string, fault: object])[] = [
    ["zod", { code: "too_small", message: "Zu kurz." }],
    ["arktype", { code: "minLength", message: "Zu kurz, sagt ArkType." }],
    ["valibot", { code: "invalid", message: "Ungültig: at least 3" }],
  ];
  for (const [library, fault] of rows) {
    it(`has the message of its code, by ${library}`, async () => {
      const response = await app.post(`/${library}`, { json: { title: "x" }, ...accepting("de") });

      expect(response.status).to.equal(422);
      expect(response.headers.get("content-language")).to.equal("de");
      expect(await response.json()).to.deep.include({ errors: { title: [fault] } });
    });
  }

  it("has the message of its schema in a language without texts, and varies too", async () => {
    const response = await app.post("/valibot", { json: { title: "x" }, ...accepting("en") });

    expect(response.headers.get("vary")).to.equal("Accept-Language");
    expect(await response.json()).to.deep.include({ errors: { title: [{ code: "invalid", message: "at least 3" }] } });
  });
});
