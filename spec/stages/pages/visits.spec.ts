import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import type { Context } from "../../../lib/http/request/context.js";
import { NotFoundError } from "../../../lib/errors/framework-error.js";
import { Application } from "../../../lib/app/application.js";
import { AppConfig } from "../../../lib/app/config.js";
import { Problem } from "../../../lib/errors/problem.js";
import type { Middleware, Next } from "../../../lib/http/middleware.js";
import { refuse } from "../../../lib/http/failures/refuse.js";
import { Route } from "../../../lib/routing/route.js";
import { Routes } from "../../../lib/routing/routes.js";
import { PATIENT } from "../../support/patient.js";
import { Stack } from "../../support/stack.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { external } from "../../../lib/stages/pages/protocol/external.js";
import { Page } from "../../../lib/stages/pages/page.js";
import { share } from "../../../lib/stages/pages/props/shared-props.js";
import { Pages } from "../../../lib/stages/pages/pages.js";
import { obeysLayerContract } from "../../../lib/testing/contracts/obeys-layer-contract.js";
import { redirect } from "../../../lib/stages/redirects/redirect.js";
import { SecurityHeaders } from "../../../lib/stages/security-headers/security-headers.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { inertia, pageIn, pagesApplication, partial, type PageData } from "../../support/page-visit.js";

const page = (component = "links/index", props: Record<string, unknown> = {}): Page => Page.of(component, props);

const plainOrEncrypted = (ctx: Context): Page => (ctx.path === "/plain" ? page().encryptHistory(false) : page());
const to =
  (url: string, status = 302) =>
  (ctx: Context): void => {
    ctx.redirect(url);
    ctx.status = status;
  };

function listEmpty(): undefined {}

function sharing(ctx: Context, next: Next): Promise<void> {
  share(ctx, { team: "red", a: "shared" });
  return next();
}

describe("the layers of pages", () => {
  const pages = new Pages({ errors: { 404: "missing" } });

  it("obey the layer contract", async () => {
    await obeysLayerContract(pages.layer({ origin: "https://shop.example", routes: new Routes() }));
    await obeysLayerContract(pages.outerLayer());
    await obeysLayerContract(pages.routeGuard);
  });
});

