/** Languages over a store of sessions that responds late, or not at all: each request gets its language, and a refusal does not wait. */
import { Application, type Context, ErrorMapping, provide, Route, Routes } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { page, Pages } from "@stagecraft/framework/pages";
import { MemorySessionStore, SessionConfig, SessionStore } from "@stagecraft/framework/session";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../support/gate.js";
import { pageIn } from "../support/page-visit.js";
import { until } from "../support/until.js";

const KEY = "0123456789abcdef".repeat(8);

const languages = new Languages({
  default: "en",
  catalogs: {
    en: "hello = Hello\npage-title = Links\nproblem-not-found = Not there",
    de: "hello = Hallo\npage-title = Verweise\nproblem-not-found = Nicht gefunden",
  },
});

/** A store on another machine: a load waits for the gate. */
class LateStore extends SessionStore {
  gate: Gate | undefined = undefined;
  waiting = 0;
  private readonly inner = new MemorySessionStore();

  override async load(...args: Parameters<SessionStore["load"]>) {
    this.waiting++;
    await this.gate?.passed;
    return this.inner.load(...args);
  }

  override create(...args: Parameters<SessionStore["create"]>) {
    return this.inner.create(...args);
  }

  override update(...args: Parameters<SessionStore["update"]>) {
    return this.inner.update(...args);
  }

  override move(...args: Parameters<SessionStore["move"]>) {
    return this.inner.move(...args);
  }

  override end(...args: Parameters<SessionStore["end"]>) {
    return this.inner.end(...args);
  }

  override listOfOwner(...args: Parameters<SessionStore["listOfOwner"]>) {
    return this.inner.listOfOwner(...args);
  }

  override sweepExpired(now?: number) {
    return this.inner.sweepExpired(now);
  }
}

function start(store: LateStore) {
  const routes = new Routes([
    Route.get("/hello", async (ctx: Context) => (await languages.of(ctx)).t("hello")),
    Route.get("/twice", async (ctx: Context) => {
      const both = await Promise.all([languages.of(ctx), languages.of(ctx)]);
      return both.map(({ tag }) => tag).join();
    }),
    Route.get("/page", () => page("links/index", {})),
  ]);
  return testApp(
    Application.create()
      .provide(provide(Languages).useValue(languages))
      .routes(routes)
      .errorMapping(new ErrorMapping())
      .session(SessionConfig.dev(KEY), store)
      .pages(new Pages({ share: languages.pageProps("page-") })),
  );
}

const ENGLISH = { "Accept-Language": "en" };

describe("a session store that responds late", () => {
  it("gives each of many requests at once the language of its own session", async () => {
    const store = new LateStore();
    await using app = await start(store);
    const tags = Array.from({ length: 12 }, (_each, at) => (at % 2 === 0 ? "de" : "en"));
    const visitors = tags.map(() => app.withCookies());
    await Promise.all(visitors.map((visitor, at) => visitor.get(`/hello?lang=${tags[at] ?? ""}`)));

    store.gate = new Gate();
    store.waiting = 0;
    const responses = visitors.map((visitor) => visitor.get("/hello", { headers: ENGLISH }));
    await until(() => store.waiting === tags.length);
    store.gate.open();

    const texts = await Promise.all(responses.map(async (response) => (await response).text()));
    expect(texts).to.deep.equal(tags.map((tag) => (tag === "de" ? "Hallo" : "Hello")));
  });

  it("is asked once for two questions of one request", async () => {
    const store = new LateStore();
    await using app = await start(store);
    const visitor = app.withCookies();
    await visitor.get("/hello?lang=de");

    store.waiting = 0;
    const response = await visitor.get("/twice", { headers: ENGLISH });

    expect([await response.text(), store.waiting]).to.deep.equal(["de,de", 1]);
  });

  it("has its language in the document of a page, and in its messages", async () => {
    const store = new LateStore();
    await using app = await start(store);
    const visitor = app.withCookies();
    await visitor.get("/hello?lang=de");

    store.gate = new Gate();
    store.waiting = 0;
    const shown = visitor.get("/page", { headers: { Accept: "text/html", ...ENGLISH } });
    await until(() => store.waiting === 1);
    store.gate.open();
    const html = await (await shown).text();

    expect(html).to.include('<html lang="de" dir="ltr">');
    expect(pageIn(html).props).to.deep.include({
      locale: { tag: "de", dir: "ltr" },
      messages: "page-title = Verweise",
    });
  });

  it("does not hold a refusal up, which has the language of the header then", async () => {
    const store = new LateStore();
    await using app = await start(store);
    const visitor = app.withCookies();
    await visitor.get("/hello?lang=de");

    // The gate stays closed.
    store.gate = new Gate();
    const response = await visitor.get("/nowhere", { headers: ENGLISH });

    expect(response.headers.get("content-language")).to.equal("en");
    expect(await response.json()).to.include({ title: "Not there" });
  });

  it("stores a language that is chosen while another request of the visitor waits", async () => {
    const store = new LateStore();
    await using app = await start(store);
    const visitor = app.withCookies();
    await visitor.get("/hello?lang=en");

    store.gate = new Gate();
    store.waiting = 0;
    const waiting = visitor.get("/hello", { headers: ENGLISH });
    const chosen = visitor.get("/hello?lang=de", { headers: ENGLISH });
    await until(() => store.waiting === 2);
    store.gate.open();
    await Promise.all([waiting, chosen]);

    expect(await (await visitor.get("/hello", { headers: ENGLISH })).text()).to.equal("Hallo");
  });
});
