/** QUERY (RFC 10008), over a real socket: its body, its headers, its place among the other methods, and clients that cannot send it. */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  content,
  type Context,
  type ContextOf,
  Controller,
  Get,
  guard,
  Guards,
  Module,
  type Next,
  Post,
  Query,
  redirect,
  Reply,
  Route,
  Routes,
  routes,
  ProxyAction,
  UnauthorizedError,
} from "@stagecraft/framework";
import { client } from "@stagecraft/framework/routes";
import { CsrfConfig } from "@stagecraft/framework/session";
import { testApp } from "@stagecraft/framework/testing";
import { StaticSite } from "../support/static-site.js";

const Filter = z.object({ word: z.string() });
const Found = z.object({ found: z.string() });
const keyed = guard("keyed");

const search = routes("search", "/search", {
  one: Query("/", { body: Filter, responses: { 200: Found } }),
  page: Get("/"),
  either: Query("/either", {
    body: { "application/json": Filter, "application/sql": content.text("application/sql") },
  }),
  odd: Query("/odd", { body: content.text("3gpp/query") }),
  cached: Query("/cached", { body: Filter }),
  saved: Query("/saved", { body: Filter }),
  guarded: Query("/guarded", { body: Filter, guards: [keyed] }),
  open: Query("/open"),
  both: Query("/both/{at}", { body: Filter, params: { at: z.int() }, responses: { 200: Found } }).orPost(),
  posted: Post("/posted"),
});

@Controller(search)
class SearchController {
  @search.one one({ input }: ContextOf<typeof search.one>) {
    return { found: input.body.word };
  }
  @search.page page() {
    return "a page";
  }
  @search.either either({ input }: ContextOf<typeof search.either>) {
    return { body: input.body };
  }
  @search.odd odd() {
    return "odd";
  }
  @search.cached cached() {
    return Reply.text("cached").header("Cache-Control", "private, max-age=60");
  }
  @search.saved saved({ input }: ContextOf<typeof search.saved>) {
    const to = redirect().to("/search");
    return input.body.word === "always" ? to.permanent() : to;
  }
  @search.guarded guarded() {
    return "guarded";
  }
  @search.open async open(ctx: ContextOf<typeof search.open>) {
    return { bytes: (await ctx.bytes()).length };
  }
  @search.both both({ input, params, method }: ContextOf<typeof search.both>) {
    return { found: `${method} ${input.body.word} ${params.at + 1}` };
  }
  @search.posted posted() {
    return "posted";
  }
}

class Keys {
  @Guards(keyed) check(): undefined {
    throw new UnauthorizedError();
  }
}

@Module({ controllers: [SearchController], providers: [Keys] })
class SearchModule {}

const start = () => testApp(Application.create(SearchModule).errorMapping());
const jsonOf = (length: number): readonly string[] => ["Content-Type: application/json", `Content-Length: ${length}`];
const JSON_TYPE = { "content-type": "application/json" };

