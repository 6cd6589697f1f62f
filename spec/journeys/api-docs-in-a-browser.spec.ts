/** The page of the API document in a browser: no violation of its policy, no request elsewhere, on a desk and a telephone, light and dark. */
import { expect } from "chai";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { z } from "zod";
import { Application } from "../../lib/app/application.js";
import { Guards } from "../../lib/contracts/guards.js";
import { Module } from "../../lib/di/module.js";
import { provide } from "../../lib/di/provide.js";
import { content } from "../../lib/endpoints/content.js";
import { Get, Post } from "../../lib/endpoints/endpoint.js";
import { routes } from "../../lib/endpoints/endpoint-table.js";
import { guard } from "../../lib/endpoints/guard.js";
import { Reply } from "../../lib/http/response/reply.js";
import { Route } from "../../lib/routing/route.js";
import { Routes } from "../../lib/routing/routes.js";
import { CsrfConfig } from "../../lib/stages/csrf/csrf-config.js";
import { SecurityHeaders } from "../../lib/stages/security-headers/security-headers.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { Uploads } from "../../lib/uploads/uploads.js";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";

const HOSTILE = "</script><!--<script>window.stolen = 1</script> <img src=x onerror='window.stolen = 1'>";

const Note = z.object({ id: z.int(), text: z.string().default(HOSTILE) }).meta({ id: "Note", description: HOSTILE });
const signedIn = guard("signed-in", { scheme: "bearer" });

const notes = routes("notes", "/notes", {
  index: Get("/", { query: z.object({ page: z.int().default(1) }), responses: { 200: z.array(Note) } }),
  store: Post("/", { guards: [signedIn], body: Note, responses: { 201: Note } }),
  old: Get("/old", { responses: { 204: content.none() }, deprecated: true, sunset: "2027-06-30" }),
  draw: Post("/draw", {
    body: content.multipart(z.object({ title: z.string() }), { photo: {} }),
    responses: { 204: content.none() },
  }),
});

class Accounts {
  @Guards(signedIn) check() {}
}

@Module({ providers: [Accounts, provide(Uploads).useFactory(() => new Uploads())] })
class Root {}

const DESK = { width: 1280, height: 900 };
const TELEPHONE = { width: 390, height: 844 };

