/** The messages of pages over a real socket: hostile texts in a document, reloads of some props, and pages of errors. */
import { Application, type Context, ErrorMapping, NotFoundError, provide, Route, Routes } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { page, Pages } from "@stagecraft/framework/pages";
import { MemorySessionStore, SessionConfig } from "@stagecraft/framework/session";
import { type TestApp, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { inertia, type PageData, pageIn, partial } from "../support/page-visit.js";

const HOSTILE = "</script><script>alert(1)</script><!-- \u2028";

const languages = new Languages({
  default: "en",
  catalogs: {
    en: `page-title = ${HOSTILE}\nmail-secret = never in a page\nmail-name = Ada`,
    de: "page-title = Verweise von { mail-name }\nmail-secret = nie in einer Seite\nmail-name = Ada",
  },
});

function createBuilder() {
  const handlers: Readonly<Record<string, (ctx: Context) => unknown>> = {
    "/": () => page("links/index", { n: 1 }),
    "/missing": () => {
      throw new NotFoundError("no link 7");
    },
  };
  return Application.create()
    .provide(provide(Languages).useValue(languages))
    .errorMapping(new ErrorMapping())
    .pages(new Pages({ share: languages.pageProps("page-"), errors: { "4xx": "errors/show", "5xx": "errors/show" } }))
    .routes(new Routes(Object.entries(handlers).map(([path, handler]) => Route.get(path, handler))));
}

const document = { Accept: "text/html" };

async function readPage(app: TestApp, path: string, headers: Readonly<Record<string, string>>): Promise<PageData> {
  return (await (await app.get(path, { headers })).json()) as PageData;
}

describe("the messages of a page", () => {
  let app: TestApp;

  beforeEach(async () => {
    app = await testApp(createBuilder());
  });

  afterEach(() => app[Symbol.asyncDispose]());

  it("do not end the script that has them, and reach the browser as they are", async () => {
    const text = await (await app.get("/", { headers: document })).text();

    expect(text.match(/<\/script>/g)).to.have.length(1);
    expect(text).not.to.include("<!--");
    expect(pageIn(text).props["messages"]).to.equal(`page-title = ${HOSTILE}`);
  });

  it("are those of the prefix and what they show, and no others", async () => {
    const { props } = pageIn(await (await app.get("/?lang=de", { headers: document })).text());

    expect(props["messages"]).to.equal("page-title = Verweise von { mail-name }\nmail-name = Ada");
  });

  it("are reloaded alone, and are left out by a reload of another prop", async () => {
    const alone = await readPage(app, "/?lang=de", partial("links/index", "messages"));
    const other = await readPage(app, "/?lang=de", partial("links/index", "n"));

    expect(Object.keys(alone.props)).to.have.members(["errors", "messages"]);
    expect(Object.keys(other.props)).to.have.members(["errors", "n"]);
  });

  it("are those of the language in the page of an error", async () => {
    const response = await app.get("/missing", { headers: { ...document, "Accept-Language": "de" } });
    const text = await response.text();

    expect(response.status).to.equal(404);
    expect(response.headers.get("content-language")).to.equal("de");
    expect(response.headers.get("vary")).to.include("Accept-Language");
    expect(text).to.match(/^<!DOCTYPE html><html lang="de" dir="ltr">/);
    expect(pageIn(text).props).to.deep.include({ status: 404, locale: { tag: "de", dir: "ltr" } });
  });

  it("do not keep the error of a session store from the visitor", async () => {
    let fails = false;
    const store = new (class extends MemorySessionStore {
      override load(...args: Parameters<MemorySessionStore["load"]>) {
        if (fails) throw new Error("down");
        return super.load(...args);
      }
    })();
    await using failing = await testApp(
      createBuilder().session(new SessionConfig("0123456789abcdef".repeat(8)), store),
    );
    const visitor = failing.withCookies();
    await visitor.get("/?lang=de", { headers: document });
    fails = true;

    const visits = await Promise.all([document, inertia()].map((headers) => visitor.get("/", { headers })));

    expect(visits.map(({ status }) => status)).to.deep.equal([503, 503]);
  });
});