describe("an endpoint of QUERY", () => {
  it("gets the body by its contract", async () => {
    await using app = await start();

    const response = await app.query(search.one.url(), { json: { word: "tea" } });

    expect(await response.json()).to.deep.equal({ found: "tea" });
    expect(response.headers.get("accept-query")).to.equal("application/json");
    expect(response.headers.get("cache-control")).to.equal("no-store");
  });

  it("refuses a body that does not fit, and no cache stores the refusal", async () => {
    await using app = await start();

    const response = await app.query("/search", { json: { word: 7 } });

    expect(response.status).to.equal(422);
    expect(response.headers.get("cache-control")).to.equal("no-store");
    expect(response.headers.get("accept-query")).to.equal("application/json");
  });

  it("responds with 400 to a request without Content-Type, and after its guards", async () => {
    await using app = await start();

    const statuses = await Promise.all(
      ["/search", "/search/either", "/search/open", "/search/guarded"].map(
        async (path) => (await app.query(path, { body: Buffer.from("{}") })).status,
      ),
    );

    expect(statuses).to.deep.equal([400, 400, 400, 401]);
  });

  it("runs no middleware for a request without Content-Type", async () => {
    let passed = 0;
    const route = Route.query("/found", () => "found").middleware((_ctx: Context, next: Next) => {
      passed++;
      return next();
    });
    await using app = await testApp(Application.create().routes(new Routes([route])));

    expect((await app.query("/found", { body: Buffer.from("{}") })).status).to.equal(400);
    expect((await app.query("/found", { json: {} })).status).to.equal(200);
    expect(passed).to.equal(1);
  });

  it("has its headers on an error of its handler too", async () => {
    const route = Route.of(Query("/found", { body: Filter }), () => {
      throw new Error("canary");
    });
    await using app = await testApp(Application.create().routes(new Routes([route])));

    const response = await app.query("/found", { json: { word: "tea" } });

    expect(response.status).to.equal(500);
    expect(response.headers.get("accept-query")).to.equal("application/json");
    expect(response.headers.get("cache-control")).to.equal("no-store");
  });

  it("responds with 415 to another media type, and names those that it takes", async () => {
    await using app = await start();

    const single = await app.query("/search", { body: "a=1", headers: { "content-type": "text/plain" } });
    const either = await app.query("/search/either", { body: "a=1", headers: { "content-type": "text/plain" } });
    const odd = await app.query("/search/odd", { body: "a=1", headers: { "content-type": "text/plain" } });

    expect([single.status, either.status, odd.status]).to.deep.equal([415, 415, 415]);
    expect(single.headers.get("accept-query")).to.equal("application/json");
    expect(either.headers.get("accept-query")).to.equal("application/json, application/sql");
    expect(odd.headers.get("accept-query")).to.equal('"3gpp/query"');
  });

  it("names no media types where it declares no body", async () => {
    await using app = await start();

    const response = await app.query("/search/open", { body: "12345", headers: { "content-type": "text/plain" } });

    expect(await response.json()).to.deep.equal({ bytes: 5 });
    expect(response.headers.get("accept-query")).to.equal(null);
    expect(response.headers.get("cache-control")).to.equal("no-store");
  });

  it("leaves the Cache-Control of the handler", async () => {
    await using app = await start();

    const response = await app.query("/search/cached", { json: { word: "tea" } });

    expect(response.headers.get("cache-control")).to.equal("private, max-age=60");
  });

  it("redirects to a GET, and permanently to a QUERY", async () => {
    await using app = await start();

    const once = await app.query("/search/saved", { json: { word: "once" } });
    const always = await app.query("/search/saved", { json: { word: "always" } });

    expect([once.status, always.status]).to.deep.equal([303, 308]);
    expect(once.headers.get("location")).to.equal("/search");
  });

  it("is among the allowed methods of its path, which names its media types", async () => {
    await using app = await start();

    const options = await app.options("/search");
    const refused = await app.delete("/search");
    const other = await app.query("/search/posted", { json: {} });

    expect([options.status, options.headers.get("allow")]).to.deep.equal([204, "GET, HEAD, OPTIONS, QUERY"]);
    expect(options.headers.get("accept-query")).to.equal("application/json");
    expect([refused.status, refused.headers.get("allow")]).to.deep.equal([405, "GET, HEAD, OPTIONS, QUERY"]);
    expect(refused.headers.get("accept-query")).to.equal("application/json");
    expect([other.status, other.headers.get("allow")]).to.deep.equal([405, "OPTIONS, POST"]);
    expect(other.headers.get("accept-query")).to.equal(null);
  });

  it("leaves GET and HEAD of its path as they are, but for the media types", async () => {
    await using app = await start();

    const page = await app.get("/search");
    const head = await app.head("/search");
    const alone = await app.head("/search/either");

    expect(await page.text()).to.equal("a page");
    expect(page.headers.get("cache-control")).to.equal(null);
    expect(page.headers.get("accept-query")).to.equal("application/json");
    expect([head.status, alone.status]).to.deep.equal([200, 405]);
  });

  it("is called by the typed client, which repeats the call", async () => {
    let refusals = 1;
    const api = client(search, {
      origin: "https://api.example",
      fetch: async (_url, { method, headers, body }) => {
        if (refusals-- > 0) return new Response(null, { status: 503, headers: { "retry-after": "0" } });
        return Response.json({ found: `${method} ${headers.get("content-type")} ${JSON.stringify(body)}` });
      },
    });

    const { found } = await api.one({ body: { word: "tea" } });

    expect(found).to.equal(`QUERY application/json ${JSON.stringify('{"word":"tea"}')}`);
  });

  it("is sent by fetch with its body", async () => {
    await using app = await testApp(Application.create(SearchModule));

    const { found } = await client(search, { origin: app.url }).one({ body: { word: "tea" } });

    expect(found).to.equal("tea");
  });

  it("is also a Route", async () => {
    const query = Route.query("/found", async (ctx) => ctx.json()).name("found");
    const declared = Route.of(Query("/found/{at}", { body: Filter }), ({ input, params }) => [input.body, params.at]);
    await using app = await testApp(Application.create().routes(new Routes([query, declared])));

    const response = await app.query("/found", { json: { word: "tea" } });

    expect(await response.json()).to.deep.equal({ word: "tea" });
    expect(await (await app.query("/found/1", { json: { word: "tea" } })).json()).to.deep.equal([{ word: "tea" }, "1"]);
    expect((await app.query("/found", { body: Buffer.from("{}") })).status).to.equal(400);
  });
});