describe("In a browser, the page of the API document", function () {
  this.timeout(240_000);
  let browser: Browser;
  let app: TestApp;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
    const handlers = [
      Route.of(notes.index, () => [{ id: 7, text: "green tea" }]),
      Route.of(notes.store, () => Reply.json({ id: 8, text: "tea" }, 201)),
      Route.of(notes.draw, () => Reply.noContent()),
      Route.of(notes.old, () => Reply.noContent()),
    ];
    app = await testApp(
      Application.create(Root)
        .routes(new Routes(handlers))
        .securityHeaders(new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'"))
        .apiDocs({ info: { title: `Notes ${HOSTILE}`, description: HOSTILE } }),
    );
  });
  after(async () => {
    await browser?.close();
    await app?.stop();
  });

  for (const [name, viewport] of [["a desk", DESK] as const, ["a telephone", TELEPHONE] as const])
    for (const colorScheme of ["light", "dark"] as const)
      it(`works on ${name} in ${colorScheme} colours`, async () => {
        const { page, faults, origins } = await openPage({ viewport, colorScheme });
        await page.goto(`${app.url}/docs`);
        await page.waitForSelector(".opblock");

        await useEverything(page);

        expect(await page.locator(".live-responses-table .highlight-code").first().textContent()).to.include(
          "green tea",
        );
        expect(await page.evaluate(() => Reflect.get(window, "stolen"))).to.equal(undefined);
        expect(faults).to.deep.equal([]);
        expect([...origins]).to.deep.equal([app.url]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(viewport.width);
        expect(await page.evaluate(findLuminance)).to.be[colorScheme === "dark" ? "below" : "above"](128);
      });

  it("sends no request to another origin, even where its document names another server", async () => {
    const { page, origins } = await openPage({});
    await page.route("**/openapi.json", async (route) => {
      const response = await route.fetch();
      const document = (await response.json()) as object;
      await route.fulfill({ json: { ...document, servers: [{ url: "http://127.0.0.1:1/elsewhere" }] } });
    });
    await page.goto(`${app.url}/docs`);
    await page.waitForSelector(".opblock");

    await tryOperation(page, "get");

    expect(await page.locator(".live-responses-table").textContent()).to.include("Failed to fetch");
    expect([...origins]).to.deep.equal([app.url]);
  });

  it("shows the sunset of a deprecated operation, and its method in legible colours", async () => {
    const { page } = await openPage({ viewport: DESK });
    await page.goto(`${app.url}/docs`);
    const operation = page.locator(".opblock-deprecated");
    await operation.locator(".opblock-summary-control").click();
    await operation.locator(".responses-wrapper").waitFor();

    expect(await operation.textContent())
      .to.include("x-sunset")
      .and.to.include("2027-06-30");
    const method = operation.locator(".opblock-summary-method");
    const style = (name: "backgroundColor" | "color") =>
      method.evaluate((element, property) => getComputedStyle(element)[property], name);
    expect([await style("backgroundColor"), await style("color")]).to.deep.equal([
      "rgb(89, 89, 89)",
      "rgb(255, 255, 255)",
    ]);
    await page.context().close();
  });

  it("shows its own document, whatever the query of the page names", async () => {
    const { page, origins } = await openPage({});
    const paths: string[] = [];
    page.on("request", (request) => paths.push(new URL(request.url()).pathname));
    const names = ["url", "urls.primaryName", "configUrl", "spec"];
    const query = new URLSearchParams(names.map((name) => [name, `${app.url}/notes`]));
    await page.goto(`${app.url}/docs?${query.toString()}`);
    await page.waitForSelector(".opblock");

    expect(await page.locator(".info .title").textContent()).to.include("Notes");
    expect(paths).to.include("/openapi.json").and.not.include("/notes");
    expect([...origins]).to.deep.equal([app.url]);
  });

  it("sends the token of the CSRF stage with a request that is tried, and shows it nowhere", async () => {
    const store = Post("/notes", { body: z.object({ text: z.string() }), responses: { 201: z.string() } });
    await using guarded = await testApp(
      Application.create()
        .csrf(CsrfConfig.pages().dev())
        .routes(new Routes([Route.of(store, () => Reply.json("stored", 201))]))
        .apiDocs(),
    );
    const { page, faults } = await openPage({});
    const tokens: (string | undefined)[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") tokens.push(request.headers()["x-xsrf-token"]);
    });
    await page.goto(`${guarded.url}/docs`);
    await page.waitForSelector(".opblock");

    await tryOperation(page, "post");

    const [cookie] = await page.context().cookies(guarded.url);
    const shown = await page.locator("body").textContent();
    expect(await page.locator(".live-responses-table .response .response-col_status").first().textContent()).to.equal(
      "201",
    );
    expect(tokens).to.deep.equal([cookie?.value]);
    expect(shown)
      .to.include("curl")
      .and.not.include(cookie?.value ?? expect.fail("no cookie"));
    expect(faults).to.deep.equal([]);
  });

  /** A new page that records violations of the policy, errors, and the origins of requests. */
  async function openPage(options: BrowserContextOptions) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const faults: string[] = [];
    const origins = new Set<string>();
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (message) => {
      if (message.type() === "error") faults.push(message.text());
    });
    page.on("request", (request) => {
      if (request.url().startsWith("http")) origins.add(new URL(request.url()).origin);
    });
    return { page, faults, origins };
  }
});

/** Opens every part of the page. */
async function useEverything(page: Page): Promise<void> {
  await tryOperation(page, "get");
  for (const operation of await page.locator(".opblock-post .opblock-summary-control").all()) await operation.click();
  for (const schema of await page.locator(".models .json-schema-2020-12-accordion").all()) await schema.click();
  await page.click(".authorize.btn");
  await page.fill(".auth-container input", "a token");
  await page.click(".auth-container .authorize");
  await page.click(".auth-container .btn-done");
}

async function tryOperation(page: Page, method: "get" | "post"): Promise<void> {
  await page.click(`.opblock-${method} .opblock-summary-control`);
  await page.click(".try-out__btn");
  await page.click(".execute");
  await page.waitForSelector(".live-responses-table");
}

/** Of the background, between 0 and 255. */
function findLuminance(): number {
  const painted = [document.body, document.documentElement].map((element) => getComputedStyle(element).backgroundColor);
  const colour = painted.find((each) => each !== "rgba(0, 0, 0, 0)") ?? "rgb(255, 255, 255)";
  const parts = (colour.match(/\d+/g) ?? []).map(Number);
  return parts.slice(0, 3).reduce((sum, part) => sum + part, 0) / 3;
}
