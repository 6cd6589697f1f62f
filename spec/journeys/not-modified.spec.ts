/** A 304 leaves the page that a browser holds as it is: its scripts keep their nonce, and its forms keep their token. */
import {
  Application,
  Clock,
  CspNonce,
  provide,
  Reply,
  Route,
  Routes,
  SecurityHeaders,
  type Context,
} from "@stagecraft/framework";
import { CsrfConfig, CsrfToken, Session, SessionConfig } from "@stagecraft/framework/session";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";

const KEY = "5a".repeat(64);
const ETAG = '"1"';

/** The headers and the body of a handler with validators of its own. */
function cached(ctx: Context, body: () => string): unknown {
  ctx.set({ ETag: ETAG, "Cache-Control": "no-cache" });
  if (ctx.get("if-none-match") !== ETAG) return Reply.html(`<!doctype html><link rel="icon" href="data:,">${body()}`);
  ctx.status = 304;
  return undefined;
}

const routes = new Routes([
  Route.get("/", (ctx: Context) =>
    cached(
      ctx,
      () => `<form method="post" action="/act"><b></b>${CsrfToken.of(ctx).field()}<button>go</button></form>
        <script${CspNonce.of(ctx).attribute()}>document.querySelector("b").textContent = "ran"</script>`,
    ),
  ),
  Route.get("/begin", (ctx: Context) => cached(ctx, () => String(Session.of(ctx).put("cart", 1)))),
  Route.get("/read", async (ctx: Context) => {
    await Session.of(ctx).get("cart");
    return cached(ctx, () => "read");
  }),
  Route.get("/write", (ctx: Context) => {
    Session.of(ctx).put("cart", 2);
    return cached(ctx, () => "written");
  }),
  Route.get("/in", (ctx: Context) => {
    Session.of(ctx).regenerate();
    return cached(ctx, () => "in");
  }),
  Route.get("/own", (ctx: Context) => {
    ctx.cookies.set("own", "1");
    return cached(ctx, () => "own");
  }),
  Route.post("/act", () => "done"),
]);

const guarded = () =>
  Application.create()
    .securityHeaders(new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'"))
    .requestId()
    .csrf(CsrfConfig.pages().dev())
    .routes(routes);
const known = { "if-none-match": ETAG };

describe("a 304", () => {
  it("has no policy with a nonce and no token, and keeps the other headers", async () => {
    await using app = await testApp(guarded());

    const [whole, again] = [await app.get("/"), await app.get("/", { headers: known })];

    expect([whole.status, again.status]).to.deep.equal([200, 304]);
    expect(whole.headers.get("content-security-policy")).to.match(/^script-src 'nonce-.{24}'$/);
    expect(whole.headers.getSetCookie()).to.have.length(1);
    expect([again.headers.has("content-security-policy"), again.headers.getSetCookie()]).to.deep.equal([false, []]);
    expect(again.headers.get("x-frame-options")).to.equal("DENY");
    expect(again.headers.get("x-request-id")).to.match(/^[\da-f-]{36}$/);
  });

  it("has a policy without a nonce, and the cookies of the handler", async () => {
    await using app = await testApp(
      Application.create().securityHeaders(new SecurityHeaders().withCsp("default-src 'self'")).routes(routes),
    );

    const { headers } = await app.get("/own", { headers: known });

    expect(headers.get("content-security-policy")).to.equal("default-src 'self'");
    expect(headers.getSetCookie()).to.deep.equal(["own=1; path=/; httponly"]);
  });

  it("neither renews nor moves a session with a cookie, and saves its values", async () => {
    const clock = new FakeClock();
    const builder = guarded().session(SessionConfig.pages(KEY).dev());
    await using app = await testApp(builder, provide(Clock).useValue(clock));
    const visitor = app.withCookies();
    await visitor.get("/begin");
    clock.advance(120_000);

    for (const path of ["/read", "/write"]) {
      const { status, headers } = await visitor.get(path, { headers: known });
      expect([status, headers.getSetCookie()], path).to.deep.equal([304, []]);
    }
    clock.advance(120_000);
    expect((await visitor.get("/read")).headers.getSetCookie().join()).to.include("framework-id=");
    expect(app.logs.lines().filter((line) => line.includes("a 304 has no cookie"))).to.have.length(0);

    const moved = await visitor.get("/in", { headers: known });

    expect([moved.status, moved.headers.getSetCookie()]).to.deep.equal([304, []]);
    expect(app.logs.lines().filter((line) => line.includes("a 304 has no cookie"))).to.have.length(1);
  });

  describe("in Chromium", function () {
    this.timeout(180_000);
    let browser: Browser;

    before(needs("chromium"));
    before(async () => {
      browser = await launchBrowser();
    });
    after(async () => {
      await browser?.close();
    });

    it("leaves the scripts and the form of the page at work", async () => {
      await using app = await testApp(guarded().accessLog());
      const context = await browser.newContext();
      const page = await context.newPage();
      const url = app.url.replace("127.0.0.1", "localhost");

      for (let visit = 0; visit < 2; visit++) {
        await page.goto("about:blank");
        await page.goto(url);
        expect(await page.textContent("b")).to.equal("ran");
      }
      const [response] = await Promise.all([page.waitForResponse(`${url}/act`), page.click("button")]);

      expect(response.status()).to.equal(200);
      expect(app.logs.lines().join()).to.match(/GET \/ 200 .*GET \/ 304 /s);
      await context.close();
    });
  });
});
