/** Routes that are deprecated or have a sunset: the headers of their responses, the counter, and the dates that are refused. */
import { expect } from "chai";
import {
  Application,
  Controller,
  Get,
  guard,
  Guards,
  Module,
  NotFoundError,
  Post,
  prefix,
  RateLimit,
  Reply,
  resource,
  Route,
  Routes,
  routes,
  type ServerSentEvent,
  UnauthorizedError,
} from "@stagecraft/framework";
import { HTTP_DEPRECATED_REQUESTS, Metrics } from "@stagecraft/framework/observe/metrics";
import { testApp } from "@stagecraft/framework/testing";
import { MetricsLayer } from "../../lib/stages/metrics.js";

const keyed = guard("keyed");
const OPTIONS = { deprecated: "2023-06-30T23:59:59Z", sunset: new Date("2026-12-31T12:00:00+02:00") } as const;

const links = prefix(
  "/v1",
  routes("links", "/links", {
    index: Get("/", OPTIONS),
    fails: Get("/fails", OPTIONS),
    missing: Get("/missing", OPTIONS),
    guarded: Get("/guarded", { ...OPTIONS, guards: [keyed] }),
    overdue: Get("/overdue", { deprecated: true }),
    ends: Get("/ends/{id}", { sunset: "2026-12-31" }),
    stays: Get("/stays", { deprecated: false }),
  }),
);

@Controller(links)
class LinksController {
  @links.index index() {
    return [];
  }
  @links.fails fails() {
    throw new TypeError("broken");
  }
  @links.missing missing() {
    throw new NotFoundError();
  }
  @links.guarded guarded() {}
  @links.overdue overdue() {
    return "overdue";
  }
  @links.ends ends() {
    return "ends";
  }
  @links.stays stays() {
    return "stays";
  }
}

class Keys {
  @Guards(keyed) check(): undefined {
    throw new UnauthorizedError();
  }
}

@Module({ controllers: [LinksController], providers: [Keys] })
class LinksModule {}

async function* listEvents(): AsyncGenerator<ServerSentEvent> {
  yield await Promise.resolve({ data: "tea" });
}

