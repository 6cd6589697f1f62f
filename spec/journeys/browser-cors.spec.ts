import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { Application } from "../../lib/app/application.js";
import { NotFoundError } from "../../lib/errors/framework-error.js";
import type { CorsOptions } from "../../lib/stages/cors/cors-options.js";
import { ProxyAction } from "../../lib/stages/proxy.js";
import { Reply } from "../../lib/http/response/reply.js";
import { Route } from "../../lib/routing/route.js";
import { Routes } from "../../lib/routing/routes.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";

const PAGES = new Routes([Route.get("/", () => Reply.html("<!doctype html><title>page</title>"))]);

const API = new Routes([
  Route.get("/data", () => Reply.text("data").header("X-Total", "7")),
  Route.put("/data", () => "stored"),
  Route.delete("/data", () => "deleted"),
  Route.get("/missing", () => Promise.reject(new NotFoundError("no such thing"))),
  Route.get("/broken", () => Promise.reject(new Error("boom"))),
  Route.get("/large", () => "the same again, ".repeat(1000)),
  Route.get("/kept", () => Reply.text("kept").header("Cache-Control", "max-age=60")),
  Route.get("/cookie", (ctx) => ctx.get("cookie")),
]);

/** The options of `fetch` that this spec uses. */
interface Init {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly credentials?: "include";
}

interface Seen {
  readonly status?: number;
  readonly text?: string;
  readonly total?: string | null;
  readonly refused?: true;
}

describe("In a browser, CORS", function () {
  this.timeout(180_000);
  let browser: Browser;
  let pages: TestApp;
  let api: TestApp;
  let page: Page;
  /** The methods of the received requests. */
  const asked: string[] = [];

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
    // One page for all tests, because a page of a new profile is a new process.
    page = await browser.newPage();
    pages = await testApp(Application.create().routes(PAGES));
  });
  after(async () => {
    await pages?.stop();
    await browser?.close();
  });
  afterEach(async () => {
    await page.goto("about:blank");
    await page.context().clearCookies();
    await api.stop();
  });

  /** A page of another origin: another port, and another host by the second name of the machine. */
  const open = async (options: Partial<CorsOptions> = {}, origin = pages.url): Promise<void> => {
    const cors = { origins: [pages.url], ...options };
    const builder = Application.create().routes(API).cors(cors).compression().errorMapping();
    api = await testApp(builder.proxy(({ method }) => (asked.push(method), ProxyAction.continue())));
    await page.goto(`${origin}/`);
  };

  const ask = (path: string, init: Init = {}): Promise<Seen> =>
    page.evaluate(
      async ([url, options]): Promise<Seen> => {
        try {
          const response = await fetch(url, options);
          return { status: response.status, text: await response.text(), total: response.headers.get("x-total") };
        } catch {
          return { refused: true };
        }
      },
      [api.url + path, init] as const,
    );

  it("lets a page of an allowed origin read", async () => {
    await open();

    expect(await ask("/data")).to.deep.equal({ status: 200, text: "data", total: null });
  });

  it("lets no page of another origin read", async () => {
    await open({}, pages.url.replace("127.0.0.1", "localhost"));

    expect(await ask("/data")).to.deep.equal({ refused: true });
  });

  it("lets every page read where origins is *", async () => {
    await open({ origins: "*" }, pages.url.replace("127.0.0.1", "localhost"));

    expect(await ask("/data")).to.include({ text: "data" });
  });

  it("lets a page read the exposed headers", async () => {
    await open({ exposeHeaders: ["X-Total"] });

    expect(await ask("/data")).to.include({ total: "7" });
  });

  it("lets a page read errors, unhandled ones too", async () => {
    await open();

    const [missing, broken] = [await ask("/missing"), await ask("/broken")];

    expect([missing.status, broken.status]).to.deep.equal([404, 500]);
    expect(missing.text).to.contain("no such thing");
  });

  it("lets a page read a compressed response", async () => {
    await open();

    expect((await ask("/large")).text).to.equal("the same again, ".repeat(1000));
  });

  it("lets a page send a method and headers that the preflight allows", async () => {
    await open();

    expect(await ask("/data", { method: "PUT", headers: { "x-token": "7" } })).to.include({ text: "stored" });
  });

  it("lets no page send a method that is not allowed", async () => {
    await open({ methods: ["GET", "PUT"] });

    expect(await ask("/data", { method: "DELETE" })).to.deep.equal({ refused: true });
  });

  it("lets no page send a header that is not allowed", async () => {
    await open({ allowHeaders: ["x-other"] });

    expect(await ask("/data", { method: "PUT", headers: { "x-token": "7" } })).to.deep.equal({ refused: true });
  });

  it("lets no page of another origin send a request that needs a preflight", async () => {
    await open({}, pages.url.replace("127.0.0.1", "localhost"));

    expect(await ask("/data", { method: "PUT" })).to.deep.equal({ refused: true });
  });

  for (const [what, maxAge, preflights] of [
    ["once while it may cache the response", 600, 1],
    ["every time where it may not", 0, 2],
  ] as const) {
    it(`makes the browser send a preflight ${what}`, async () => {
      asked.length = 0;
      await open({ maxAge });

      for (let time = 0; time < 2; time++) await ask("/data", { method: "PUT" });

      expect(asked.filter((method) => method === "OPTIONS")).to.have.length(preflights);
      expect(asked.filter((method) => method === "PUT")).to.have.length(2);
    });
  }

  it("hides a response that the browser cached for one origin from a page of another origin", async () => {
    await using others = await testApp(Application.create().routes(PAGES));
    asked.length = 0;
    await open({ origins: [pages.url, others.url] });

    const seen = [await ask("/kept"), await ask("/kept")];
    await page.goto(`${others.url}/`);
    seen.push(await ask("/kept"));

    expect(seen.map(({ text }) => text)).to.deep.equal(["kept", "kept", "kept"]);
    // The browser uses the cached first response.
    expect(asked).to.deep.equal(["GET", "GET"]);
  });

  it("lets requests carry cookies with credentials, and lets no page read the response without", async () => {
    await open({ credentials: true });
    await page.context().addCookies([{ name: "a", value: "1", url: api.url }]);
    const allowed = await ask("/cookie", { credentials: "include" });
    await api.stop();

    await open();
    const refused = await ask("/cookie", { credentials: "include" });

    expect(allowed).to.include({ text: "a=1" });
    expect(refused).to.deep.equal({ refused: true });
  });
});
