import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { Application } from "../../lib/app/application.js";
import { CspNonce } from "../../lib/stages/security-headers/csp-nonce.js";
import { SecurityHeaders } from "../../lib/stages/security-headers/security-headers.js";
import type { Context } from "../../lib/http/request/context.js";
import { Reply } from "../../lib/http/response/reply.js";
import { Route } from "../../lib/routing/route.js";
import { Routes } from "../../lib/routing/routes.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";

const ROUTES = new Routes([
  Route.get("/page", (ctx) =>
    Reply.html(`<!doctype html><p id="said">nothing</p>
      <script${CspNonce.find(ctx)?.attribute() ?? ""}>document.body.dataset.nonced = "ran"</script>
      <script>document.body.dataset.bare = "ran"</script>
      <script nonce="AAAAAAAAAAAAAAAAAAAAAAAA">document.body.dataset.guessed = "ran"</script>
      <p onclick="document.body.dataset.handler = 'ran'">click</p>`),
  ),
  Route.get("/stolen", (ctx: Context) =>
    Reply.html(
      `<!doctype html><body><script nonce="${ctx.get("x-old-nonce")}">document.body.dataset.old = "ran"</script>`,
    ),
  ),
  Route.get("/framing", () =>
    Reply.html(`<!doctype html><iframe src="/page" onload="document.title = 'loaded'"></iframe>`),
  ),
  Route.get("/sniffing", () => Reply.html(`<!doctype html><body><script src="/text"></script>`)),
  Route.get("/script.js", () => Reply.of("document.body.dataset.fetched = 'ran'", "text/javascript")),
  Route.get("/text", () => Reply.text("document.body.dataset.sniffed = 'ran'")),
]);

describe("In a browser, the security headers", function () {
  this.timeout(180_000);
  let browser: Browser;
  let page: Page;
  let app: TestApp;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
    // One page for all tests, because a page of a new profile is a new process.
    page = await browser.newPage();
  });
  after(() => browser?.close());

  const open = async (headers: SecurityHeaders): Promise<void> => {
    app = await testApp(Application.create().routes(ROUTES).securityHeaders(headers));
  };
  afterEach(async () => {
    await page.setExtraHTTPHeaders({});
    await page.goto("about:blank");
    await app.stop();
  });

  it("let a script with the nonce run, and no other", async () => {
    await open(new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'"));

    await page.goto(`${app.url}/page`);
    await page.click("text=click");

    expect(await marksOf(page)).to.deep.equal({ nonced: "ran" });
  });

  it("let every script run without a policy, which shows that the policy stops the others", async () => {
    await open(new SecurityHeaders());

    await page.goto(`${app.url}/page`);
    await page.click("text=click");

    const ran = { nonced: "ran", bare: "ran", guessed: "ran", handler: "ran" };
    expect(await marksOf(page)).to.deep.equal(ran);
  });

  it("let a policy without a nonce decide which scripts run", async () => {
    await open(new SecurityHeaders().withCsp("script-src 'self'"));

    await page.goto(`${app.url}/page`);
    await page.click("text=click");
    const inline = await marksOf(page);
    await page.addScriptTag({ url: "/script.js" });

    expect(inline).to.deep.equal({});
    expect(await marksOf(page)).to.deep.equal({ fetched: "ran" });
  });

  it("make the nonce of another response invalid", async () => {
    await open(new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'"));
    const policy = (await page.goto(`${app.url}/page`))?.headers()["content-security-policy"] ?? "";
    const [, old = ""] = /'nonce-([^']+)'/.exec(policy) ?? [];

    await page.setExtraHTTPHeaders({ "x-old-nonce": old });
    await page.goto(`${app.url}/stolen`);

    expect(old).to.have.length(24);
    expect(await marksOf(page)).to.deep.equal({});
  });

  it("are on the response, HSTS too", async () => {
    await open(new SecurityHeaders().withHsts().withCsp("default-src 'self'"));

    const response = await page.goto(`${app.url}/text`);

    expect(response?.headers()).to.include({
      "strict-transport-security": "max-age=31536000; includeSubDomains",
      "content-security-policy": "default-src 'self'",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "strict-origin-when-cross-origin",
    });
  });

  it("keep the page out of frames", async () => {
    await open(new SecurityHeaders().withCsp("script-src 'unsafe-inline'"));

    await page.goto(`${app.url}/framing`);
    await page.waitForFunction(() => document.title === "loaded");

    const [, frame] = page.frames();
    // The error may be in another process than the page.
    await frame?.waitForURL(/^chrome-error:/);
    expect(frame?.url()).to.match(/^chrome-error:/);
  });

  it("stop a text from running as a script", async () => {
    await open(new SecurityHeaders());

    await page.goto(`${app.url}/sniffing`);

    expect(await marksOf(page)).to.deep.equal({});
  });
});

/** The marks of the page's scripts on its body. */
function marksOf(page: Page): Promise<Record<string, string | undefined>> {
  return page.evaluate(() => Object.fromEntries(Object.entries(document.body.dataset)));
}