describe("a hostile QUERY", () => {
  const rows: readonly (readonly [what: string, lines: readonly string[], body: string, status: number])[] = [
    ["without a body is a 400", jsonOf(0), "", 400],
    ["without a body and without its length is a 400", ["Content-Type: application/json"], "", 400],
    ["with an empty Content-Type is a 400", ["Content-Type:", "Content-Length: 2"], "{}", 400],
    ["with a body of 3 MB is a 413", jsonOf(3_000_013), `{"word":"${"x".repeat(3_000_002)}"}`, 413],
    [
      "with a chunked body is read",
      ["Content-Type: application/json", "Transfer-Encoding: chunked"],
      '8\r\n{"word":\r\n6\r\n"tea"}\r\n0\r\n\r\n',
      200,
    ],
    [
      "with two framings is a 400",
      ["Content-Type: application/json", "Transfer-Encoding: chunked", "Content-Length: 3"],
      "0\r\n\r\n",
      400,
    ],
  ];

  for (const [what, lines, body, status] of rows) {
    it(what, async () => {
      await using app = await start();

      const received = await app.raw(
        ["QUERY /search HTTP/1.1", "Host: localhost", "Connection: close", ...lines, "", body].join("\r\n"),
      );

      expect(received.toString("latin1").split("\r\n", 1)[0]).to.match(new RegExp(`^HTTP/1.1 ${status} `));
    });
  }

  it("in lower case is another method, which Node's parser refuses", async () => {
    await using app = await start();

    const received = await app.raw("query /search HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

    expect(received.toString("latin1")).to.match(/^HTTP\/1.1 400 /);
  });
});

describe("an endpoint of QUERY with orPost", () => {
  it("handles both methods with one handler, one contract and one URL", async () => {
    await using app = await start();

    const url = search.both.url(1);
    const query = await app.query(url, { json: { word: "tea" } });
    const post = await app.post(url, { json: { word: "tea" } });
    const refused = await app.post(url, { json: {} });
    const untyped = await app.post(url, { body: Buffer.from("{}") });

    expect(await query.json()).to.deep.equal({ found: "QUERY tea 2" });
    expect(await post.json()).to.deep.equal({ found: "POST tea 2" });
    expect(refused.status).to.equal(422);
    expect([untyped.status, untyped.headers.get("accept-query")]).to.deep.equal([415, "application/json"]);
  });

  it("has a route for each method, and each route has a name", async () => {
    await using app = await start();

    const routesOfBoth = app.application
      .routes()
      .descriptors()
      .filter(({ path }) => path === "/search/both/{at}");

    expect(routesOfBoth.map(({ method, name, handler }) => [method, name, handler])).to.deep.equal([
      ["QUERY", "search.both", "SearchController.both"],
      ["POST", "search.both.post", "SearchController.both"],
    ]);
    expect((await app.options("/search/both/1")).headers.get("allow")).to.equal("OPTIONS, POST, QUERY");
  });

  it("is refused beside a POST at the same template", () => {
    const both = new Routes([Route.of(Query("/a").orPost(), () => "query"), Route.of(Post("/a"), () => "post")]);

    expect(() => Application.create().routes(both).build()).to.throw(/E_ROUTE_DUPLICATE/);
  });

  it("needs the CSRF token for POST alone", async () => {
    const both = new Routes([Route.of(Query("/a").orPost(), ({ method }) => method)]);
    await using app = await testApp(Application.create().csrf(new CsrfConfig()).routes(both));

    const query = await app.query("/a", { json: {}, headers: { "sec-fetch-site": "cross-site" } });
    const post = await app.post("/a", { json: {} });

    expect(await query.text()).to.equal("QUERY");
    expect(post.status).to.equal(403);
  });
});

describe("the stages, for QUERY", () => {
  it("allow it in a preflight", async () => {
    await using app = await testApp(Application.create(SearchModule).cors({ origins: ["https://app.example"] }));

    const response = await app.options("/search", {
      headers: { origin: "https://app.example", "access-control-request-method": "QUERY" },
    });

    expect(response.headers.get("access-control-allow-methods")).to.contain("QUERY");
  });

  it("redirect it from the proxy with a status that keeps method and body", async () => {
    const proxied = Application.create(SearchModule).proxy(({ url }) =>
      ProxyAction.redirect("/search", { permanent: url === "/always" }),
    );
    await using app = await testApp(proxied);

    const send = async (path: string) => (await app.query(path, { body: "{}", headers: JSON_TYPE })).status;

    expect([await send("/once"), await send("/always")]).to.deep.equal([307, 308]);
  });

  it("serve it no static file", async () => {
    using site = new StaticSite();
    site.put("tea.txt", "tea");
    await using app = await testApp(Application.create().staticFiles({ root: site.root }));

    expect((await app.get("/tea.txt")).status).to.equal(200);
    expect((await app.query("/tea.txt", { json: {} })).status).to.be.oneOf([404, 405]);
  });
});
