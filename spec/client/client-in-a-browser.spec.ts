/** The typed client in Chromium, bundled for it, against an application on the same origin. */

import { expect } from "chai";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { z } from "zod";
import {
  Application,
  content,
  type ContextOf,
  Controller,
  Get,
  Module,
  NotFoundError,
  Post,
  prefix,
  Query,
  redirect,
  Reply,
  routes,
} from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";
import { ROOT } from "../support/sources.js";

const Link = z.object({ id: z.int(), url: z.string() });

const links = routes("links", "/links", {
  page: Get("/page"),
  script: Get("/script"),
  index: Get("/", { query: z.object({ page: z.int().optional() }) }),
  store: Post("/", { body: Link, responses: { 201: Link } }),
  show: Get("/{id}", { params: { id: z.int() }, responses: { 200: Link } }),
  move: Post("/move", { responses: { 303: content.redirect() } }),
  lines: Get("/live/lines", { responses: { 200: content.jsonLines(Link) } }),
});

const search = prefix(
  "/v1",
  routes("search", "/search", { find: Query("/", { body: z.object({ word: z.string() }), responses: { 200: Link } }) }),
);

/** What the page does: the same table without its schemas, which a browser does not need. */
const SCRIPT = `
  import { client, ClientProblem, content, Get, Post, prefix, Query, routes } from "@stagecraft/framework/routes";
  const any = { "~standard": { version: 1, vendor: "none", validate: (value) => ({ value }) } };
  const links = routes("links", "/links", {
    index: Get("/", { query: any }),
    store: Post("/", { body: any, responses: { 201: any } }),
    show: Get("/{id}", { params: { id: any }, responses: { 200: any } }),
    move: Post("/move", { responses: { 303: content.redirect() } }),
    lines: Get("/live/lines", { responses: { 200: { kind: "json-lines" } } }),
  });
  const search = prefix("/v1", routes("search", "/search", { find: Query("/", { body: any, responses: { 200: any } }) }));
  globalThis.find = (origin) => client(search, { origin }).find({ body: { word: "tea" } });
  const api = client(links, { origin: "" });
  globalThis.visit = async () => {
    const lines = [];
    for await (const line of await api.lines()) lines.push(line.id);
    const thrown = await api.show({ params: { id: 404 } }).catch((error) => error);
    const abort = new AbortController();
    abort.abort();
    const aborted = await api.index({ signal: abort.signal }).catch((error) => error);
    const moved = await api.move.result();
    return {
      index: await api.index({ query: { page: 2 } }),
      stored: await api.store({ body: { id: 7, url: "ä" } }),
      missing: [thrown instanceof ClientProblem, thrown.status, thrown.problem.detail],
      aborted: aborted.name,
      moved: moved.status,
      lines,
    };
  };`;

let script = "";

@Controller(links)
class LinksController {
  @links.page page() {
    return Reply.html(`<!doctype html><title>page</title><script type="module" src="/links/script"></script>`);
  }
  @links.script script() {
    return Reply.text(script).header("Content-Type", "text/javascript");
  }
  @links.index index({ input }: ContextOf<typeof links.index>) {
    return input.query;
  }
  @links.store store({ input }: ContextOf<typeof links.store>) {
    return input.body;
  }
  @links.show show({ params }: ContextOf<typeof links.show>): z.infer<typeof Link> {
    throw new NotFoundError(`no link ${params.id}`);
  }
  @links.move move() {
    return redirect().to("/links");
  }
  @links.lines async *lines() {
    for (const id of [1, 2]) yield await Promise.resolve({ id, url: "" });
  }
}

@Controller(search)
class SearchController {
  @search.find find({ input, method }: ContextOf<typeof search.find>) {
    return { id: 1, url: `${method} ${input.body.word}` };
  }
}

@Module({ controllers: [LinksController, SearchController] })
class App {}

describe("The typed client in a browser", function () {
  this.timeout(180_000);
  let browser: Browser;
  let app: TestApp;

  before(needs("chromium"));
  before(async () => {
    const { outputFiles } = await build({
      stdin: { contents: SCRIPT, resolveDir: ROOT },
      bundle: true,
      format: "esm",
      platform: "browser",
      write: false,
      logLevel: "silent",
    });
    script = outputFiles[0]?.text ?? "";
    browser = await launchBrowser();
    app = await testApp(Application.create(App).errorMapping());
  });
  after(async () => {
    await browser?.close();
    await app?.stop();
  });

  it("calls endpoints, and gives problems, redirects and streams", async () => {
    const page = await browser.newPage();
    await page.goto(`${app.url}/links/page`);
    await page.waitForFunction("globalThis.visit !== undefined");

    expect(await page.evaluate("globalThis.visit()")).to.deep.equal({
      index: { page: 2 },
      stored: { id: 7, url: "ä" },
      missing: [true, 404, "no link 404"],
      aborted: "AbortError",
      moved: 303,
      lines: [1, 2],
    });
  });

  it("sends QUERY with its body, to another origin after a preflight", async () => {
    await using other = await testApp(Application.create(App).cors({ origins: [app.url] }));
    await using closed = await testApp(Application.create(App).cors({ origins: [app.url], methods: ["GET"] }));
    const page = await browser.newPage();
    await page.goto(`${app.url}/links/page`);
    await page.waitForFunction("globalThis.visit !== undefined");
    const find = (origin: string): Promise<unknown> =>
      page.evaluate(`globalThis.find(${JSON.stringify(origin)}).catch((error) => error.name)`);

    expect(await find("")).to.deep.equal({ id: 1, url: "QUERY tea" });
    expect(await find(other.url)).to.deep.equal({ id: 1, url: "QUERY tea" });
    expect(await find(closed.url)).to.equal("TypeError");
  });
});
