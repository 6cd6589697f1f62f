import { AppConfig, Application, Clock, provide, Route, Routes, type Context } from "@stagecraft/framework";
import { CsrfConfig, CsrfToken, Flash, Session, SessionConfig } from "@stagecraft/framework/session";
import { context, expectProblem, FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { obeysLayerContract } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { Readable } from "node:stream";

const KEY = "5a".repeat(64);
const OTHER = "0".repeat(64);

const routes = () =>
  new Routes([
    Route.get("/", () => "page"),
    Route.get("/public-form", (ctx: Context) => {
      ctx.set("Cache-Control", "public, max-age=60");
      return CsrfToken.of(ctx).masked();
    }),
    Route.get("/form", (ctx: Context) => CsrfToken.of(ctx).masked()),
    Route.get("/field", (ctx: Context) => CsrfToken.of(ctx).field()),
    Route.get("/begin", (ctx: Context) => {
      Session.of(ctx).put("cart", 1);
      return CsrfToken.of(ctx).masked();
    }),
    Route.get("/begin-late", (ctx: Context) => {
      const form = CsrfToken.of(ctx).masked();
      Session.of(ctx).put("cart", 1);
      return form;
    }),
    Route.get("/public", (ctx: Context) => {
      ctx.set("Cache-Control", "public, max-age=60");
      return "for all";
    }),
    Route.get("/flash", async (ctx: Context) => (await Flash.of(ctx).take()).messages),
    Route.any("/act", () => "done"),
    Route.post("/put", (ctx: Context) => Session.of(ctx).put("cart", 2)),
    Route.post("/login", (ctx: Context) => {
      Session.of(ctx).regenerate();
      Session.of(ctx).put("user", 7);
    }),
    Route.post("/logout", (ctx: Context) => Session.of(ctx).flush()),
    Route.post("/form", async (ctx: Context) => ctx.form()),
  ]);

const alone = (config = new CsrfConfig()) => testApp(Application.create().csrf(config).routes(routes()));
const withSession = (config = new CsrfConfig(), clock: Clock = new FakeClock()) =>
  testApp(
    Application.create().session(SessionConfig.pages(KEY)).csrf(config).routes(routes()),
    provide(Clock).useValue(clock),
  );

/** The cookies of an answer by name. */
function cookiesOf(response: Response): Readonly<Record<string, string>> {
  const pairs = response.headers.getSetCookie().map((line) => line.split(";")[0]?.split("=") ?? []);
  return Object.fromEntries(pairs) as Record<string, string>;
}

function header(cookies: Readonly<Record<string, string>>): string {
  return Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join("; ");
}

/** Another hexadecimal digit. */
const changed = (digit: string) => (digit === "0" ? "1" : "0");

async function tokenOf(app: TestApp, name = "__Host-csrf"): Promise<string> {
  return cookiesOf(await app.get("/"))[name] ?? "";
}

/** A visitor with a session. */
async function visitor(app: TestApp) {
  const cookies = cookiesOf(await app.get("/begin"));
  return { cookies, token: cookies["__Host-csrf"] ?? "" };
}

describe("CSRF protection", () => {
  it("has the cookies and headers of its presets", async () => {
    const table: readonly [CsrfConfig, string, RegExp][] = [
      [new CsrfConfig(), "x-csrf-token", /^__Host-csrf=[\da-f]{64}; Path=\/; Secure; SameSite=Strict$/],
      [CsrfConfig.dev(), "x-csrf-token", /^framework-csrf=[\da-f]{64}; Path=\/; SameSite=Strict$/],
      [CsrfConfig.pages(), "x-xsrf-token", /^XSRF-TOKEN=[\da-f]{64}; Path=\/; Secure; SameSite=Lax$/],
      [CsrfConfig.pages().dev(), "x-xsrf-token", /^XSRF-TOKEN=[\da-f]{64}; Path=\/; SameSite=Lax$/],
      [new CsrfConfig().dev(), "x-csrf-token", /^framework-csrf=[\da-f]{64}; Path=\/; SameSite=Strict$/],
      [
        new CsrfConfig().cookie("mine").secure(false).header("X-Mine"),
        "x-mine",
        /^mine=[\da-f]{64}; Path=\/; SameSite=Strict$/,
      ],
    ];
    for (const [config, name, line] of table) {
      await using app = await alone(config);
      const [cookie = ""] = (await app.get("/")).headers.getSetCookie();
      expect(cookie).to.match(line);
      const [pair = ""] = cookie.split(";");
      const headers = { cookie: pair, [name]: pair.slice(-64) };
      expect(await (await app.post("/act", { headers })).text()).to.equal("done");
    }
  });

  it("lets safe methods pass, and refuses every other one without a token", async () => {
    await using app = await alone();

    for (const method of ["GET", "HEAD", "OPTIONS", "TRACE"])
      expect((await app.request("/act", { method })).status, method).to.equal(200);
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
      expect((await app.request("/act", { method })).status, method).to.equal(403);
  });

  it("refuses a missing cookie, a missing token and a mismatch, and says which", async () => {
    await using app = await alone();
    const token = await tokenOf(app);
    const cookie = `__Host-csrf=${token}`;
    const table: readonly [string, Readonly<Record<string, string>>][] = [
      ["missing CSRF cookie", { "x-csrf-token": token }],
      ["missing CSRF cookie", { cookie: "__Host-csrf=short", "x-csrf-token": token }],
      ["missing CSRF cookie", { cookie: `x__Host-csrf=${token}`, "x-csrf-token": token }],
      ["missing CSRF cookie", { cookie: `__Host-csrf=${token.toUpperCase()}x`, "x-csrf-token": token }],
      ["missing CSRF token", { cookie }],
      ["missing CSRF token", { cookie, "x-csrf-token": "" }],
      ["missing CSRF token", { cookie, "x-csrf-token": `${token}0` }],
      ["missing CSRF token", { cookie, "x-csrf-token": `${token}, ${token}` }],
      ["CSRF token mismatch", { cookie, "x-csrf-token": OTHER }],
      ["CSRF token mismatch", { cookie, "x-csrf-token": token.slice(0, -1) + changed(token.slice(-1)) }],
      ["CSRF token mismatch", { cookie, "x-csrf-token": changed(token.charAt(0)) + token.slice(1) }],
    ];
    for (const [detail, headers] of table) {
      const response = await app.post("/act", { headers });
      await expectProblem(response, { status: 403, slug: "csrf", title: "CSRF check failed", detail });
    }
    expect((await app.post("/act", { headers: { cookie, "x-csrf-token": token } })).status).to.equal(200);
  });

  it("finds its cookie among a thousand others, and takes one that is sent very often for a forged one", async () => {
    await using app = await alone();
    const token = await tokenOf(app);
    const own = `__Host-csrf=${token}`;
    const others = Array.from({ length: 1000 }, (_, at) => `c${at}=${at % 10}`).join("; ");
    const statusOf = async (cookie: string) =>
      (await app.post("/act", { headers: { cookie, "x-csrf-token": token } })).status;

    for (const cookie of [`${others}; ${own}`, `${own};${others}`, `__Host-csrf=${OTHER}; ${own}`])
      expect(await statusOf(cookie)).to.equal(200);
    for (const cookie of [`${"__Host-csrf=x; ".repeat(900)}${own}`, `__Host-csrf=${"0".repeat(8000)}`])
      expect(await statusOf(cookie)).to.equal(403);
  });

  it("finds the token in a form field, leaves the body readable, and reads no other place", async () => {
    await using app = await alone();
    const token = await tokenOf(app);
    const headers = { cookie: `__Host-csrf=${token}` };

    const posted = await app.post("/form", { headers, form: { _token: token, name: "Ada" } });
    expect(await posted.json()).to.deep.equal({ _token: token, name: "Ada" });
    const multipart = new FormData();
    multipart.set("_token", token);
    expect((await app.post("/act", { headers, body: multipart })).status).to.equal(403);
    expect((await app.post(`/act?_token=${token}`, { headers })).status).to.equal(403);
    expect((await app.post("/act", { headers, json: { _token: token } })).status).to.equal(403);
    expect((await app.post("/act", { headers, form: { _token: [token, token] } })).status).to.equal(403);
    expect((await app.post("/act", { headers, form: { _token: "x" } })).status).to.equal(403);
  });

  it("refuses a form that cannot be read with the error of its reader", async () => {
    await using app = await testApp(Application.create().csrf(new CsrfConfig()).bodyLimit(100).routes(routes()));
    const headers = { cookie: `__Host-csrf=${await tokenOf(app)}` };
    const type = { ...headers, "Content-Type": "application/x-www-form-urlencoded" };

    expect((await app.post("/act", { headers: type, body: "_token=%zz" })).status).to.equal(400);
    const large = Readable.from(["_token=".padEnd(200, "x")]);
    expect((await app.post("/act", { headers: type, body: large })).status).to.equal(413);
  });

  it("exempts a bearer token, gives it no cookie, and exempts no other scheme", async () => {
    await using app = await alone();
    const asked = (authorization: string) => app.post("/act", { headers: { authorization } });

    for (const bearer of ["Bearer x", "bearer x", "BEARER  x"]) {
      expect((await asked(bearer)).status, bearer).to.equal(200);
      const page = await app.get("/", { headers: { authorization: bearer } });
      expect(page.headers.getSetCookie(), bearer).to.deep.equal([]);
    }
    for (const other of ["Bearer", "Bearer ", "Basic x", "xBearer x"])
      expect((await asked(other)).status, other).to.equal(403);
  });

  it("issues a token once, and none on a response for shared caches", async () => {
    await using app = await alone();
    const browser = app.withCookies();

    expect((await browser.get("/public")).headers.getSetCookie()).to.deep.equal([]);
    expect((await browser.get("/")).headers.getSetCookie()).to.have.lengthOf(1);
    expect((await browser.get("/")).headers.getSetCookie()).to.deep.equal([]);
    expect((await browser.get("/nowhere")).headers.getSetCookie()).to.deep.equal([]);
  });

  it("leaves a response that a handler has written by hand as it is, and its connection open", async () => {
    const byHand = Route.get("/by-hand", async (ctx: Context) => {
      await Promise.resolve();
      ctx.res.writeHead(200, { "Content-Length": 7 });
      ctx.res.end("by hand");
    });
    const all = routes().merge(new Routes([byHand]));
    for (const builder of [Application.create(), Application.create().session(SessionConfig.pages(KEY))]) {
      await using app = await testApp(builder.csrf(new CsrfConfig()).routes(all));

      const response = await app.get("/by-hand");

      expect([response.status, await response.text(), response.headers.getSetCookie()]).to.deep.equal([
        200,
        "by hand",
        [],
      ]);
      expect(app.logs.transcript()).not.to.include('"ERROR"');
    }
  });

  it("issues a new cookie with a refusal, so that the next attempt can succeed, but none to another site", async () => {
    await using app = await alone();

    expect(cookiesOf(await app.post("/act"))).to.have.keys("__Host-csrf");
    const foreign = await app.post("/act", { headers: { origin: "https://evil.example" } });
    expect(foreign.headers.getSetCookie()).to.deep.equal([]);
  });

  it("judges Sec-Fetch-Site and Origin before the token", async () => {
    const config = new CsrfConfig().trust("https://pay.example");
    const site = new AppConfig({ url: "https://shop.example" });
    await using app = await testApp(Application.create().config(site).csrf(config).routes(routes()));
    const token = await tokenOf(app);
    const valid = { cookie: `__Host-csrf=${token}`, "x-csrf-token": token };
    const table: readonly [withToken: number, without: number, Readonly<Record<string, string>>][] = [
      [200, 403, {}],
      [200, 403, { "sec-fetch-site": "same-origin" }],
      [200, 403, { "sec-fetch-site": "Same-Origin" }],
      [200, 403, { "sec-fetch-site": "same-origin", origin: "null" }],
      [200, 403, { "sec-fetch-site": "none" }],
      [200, 403, { "sec-fetch-site": "unheard-of" }],
      [403, 403, { "sec-fetch-site": "same-site" }],
      [403, 403, { "sec-fetch-site": "cross-site" }],
      [403, 403, { "sec-fetch-site": "Cross-Site", origin: "https://shop.example" }],
      [200, 403, { origin: "https://shop.example" }],
      [200, 403, { origin: "https://SHOP.example" }],
      [200, 403, { origin: "null" }],
      [403, 403, { origin: "http://shop.example" }],
      [403, 403, { origin: "https://shop.example:444" }],
      [403, 403, { origin: "https://shop.example.evil.example" }],
      [403, 403, { origin: "https://a.shop.example" }],
      [200, 403, { origin: "http://host.example:8080", host: "host.example:8080" }],
      [200, 403, { origin: "https://host.example", host: "host.example" }],
      [200, 200, { origin: "https://pay.example" }],
      [200, 200, { origin: "https://pay.example", "sec-fetch-site": "cross-site" }],
      [403, 403, { origin: "https://pay.example:444", "sec-fetch-site": "cross-site" }],
    ];
    for (const [withToken, without, headers] of table) {
      expect((await app.post("/act", { headers: { ...headers, ...valid } })).status, JSON.stringify(headers)).to.equal(
        withToken,
      );
      expect((await app.post("/act", { headers })).status, `bare ${JSON.stringify(headers)}`).to.equal(without);
    }
    await expectProblem(await app.post("/act", { headers: { ...valid, "sec-fetch-site": "cross-site" } }), {
      status: 403,
      slug: "csrf",
      detail: "cross-site request",
    });
  });

  it("refuses settings that no browser accepts, and invalid origins", () => {
    expect(() => new CsrfConfig().secure(false)).to.throw("browsers refuse a cookie named __Host-");
    expect(() => CsrfConfig.dev().sameSite("None")).to.throw("SameSite=None without Secure");
    expect(() => new CsrfConfig().cookie("a b")).to.throw("cannot be the name of a cookie");
    expect(() => new CsrfConfig().header("a b")).to.throw("cannot be the name of a header");
    for (const origin of [
      "pay.example",
      "https://pay.example/",
      "https://pay.example/x",
      "ftp://pay.example",
      "*",
      "null",
    ])
      expect(() => new CsrfConfig().trust(origin), origin).to.throw("is not an origin");
  });

  it("is a start-up error with a value that is no CsrfConfig", () => {
    // @ts-expect-error sessions have another configuration
    expect(() => Application.create().csrf(new SessionConfig(KEY)).build()).to.throw("is not a CsrfConfig");
    // @ts-expect-error nothing is not a configuration
    expect(() => Application.create().csrf().build()).to.throw("is not a CsrfConfig");
  });

  it("needs its stage for the helper", () => {
    expect(() => CsrfToken.of(context())).to.throw(".csrf(new CsrfConfig())");
  });

  it("obeys the layer contract", async () => {
    const site = { origin: "http://localhost", routes: routes() };
    const layer = (CsrfConfig.dev() as unknown as { toLayer(of: typeof site): never }).toLayer(site);
    await obeysLayerContract(layer, { refused: { method: "POST" } });
  });
});

/** The form of the first visit, and the cookies that the browser keeps: those of the second. */
async function visits(app: TestApp) {
  const first = await app.get("/form");
  return { token: await first.text(), cookie: header(cookiesOf(await app.get("/form"))) };
}

describe("two first visits at once", () => {
  const own = { "sec-fetch-site": "same-origin" };

  it("leave both forms valid if the browser says that they are of this site", async () => {
    await using app = await withSession();
    const { token, cookie } = await visits(app);
    const post = (headers: Record<string, string>) =>
      app.post("/act", { headers: { cookie, "x-csrf-token": token, ...headers } });

    expect((await post(own)).status).to.equal(200);
    expect((await post({ origin: app.url })).status).to.equal(200);
    for (const headers of [{}, { "sec-fetch-site": "none" }, { "sec-fetch-site": "cross-site" }])
      expect((await post(headers)).status).to.equal(403);
    expect((await post({ ...own, "x-csrf-token": OTHER })).status).to.equal(403);
  });

  it("leave one form valid if the visitor has a session, and without a session stage", async () => {
    await using app = await withSession();
    await using stateless = await alone();
    const { token } = await visits(app);
    const signedIn = await visitor(app);
    const other = await visits(stateless);

    const withCookies = { ...own, cookie: header(signedIn.cookies), "x-csrf-token": token };
    expect((await app.post("/act", { headers: withCookies })).status).to.equal(403);
    const without = { ...own, cookie: other.cookie, "x-csrf-token": other.token };
    expect((await stateless.post("/act", { headers: without })).status).to.equal(403);
  });
});

describe("the token of a form", () => {
  it("is a different text at each rendering, and valid each time", async () => {
    await using app = await alone();
    const token = await tokenOf(app);
    const headers = { cookie: `__Host-csrf=${token}` };
    const forms = await Promise.all([1, 2, 3].map(async () => (await app.get("/form", { headers })).text()));

    expect(new Set(forms).size).to.equal(3);
    for (const form of forms) {
      expect(form).to.match(/^[\w-]{86}$/);
      expect(form).not.to.include(token);
      expect((await app.post("/act", { headers, form: { _token: form } })).status).to.equal(200);
      expect((await app.post("/act", { headers: { ...headers, "x-csrf-token": form } })).status).to.equal(200);
    }
  });

  it("is a hidden field", async () => {
    await using app = await alone();

    expect(await (await app.get("/field")).text()).to.match(/^<input type="hidden" name="_token" value="[\w-]{86}">$/);
  });

  it("is sent with its cookie, and is valid with it", async () => {
    for (const path of ["/form", "/begin", "/begin-late"]) {
      await using app = await withSession();
      const browser = app.withCookies();
      const form = await (await browser.get(path)).text();
      expect((await browser.post("/act", { form: { _token: form } })).status, path).to.equal(200);
    }
  });

  it("keeps its page out of shared caches, so that no visitor gets the form of another one", async () => {
    for (const open of [alone, withSession]) {
      await using app = await open();
      const browser = app.withCookies();

      for (const visit of ["first", "second"]) {
        const page = await browser.get("/public-form");
        expect(page.headers.get("cache-control"), visit).to.equal("no-store");
        expect((await browser.post("/act", { form: { _token: await page.text() } })).status, visit).to.equal(200);
      }
      expect(app.logs.transcript()).to.include("Cache-Control: public replaced by no-store");
    }
  });

  it("stays valid in another tab after the session is created", async () => {
    await using app = await withSession();
    const browser = app.withCookies();
    const [one, other] = [await (await browser.get("/form")).text(), await (await browser.get("/form")).text()];

    expect((await browser.post("/put", { form: { _token: one } })).status).to.equal(204);
    expect((await browser.post("/act", { form: { _token: other } })).status).to.equal(200);
  });
});

describe("a CSRF token with sessions", () => {
  it("belongs to one session", async () => {
    await using app = await withSession();
    const [ada, eve] = [await visitor(app), await visitor(app)];
    const planted = header({ ...ada.cookies, "__Host-csrf": eve.token });

    await expectProblem(await app.post("/act", { headers: { cookie: planted, "x-csrf-token": eve.token } }), {
      status: 403,
      detail: "CSRF token mismatch",
    });
    const anonymous = await tokenOf(app);
    const bare = header({ ...ada.cookies, "__Host-csrf": anonymous });
    expect((await app.post("/act", { headers: { cookie: bare, "x-csrf-token": anonymous } })).status).to.equal(403);
    const own = { cookie: header(ada.cookies), "x-csrf-token": ada.token };
    expect((await app.post("/act", { headers: own })).status).to.equal(200);
    const both = { cookie: `__Host-csrf=${eve.token}; ${header(ada.cookies)}`, "x-csrf-token": ada.token };
    expect((await app.post("/act", { headers: both })).status).to.equal(200);
  });

  it("is replaced in the response to a sign-in and a sign-out, and by no other request", async () => {
    await using app = await withSession();
    const ada = await visitor(app);
    const headers = { cookie: header(ada.cookies), "x-csrf-token": ada.token };

    expect(cookiesOf(await app.post("/put", { headers }))).to.deep.equal({});
    const signedIn = cookiesOf(await app.post("/login", { headers }));
    expect(signedIn["__Host-id"]).to.be.a("string").and.not.equal(ada.cookies["__Host-id"]);
    expect(signedIn["__Host-csrf"]?.slice(0, 32)).not.to.equal(ada.token.slice(0, 32));
    const next = { cookie: header(signedIn), "x-csrf-token": signedIn["__Host-csrf"] ?? "" };
    expect((await app.post("/act", { headers: next })).status).to.equal(200);
    expect((await app.post("/act", { headers: { ...next, "x-csrf-token": ada.token } })).status).to.equal(403);
    expect(cookiesOf(await app.post("/logout", { headers: next }))).to.have.keys("__Host-id", "__Host-csrf");
  });

  it("lives as long as the session's cookie, and is renewed with it", async () => {
    const clock = new FakeClock();
    await using app = await withSession(undefined, clock);
    const first = await app.get("/begin");
    expect(first.headers.getSetCookie().map((line) => /Max-Age=\d+/.exec(line)?.[0])).to.deep.equal([
      "Max-Age=1209600",
      "Max-Age=1209600",
    ]);
    const cookies = cookiesOf(first);

    clock.advance(60_000);
    const renewed = cookiesOf(await app.get("/flash", { headers: { cookie: header(cookies) } }));

    expect(renewed).to.deep.equal(cookies);
  });

  it("creates no session", async () => {
    await using app = await withSession();

    for (const path of ["/", "/form", "/flash"])
      expect(cookiesOf(await app.get(path)), path).to.have.keys("__Host-csrf");
    expect(cookiesOf(await app.post("/act"))).to.have.keys("__Host-csrf");
  });

  it("is valid with an old key while keys are rotated", async () => {
    const { cookies, token } = await withSession().then(async (app) => {
      await using old = app;
      return visitor(old);
    });
    const config = SessionConfig.pages(["a5".repeat(64), KEY]);
    await using app = await testApp(Application.create().session(config).csrf(new CsrfConfig()).routes(routes()));

    const headers = { cookie: header(cookies), "x-csrf-token": token };
    expect((await app.post("/act", { headers })).status).to.equal(200);
  });
});

describe("a refused visit of the page protocol", () => {
  const visit = { "x-inertia": "true", referer: "http://127.0.0.1/flash" };

  it("is redirected to its page with a flash and a new cookie", async () => {
    await using app = await withSession(CsrfConfig.pages().dev());
    const browser = app.withCookies();
    const referer = `${app.url}/flash?page=2`;

    const refused = await browser.post("/act", { headers: { ...visit, referer } });

    expect(refused.status).to.equal(303);
    expect(refused.headers.get("location")).to.equal("/flash?page=2");
    expect(cookiesOf(refused)).to.have.keys("__Host-id", "XSRF-TOKEN");
    expect(await (await browser.get("/flash")).json()).to.deep.equal([
      { level: "error", message: "The page has expired. Please try again." },
    ]);
    expect(await (await browser.get("/flash")).json()).to.deep.equal([]);
  });

  it("is a problem if the setting is off, and for a visit from another site", async () => {
    await using off = await withSession(CsrfConfig.pages().expiredMessage(false));
    await expectProblem(await off.post("/act", { headers: visit }), { status: 403, slug: "csrf" });
    await using app = await withSession(CsrfConfig.pages());
    const response = await app.post("/act", { headers: { ...visit, origin: "https://evil.example" } });
    await expectProblem(response, { status: 403, detail: "cross-site request" });
  });

  it("is redirected to / for a Referer of another site", async () => {
    await using app = await withSession(CsrfConfig.pages());

    const refused = await app.post("/act", { headers: { ...visit, referer: "https://evil.example/x" } });

    expect(refused.headers.get("location")).to.equal("/");
  });

  it("is a problem if neither the Referer nor / is a page", async () => {
    const pageless = new Routes([Route.get("/only", () => ""), Route.post("/act", () => "")]);
    await using app = await testApp(Application.create().csrf(CsrfConfig.pages()).routes(pageless));

    const refused = await app.post("/act", { headers: { "x-inertia": "true" } });

    await expectProblem(refused, { status: 403, slug: "csrf" });
  });
});