describe("a first visit", () => {
  it("gets a document with the page object in a script", async () => {
    await using app = await testApp(pagesApplication(() => page("links/index", { links: [1, 2] })));

    const response = await app.get("/links?page=2");
    const html = await response.text();

    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    expect(response.headers.get("x-inertia")).to.equal(null);
    expect(response.headers.get("cache-control")).to.equal(null);
    expect(pageIn(html)).to.deep.equal({
      component: "links/index",
      props: { errors: {}, links: [1, 2] },
      url: "/links?page=2",
      version: null,
    });
    expect(html).to.contain('</script><div id="app"></div></body>');
  });

  it("escapes all that could end the script", async () => {
    const hostile = "</script><!--<script>&\u2028\u2029/";
    const made = () =>
      page(hostile, { hostile })
        .flash({ hostile })
        .errors({ [hostile]: hostile });
    await using app = await testApp(pagesApplication(made));

    const answer = await app.raw(
      "GET /</script><!--?</script>&<!-- HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
      PATIENT,
    );
    const html = answer.toString();

    expect(html.match(/<\/script/g)).to.have.length(1);
    expect(html).not.to.contain("<!--");
    expect(html.slice(html.indexOf("<body>"))).not.to.match(/[\u2028\u2029]/);
    expect(pageIn(html)).to.deep.include({
      component: hostile,
      url: "/</script><!--?</script>&<!--",
      flash: { hostile },
    });
    expect(pageIn(html).props).to.deep.equal({ errors: { [hostile]: hostile }, hostile });
  });

  it("puts the nonce on the script", async () => {
    const secured = pagesApplication(
      () => page(),
      {},
      (builder) => builder.securityHeaders(new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'")),
    );
    await using app = await testApp(secured);

    const response = await app.get("/");
    const nonce = /'nonce-(.+)'/.exec(response.headers.get("content-security-policy") ?? "")?.[1] ?? "none";

    const html = await response.text();
    expect(html).to.contain(`<script nonce="${nonce}" data-page="app" type="application/json">`);
    expect(html).to.contain(`<meta property="csp-nonce" nonce="${nonce}">`);
  });

  it("ignores partial and version headers of other requests", async () => {
    await using app = await testApp(pagesApplication(() => page("x", { a: 1, b: 2 }), { version: "v1" }));
    const headers = { ...partial("x", "a"), "X-Inertia": "TRUE" };

    const response = await app.get("/", { headers });

    expect(pageIn(await response.text()).props).to.deep.equal({ errors: {}, a: 1, b: 2 });
  });

  it("has the target that the browser shows, also where a stage rewrote it", async () => {
    await using app = await testApp(pagesApplication((ctx) => ((ctx.url = "/inner"), page())));

    const [relative, absolute] = await Promise.all([
      app.get("/a/b/?x=%20y#f", { headers: inertia() }),
      app.raw(
        "GET http://other.example/c?d HTTP/1.1\r\nHost: other.example\r\nX-Inertia: true\r\nConnection: close\r\n\r\n",
        PATIENT,
      ),
    ]);

    expect((await relative.json<PageData>()).url).to.equal("/a/b/?x=%20y");
    expect(absolute.toString()).to.contain('"url":"/c?d"');
  });
});

describe("a later visit", () => {
  it("gets the page object as JSON that is not stored", async () => {
    await using app = await testApp(pagesApplication(() => page("links/index", { a: 1 })));

    const response = await app.get("/links", { headers: inertia() });

    expect(Object.fromEntries(response.headers)).to.include({
      "content-type": "application/json",
      "x-inertia": "true",
      vary: "X-Inertia",
      "cache-control": "no-store",
    });
    expect(await response.text()).to.equal(
      '{"component":"links/index","props":{"errors":{},"a":1},"url":"/links","version":null}',
    );
  });

  it("keeps the Cache-Control of the handler", async () => {
    await using app = await testApp(pagesApplication((ctx) => (ctx.set("Cache-Control", "private"), page())));

    const response = await app.get("/", { headers: inertia() });

    expect(response.headers.get("cache-control")).to.equal("private");
  });

  it("has the status of the page in both forms", async () => {
    await using app = await testApp(pagesApplication(() => page().status(404)));

    const statuses = [await app.get("/"), await app.get("/", { headers: inertia() })].map(({ status }) => status);

    expect(statuses).to.deep.equal([404, 404]);
  });

  it("has the status of the context, where the page has none", async () => {
    await using app = await testApp(pagesApplication((ctx) => ((ctx.status = 410), page())));

    expect((await app.get("/", { headers: inertia() })).status).to.equal(410);
  });

  it("gets the head of a GET for HEAD", async () => {
    await using app = await testApp(pagesApplication(() => page()));

    const [head, get] = [await app.head("/"), await app.get("/")];

    expect(head.headers.get("content-length")).to.equal(get.headers.get("content-length"));
    expect(await head.text()).to.equal("");
  });

  for (const [name, call, member] of [
    ["encryptHistory", (each: Page) => each.encryptHistory(), true],
    ["clearHistory", (each: Page) => each.clearHistory(), true],
    ["preserveFragment", (each: Page) => each.preserveFragment(), true],
    ["flash", (each: Page) => each.flash({ notice: "Saved." }), { notice: "Saved." }],
  ] as const) {
    it(`has ${name} only where the page says so`, async () => {
      await using app = await testApp(pagesApplication((ctx) => (ctx.path === "/on" ? call(page()) : page())));

      const [on, off] = [await app.get("/on", { headers: inertia() }), await app.get("/", { headers: inertia() })];

      expect((await on.json<PageData>())[name]).to.deep.equal(member);
      expect(await off.json()).not.to.have.property(name);
    });
  }

  it("has encryptHistory by the setting of the application, which a page overrides", async () => {
    await using app = await testApp(pagesApplication(plainOrEncrypted, { encryptHistory: true }));

    const [usual, plain] = [
      await app.get("/", { headers: inertia() }),
      await app.get("/plain", { headers: inertia() }),
    ];

    expect(await usual.json()).to.have.property("encryptHistory", true);
    expect(await plain.json()).not.to.have.property("encryptHistory");
  });
});

describe("a page", () => {
  it("keeps its headers if the response is compressed", async () => {
    const long = "words ".repeat(1000);
    await using app = await testApp(
      pagesApplication(
        () => page("x", { long }),
        {},
        (builder) => builder.compression(),
      ),
    );

    const response = await app.get("/", { headers: inertia({ "Accept-Encoding": "gzip" }) });

    expect(response.headers.get("content-encoding")).to.equal("gzip");
    expect(response.headers.get("x-inertia")).to.equal("true");
    const { props } = JSON.parse(gunzipSync(await response.arrayBuffer()).toString()) as PageData;
    expect(props).to.have.property("long", long);
  });

  it("leaves none of its headers on an error by which an outer stage replaces it", async () => {
    const failing: Middleware = {
      async handle(ctx: Context, next: Next) {
        await next();
        refuse(ctx, Problem.of(503, "the store is down"));
      },
    };
    const layer = new Pages().layer({ origin: "https://shop.example", routes: new Routes() });
    await using stack = await Stack.of([failing, layer], () => page());

    const { status, headers } = await stack.ask("/", { headers: inertia() });

    expect([status, headers["x-inertia"], headers["cache-control"]]).to.deep.equal([503, undefined, undefined]);
  });

  const noContext = {} as Context;
  const refused: readonly (readonly [string, () => unknown, RegExp])[] = [
    ["a component without a name", () => page(""), /"" is not the name of a component/],
    ["a comma in the name of a prop", () => page("x", { "a,b": 1 }), /"a,b" has a comma/],
    ["a prop named errors", () => page("x", { errors: {} }), /give errors with \.errors/],
    ["a path into errors", () => page("x", { "errors.name": "taken" }), /give errors with \.errors/],
    ["a name below a prop that is not an object", () => page("x", { a: 1, "a.b": 2 }), /"a\.b" is below a prop/],
    ["a status that ends no request", () => page().status(100), /100/],
    ["a shared prop named errors", () => share(noContext, { errors: {} }), /the prop "errors" needs another name/],
    ["a comma in the name of a shared prop", () => share(noContext, { "a,b": 1 }), /the prop "a,b" needs another name/],
    ["a dot in the name of a shared prop", () => share(noContext, { "a.b": 1 }), /the prop "a\.b" needs another name/],
    ["a page on another site without http", () => external("javascript:alert(1)"), /http and https URLs only/],
  ];
  for (const [what, make, message] of refused) {
    it(`is refused in the handler: ${what}`, () => expect(make).to.throw(message));
  }

  it("has the props that a middleware shares, before its own of the same name", async () => {
    const options = { share: { team: "none", name: () => "Links" } };
    await using app = await testApp(
      pagesApplication(
        () => page("x", { a: "own" }),
        options,
        (each) => each.layer(sharing),
      ),
    );

    const { props, sharedProps } = await (await app.get("/", { headers: inertia() })).json<PageData>();

    expect(props).to.deep.equal({ errors: {}, team: "red", name: "Links", a: "own" });
    expect(sharedProps).to.deep.equal(["team", "name", "a"]);
  });

  it("is a 500 where the stage is off, which names the page and the call", async () => {
    const routes = new Routes([Route.get("/", () => page("links/index"))]);
    await using app = await testApp(Application.create().routes(routes));

    const response = await app.get("/");

    expect(response.status).to.equal(500);
    expect(await response.text())
      .to.contain('page \\"links/index\\"')
      .and.contain(".pages(");
    expect(app.logs.transcript()).to.contain("E_UNRESOLVED").and.contain("links/index");
  });
});

describe("Vary", () => {
  it("names X-Inertia on every response of the stage", async () => {
    const answers: Record<string, () => unknown> = {
      "/page": () => page(),
      "/json": () => ({ a: 1 }),
      "/none": () => undefined,
      "/error": () => Promise.reject(new NotFoundError()),
      "/redirect": () => redirect(),
      "/external": () => external("https://pay.example/"),
    };
    await using app = await testApp(pagesApplication((ctx) => answers[ctx.path]?.()));

    for (const path of Object.keys(answers)) {
      expect((await app.get(path)).headers.get("vary"), path).to.equal("X-Inertia");
      expect((await app.get(path, { headers: inertia() })).headers.get("vary"), path).to.equal("X-Inertia");
    }
  });
});

describe("the version of the assets", () => {
  const rows: readonly (readonly [
    what: string,
    server: string | undefined,
    method: string,
    client: string | undefined,
    is409: boolean,
  ])[] = [
    ["the same version", "v1", "GET", "v1", false],
    ["another version", "v1", "GET", "v0", true],
    ["a client that has none", "v1", "GET", undefined, true],
    ["a server that has none", undefined, "GET", "v0", false],
    ["neither has one", undefined, "GET", undefined, false],
    ["another version after POST", "v1", "POST", "v0", false],
    ["another version after DELETE", "v1", "DELETE", "v0", false],
  ];
  for (const [what, server, method, client, is409] of rows) {
    it(`${is409 ? "leads to a reload" : "is accepted"}: ${what}`, async () => {
      let calls = 0;
      const options = server === undefined ? {} : { version: server };
      await using app = await testApp(pagesApplication(() => (calls++, page()), options));
      const headers = inertia(client === undefined ? {} : { "X-Inertia-Version": client });

      const response = await app.request("/a?b=c", { method, headers });

      expect([response.status, calls]).to.deep.equal(is409 ? [409, 0] : [200, 1]);
      if (!is409) return;
      expect(response.headers.get("x-inertia-location")).to.equal("/a?b=c");
      expect(response.headers.get("x-inertia-version")).to.equal(server);
      expect(response.headers.get("x-inertia")).to.equal(null);
      expect(response.headers.get("content-type")).to.equal(null);
      expect(await response.text()).to.equal("");
    });
  }

  it("leads to this site also for a path in the form of another host", async () => {
    await using app = await testApp(pagesApplication(() => page(), { version: "v1" }));

    for (const path of ["//evil.example/x", "/\\evil.example/x"]) {
      const head = `GET ${path} HTTP/1.1\r\nHost: shop.example\r\nX-Inertia: true\r\nConnection: close\r\n\r\n`;
      const location = /^x-inertia-location: (.*)\r$/im.exec((await app.raw(head, PATIENT)).toString())?.[1] ?? "";

      expect(new URL(location, "https://shop.example/y").host, path).to.equal("shop.example");
    }
  });

  it("stays a 409 without a body where errors get one", async () => {
    const mapped = pagesApplication(
      () => page(),
      { version: "v1" },
      (builder) => builder.errorMapping(),
    );
    await using app = await testApp(mapped);

    const response = await app.get("/", { headers: inertia({ "X-Inertia-Version": "v0" }) });

    expect([response.status, await response.text()]).to.deep.equal([409, ""]);
  });

  it("does not matter for a document", async () => {
    await using app = await testApp(pagesApplication(() => page(), { version: "v1" }));

    expect((await app.get("/", { headers: { "X-Inertia-Version": "v0" } })).status).to.equal(200);
  });
});

describe("an Inertia request whose response is not a page", () => {
  interface Expected {
    readonly status: number;
    readonly location?: string;
    readonly inertiaLocation?: string;
    readonly inertiaRedirect?: string;
  }
  const rows: readonly (readonly [string, string, (ctx: Context) => unknown, Record<string, string>, Expected])[] = [
    ["nothing, after GET", "GET", () => undefined, { Referer: "/back" }, { status: 302, location: "/back" }],
    ["nothing, after POST", "POST", () => undefined, { Referer: "/back" }, { status: 303, location: "/back" }],
    [
      "an empty 200",
      "POST",
      (ctx) => void (ctx.status = 200),
      { Referer: "/back" },
      { status: 303, location: "/back" },
    ],
    ["Reply.noContent()", "DELETE", () => Reply.noContent(), { Referer: "/back" }, { status: 303, location: "/back" }],
    ...["GET", "POST"].flatMap((method) =>
      [() => "", () => Reply.text(""), () => new Uint8Array()].map(
        (handler) =>
          [
            `${handler.toString()}, after ${method}`,
            method,
            handler,
            { Referer: "/back" },
            { status: method === "GET" ? 302 : 303, location: "/back" },
          ] as const,
      ),
    ),
    ["nothing, without Referer", "POST", () => undefined, {}, { status: 303, location: "/from?q" }],
    [
      "nothing, from another site",
      "POST",
      () => undefined,
      { Referer: "https://evil.example/x" },
      { status: 303, location: "/from?q" },
    ],
    [
      "nothing, from the configured site",
      "POST",
      () => undefined,
      { Referer: "https://shop.example/x?y#z" },
      { status: 303, location: "/x?y" },
    ],
    ["302 after GET", "GET", to("/a"), {}, { status: 302, location: "/a" }],
    ["302 after POST", "POST", to("/a"), {}, { status: 302, location: "/a" }],
    ["302 after PUT", "PUT", to("/a"), {}, { status: 303, location: "/a" }],
    ["302 after PATCH", "PATCH", to("/a"), {}, { status: 303, location: "/a" }],
    ["302 after DELETE", "DELETE", to("/a"), {}, { status: 303, location: "/a" }],
    ["307 after PUT", "PUT", to("/a", 307), {}, { status: 307, location: "/a" }],
    ["308 after DELETE", "DELETE", to("/a", 308), {}, { status: 308, location: "/a" }],
    ...[201, 301, 302, 303, 307, 308].map(
      (status) =>
        [
          `${status} with a fragment`,
          "GET",
          (ctx: Context) => void (ctx.set("Location", "/a#b"), (ctx.status = status)),
          {},
          { status: 409, inertiaRedirect: "/a#b", inertiaLocation: "/a#b" },
        ] as const,
    ),
    ["a fragment, for a prefetch", "GET", to("/a#b"), { Purpose: "prefetch" }, { status: 302, location: "/a#b" }],
    [
      "redirect() with a fragment",
      "POST",
      () => redirect().to("/a#b"),
      {},
      { status: 409, inertiaRedirect: "/a#b", inertiaLocation: "/a#b" },
    ],
    [
      "external()",
      "GET",
      () => external("https://pay.example/x"),
      {},
      { status: 409, inertiaLocation: "https://pay.example/x" },
    ],
    [
      "301 to another site",
      "GET",
      to("https://pay.example/x", 301),
      {},
      { status: 409, inertiaLocation: "https://pay.example/x" },
    ],
    [
      "302 to another site",
      "POST",
      to("https://pay.example/x#y"),
      {},
      { status: 409, inertiaLocation: "https://pay.example/x#y" },
    ],
    [
      "303 to another site",
      "POST",
      to("//pay.example/x", 303),
      {},
      { status: 409, inertiaLocation: "//pay.example/x" },
    ],
    [
      "302 to another site, with a slash that browsers read like the other one",
      "GET",
      to("/\\pay.example/x"),
      {},
      { status: 409, inertiaLocation: "/\\pay.example/x" },
    ],
    [
      "307 to another site",
      "POST",
      to("https://pay.example/x", 307),
      {},
      { status: 307, location: "https://pay.example/x" },
    ],
    [
      "302 to the configured site",
      "GET",
      to("https://shop.example/x"),
      {},
      { status: 302, location: "https://shop.example/x" },
    ],
  ];
  for (const [what, method, handler, headers, expected] of rows) {
    it(`${what}: ${expected.status}`, async () => {
      await using app = await testApp(pagesApplication(handler));

      const response = await app.request("/from?q", { method, headers: inertia(headers) });

      const { headers: got } = response;
      expect({
        status: response.status,
        location: got.get("location"),
        inertiaLocation: got.get("x-inertia-location"),
        inertiaRedirect: got.get("x-inertia-redirect"),
      }).to.deep.equal({ location: null, inertiaLocation: null, inertiaRedirect: null, ...expected });
      expect([got.get("x-inertia"), got.get("x-inertia-version")]).to.deep.equal([null, null]);
      if (response.status === 409) expect(await response.text()).to.equal("");
    });
  }

  for (const [how, referer] of [
    ["without Referer", undefined],
    ["from itself", "/empty?q"],
    ["from itself, spelt by the browser", "https://shop.example/empty?q#part"],
    ["from another site", "https://evil.example/"],
  ] as const)
    it(`is a 500 where an empty GET would lead to itself, ${how}, which names the handler`, async () => {
      const routes = new Routes([Route.get("/empty", listEmpty)]);
      const builder = Application.create()
        .config(new AppConfig({ url: "https://shop.example" }))
        .pages(new Pages())
        .routes(routes);
      await using app = await testApp(builder);

      const { status, headers } = await app.get("/empty?q", {
        headers: inertia(referer === undefined ? {} : { Referer: referer }),
      });

      expect([status, headers.get("location")]).to.deep.equal([500, null]);
      expect(app.logs.transcript()).to.contain("E_PAGE_EMPTY").and.contain("listEmpty returned nothing for GET /empty");
      expect((await app.get("/empty?q")).status).to.equal(204);
    });

  it("keeps cookies when a redirect becomes a 409", async () => {
    await using app = await testApp(
      pagesApplication((ctx) => {
        ctx.set("Set-Cookie", "state=1");
        ctx.redirect("https://login.example/");
      }),
    );

    const response = await app.get("/", { headers: inertia() });

    expect(response.headers.getSetCookie()).to.deep.equal(["state=1"]);
  });

  it("stays as it is without the header", async () => {
    await using app = await testApp(
      pagesApplication((ctx) => (ctx.path === "/external" ? external("https://pay.example/") : undefined)),
    );

    const [empty, get, post] = [await app.post("/"), await app.get("/external"), await app.post("/external")];

    expect(empty.status).to.equal(204);
    expect([get.status, get.headers.get("location")]).to.deep.equal([302, "https://pay.example/"]);
    expect(post.status).to.equal(303);
  });
});