describe("a deprecated route", () => {
  it("says since when, and how long it responds, on each of its responses", async () => {
    await using app = await testApp(Application.create(LinksModule).errorMapping());

    for (const [url, status] of [
      [links.index.url(), 200],
      [links.fails.url(), 500],
      [links.missing.url(), 404],
      [links.guarded.url(), 401],
    ] as const) {
      const response = await app.get(url);

      expect(response.status).to.equal(status);
      expect(response.headers.get("deprecation")).to.equal("@1688169599");
      expect(response.headers.get("sunset")).to.equal("Thu, 31 Dec 2026 10:00:00 GMT");
    }
  });

  it("says so on the responses to HEAD, to a stream, on 304 and on a timeout", async () => {
    const all = new Routes([
      Route.get("/stream", () => Reply.events(listEvents()), OPTIONS),
      Route.get("/known", () => Reply.empty(304), OPTIONS),
      Route.get("/late", () => new Promise(() => {}), OPTIONS),
    ]);
    await using app = await testApp(Application.create().routes(all).errorMapping().timeout(20));

    for (const [method, url, status] of [
      ["GET", "/stream", 200],
      ["HEAD", "/stream", 200],
      ["GET", "/known", 304],
      ["GET", "/late", 408],
    ] as const) {
      const response = await app.request(url, { method });
      await response.text();

      expect(response.status).to.equal(status);
      expect(response.headers.get("deprecation")).to.equal("@1688169599");
      expect(response.headers.get("sunset")).to.equal("Thu, 31 Dec 2026 10:00:00 GMT");
    }
  });

  it("is not reached by a request that a stage refuses, whose response says nothing", async () => {
    const metrics = new Metrics();
    await using app = await testApp(Application.create(LinksModule).metrics(metrics).rateLimit(RateLimit.perMinute(1)));

    await app.get(links.index.url());
    const { status, headers } = await app.get(links.index.url());

    expect([status, headers.get("deprecation"), headers.get("sunset")]).to.deep.equal([429, null, null]);
    expect(metrics.counterValue(HTTP_DEPRECATED_REQUESTS, { method: "GET", route: links.index.path })).to.equal(1);
  });

  it("has only the headers that have a date", async () => {
    await using app = await testApp(Application.create(LinksModule));

    const headersOf = async (url: string): Promise<readonly unknown[]> => {
      const { headers } = await app.get(url);
      return [headers.get("deprecation"), headers.get("sunset")];
    };

    expect(await headersOf(links.overdue.url())).to.deep.equal([null, null]);
    expect(await headersOf(links.ends.url(7))).to.deep.equal([null, "Thu, 31 Dec 2026 00:00:00 GMT"]);
    expect(await headersOf(links.stays.url())).to.deep.equal([null, null]);
  });

  it("leaves a header of the handler", async () => {
    const route = Route.get("/", (ctx) => ctx.set("Sunset", "Fri, 01 Jan 2027 00:00:00 GMT"), OPTIONS);
    await using app = await testApp(Application.create().routes(new Routes([route])));

    const { headers } = await app.get("/");

    expect(headers.get("sunset")).to.equal("Fri, 01 Jan 2027 00:00:00 GMT");
    expect(headers.get("deprecation")).to.equal("@1688169599");
  });

  it("is counted by its template and method, also if it only has a sunset", async () => {
    const metrics = new Metrics();
    await using app = await testApp(Application.create(LinksModule).metrics(metrics).errorMapping());

    await app.get(links.ends.url(1));
    await app.get(links.ends.url(2));
    await app.head(links.ends.url(3));
    await app.get(links.overdue.url());
    await app.get(links.guarded.url());
    await app.get(links.stays.url());

    const lines = metrics.render().split("\n");
    expect(lines.filter((line) => line.startsWith(HTTP_DEPRECATED_REQUESTS))).to.deep.equal([
      'http_deprecated_requests_total{method="GET",route="/v1/links/ends/{id}"} 2',
      'http_deprecated_requests_total{method="GET",route="/v1/links/guarded"} 1',
      'http_deprecated_requests_total{method="GET",route="/v1/links/overdue"} 1',
      'http_deprecated_requests_total{method="HEAD",route="/v1/links/ends/{id}"} 1',
    ]);
  });

  it("is counted once beside a layer of the route", async () => {
    const metrics = new Metrics();
    const route = Route.get("/old", () => "old", { deprecated: true }).middleware(
      MetricsLayer.labelled(metrics, "/old"),
    );
    await using app = await testApp(
      Application.create()
        .routes(new Routes([route]))
        .metrics(metrics),
    );

    await app.get("/old");

    expect(metrics.counterValue(HTTP_DEPRECATED_REQUESTS, { method: "GET", route: "/old" })).to.equal(1);
  });

  it("adds no counter to an application without one", async () => {
    const metrics = new Metrics();
    await using app = await testApp(
      Application.create()
        .routes(new Routes([Route.get("/", () => "")]))
        .metrics(metrics),
    );

    await app.get("/");

    expect(metrics.render()).not.to.contain(HTTP_DEPRECATED_REQUESTS);
  });

  it("is in the graph with its dates, as text", () => {
    const graph = Application.create(LinksModule).build().graph();
    const found = graph.routes.filter(({ deprecated, sunset }) => deprecated !== undefined || sunset !== undefined);

    const dates = ["2023-06-30T23:59:59.000Z", "2026-12-31T10:00:00.000Z"];
    expect(found.map(({ name, deprecated, sunset }) => [name, deprecated, sunset])).to.deep.equal([
      ["v1.links.index", ...dates],
      ["v1.links.ends", undefined, "2026-12-31T00:00:00.000Z"],
      ["v1.links.fails", ...dates],
      ["v1.links.guarded", ...dates],
      ["v1.links.missing", ...dates],
      ["v1.links.overdue", true, undefined],
    ]);
  });

  it("is each action of a resource with the option", () => {
    const photos = resource("photos", "/photos", { only: ["index", "show"], deprecated: "2026-11-01" });

    expect([photos.index.deprecated, photos.show.deprecated]).to.deep.equal([
      "2026-11-01T00:00:00.000Z",
      "2026-11-01T00:00:00.000Z",
    ]);
  });

  const refused: readonly (readonly [what: string, options: object])[] = [
    ["a day that does not exist", { deprecated: "2026-02-30" }],
    ["a time without a zone", { deprecated: "2026-11-01T09:00:00" }],
    ["a text that is no date", { deprecated: "soon" }],
    ["a number", { sunset: 1_688_169_599 }],
    ["an invalid date", { sunset: new Date("soon") }],
    ["true", { sunset: true }],
    ["null", { deprecated: null }],
    ["a sunset before the deprecation", { deprecated: "2026-11-01", sunset: "2026-10-31" }],
    ["an hour that does not exist", { sunset: "2026-11-01T25:00Z" }],
  ];

  for (const [what, options] of refused) {
    it(`is refused with ${what} where it is declared`, () => {
      expect(() => Post("/links", options))
        .to.throw(/Post\("\/links"\): (deprecated|sunset)/)
        .with.property("code", "E_OPTION");
      expect(() => Route.post("/links", () => "", options))
        .to.throw(/POST \/links: /)
        .with.property("code", "E_OPTION");
    });
  }
});
