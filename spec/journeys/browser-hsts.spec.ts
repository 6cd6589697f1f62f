/** Strict-Transport-Security: a browser accepts it only over TLS, and then uses only TLS with that host. */
import { expect } from "chai";
import type { Browser, BrowserContext } from "playwright-core";
import { Application } from "../../lib/app/application.js";
import { SecurityHeaders } from "../../lib/stages/security-headers/security-headers.js";
import { Reply } from "../../lib/http/response/reply.js";
import { Route } from "../../lib/routing/route.js";
import { Routes } from "../../lib/routing/routes.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";
import { TlsFront } from "../support/tls-front.js";

const ROUTES = new Routes([Route.get("/", () => Reply.html("<!doctype html><title>page</title>"))]);
/** Browsers ignore the header for IP addresses and for localhost. */
const HOST = "shop.test";

describe("In a browser, HSTS", function () {
  this.timeout(180_000);
  let app: TestApp;
  let front: TlsFront;
  let browser: Browser;
  let profile: BrowserContext;

  before(needs("chromium"));
  before(async () => {
    front = await TlsFront.of(() => Number(new URL(app.url).port));
    browser = await launchBrowser(
      "--host-resolver-rules=MAP *.test 127.0.0.1",
      `--ignore-certificate-errors-spki-list=${front.keyHash}`,
    );
  });
  after(async () => {
    await browser?.close();
    await front?.[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await profile.close();
    await app.stop();
  });

  const open = async (headers: SecurityHeaders): Promise<void> => {
    app = await testApp(Application.create().routes(ROUTES).securityHeaders(headers));
    profile = await browser.newContext();
  };

  /** The final URL of the browser; none without TLS, because the server speaks only TLS. */
  const visit = async (address: string): Promise<string | undefined> => {
    const page = await profile.newPage();
    const response = await page.goto(address).catch(() => null);
    return response?.ok() === true ? response.url() : undefined;
  };

  it("makes the browser use TLS for the host and its subdomains", async () => {
    await open(new SecurityHeaders().withHsts());

    const before = await visit(`http://${HOST}:${front.port}/`);
    await visit(`https://${HOST}:${front.port}/`);
    const after = await visit(`http://${HOST}:${front.port}/`);
    const below = await visit(`http://img.${HOST}:${front.port}/`);

    expect(before).to.equal(undefined);
    expect(after).to.equal(`https://${HOST}:${front.port}/`);
    expect(below).to.equal(`https://img.${HOST}:${front.port}/`);
  });

  it("has no effect without the header", async () => {
    await open(new SecurityHeaders());

    const first = await visit(`https://${HOST}:${front.port}/`);
    const after = await visit(`http://${HOST}:${front.port}/`);

    expect([first, after]).to.deep.equal([`https://${HOST}:${front.port}/`, undefined]);
  });
});
