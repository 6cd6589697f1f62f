/** The texts of a form that is refused before its handler, in the language of the visitor: the check while it is filled in, and an expired page. */
import { Application, type Context, provide, redirect, Route, Routes, ValidationError } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { Pages, precognitive } from "@stagecraft/framework/pages";
import { CsrfConfig, Flash, SessionConfig } from "@stagecraft/framework/session";
import { type TestApp, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { inertia } from "../support/page-visit.js";

const KEY = "0123456789abcdef".repeat(8);

/** The texts of the schema are names, by which the catalogs choose among the faults with one code. */
const catalogs = {
  en: `
expired = Try again.
validation-invalid_format = { $message ->
    [slug] three letters
    [url] a URL
   *[other] { $message }
 }
`,
  de: `
expired = Bitte noch einmal.
validation-invalid_format = { $message ->
    [slug] drei Buchstaben
    [url] eine URL
   *[other] { $message }
 }
`,
};

const Form = z.object({
  slug: z.string().regex(/^[a-z]{3}$/, "slug"),
  target: z.url("url"),
  note: z.string().regex(/x/, "a text"),
});

const languages = new Languages({ catalogs, default: "en" });

function leadBack(ctx: Context) {
  return ctx.json(Form).catch((error: unknown) => {
    if (!(error instanceof ValidationError)) throw error;
    return redirect().to("/flash").withErrors(error);
  });
}

function build() {
  const routes = new Routes([
    Route.get("/choose", async (ctx: Context) => (await languages.of(ctx)).tag),
    Route.get("/errors", async (ctx: Context) => ({ errors: (await Flash.of(ctx).peek()).errors["default"] })),
    Route.get("/flash", async (ctx: Context) => (await Flash.of(ctx).peek()).messages),
    Route.post("/led-back", leadBack),
    Route.post("/form", () => "made").middleware(precognitive(Form)),
  ]);
  return Application.create()
    .provide(provide(Languages).useValue(languages))
    .routes(routes)
    .session(SessionConfig.dev(KEY))
    .pages(new Pages());
}

async function check(app: TestApp, accept: string): Promise<unknown> {
  const json = { slug: "A", target: "x", note: "y" };
  const headers = { Precognition: "true", "Accept-Language": accept };
  const problem: unknown = await (await app.post("/form", { json, headers })).json();
  return problem;
}

describe("a form that is checked while it is filled in", () => {
  it("has the messages of the catalog, which its schema names", async () => {
    await using app = await testApp(build());

    const english = { slug: ["three letters"], target: ["a URL"], note: ["a text"] };
    const german = { slug: ["drei Buchstaben"], target: ["eine URL"], note: ["a text"] };
    expect(await check(app, "en")).to.deep.include({ errors: english });
    expect(await check(app, "de")).to.deep.include({ errors: german });
  });
});

describe("a form that its handler leads back", () => {
  it("has the messages of the catalog at its fields", async () => {
    await using app = await testApp(build());
    const visitor = app.withCookies();

    await visitor.post("/led-back", {
      json: { slug: "A", target: "x", note: "y" },
      headers: { "Accept-Language": "de" },
    });
    const { errors } = (await (await visitor.get("/errors")).json()) as { readonly errors: unknown };

    expect(errors).to.deep.equal({ slug: "drei Buchstaben", target: "eine URL", note: "a text" });
  });
});

describe("a page that has expired", () => {
  const csrf = CsrfConfig.pages()
    .dev()
    .expiredMessage(async (ctx) => (await languages.of(ctx)).t("expired"));

  it("says so in the language of the session, and not in that of the header", async () => {
    await using app = await testApp(build().csrf(csrf));
    const visitor = app.withCookies();
    await visitor.get("/choose?lang=de");

    const headers = inertia({ Referer: `${app.url}/flash`, "Accept-Language": "en" });
    const refused = await visitor.post("/form", { json: {}, headers });
    const shown = await visitor.get("/flash");

    expect([refused.status, refused.headers.get("location")]).to.deep.equal([303, "/flash"]);
    expect(await shown.json()).to.deep.equal([{ level: "error", message: "Bitte noch einmal." }]);
  });

  it("is an internal error where its message cannot be written", async () => {
    const failing = csrf.expiredMessage(() => Promise.reject(new Error("no message")));
    await using app = await testApp(build().csrf(failing));

    const refused = await app.post("/form", { json: {}, headers: inertia({ Referer: `${app.url}/flash` }) });

    expect(refused.status).to.equal(500);
  });
});
