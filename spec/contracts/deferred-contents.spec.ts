/** The contents of responses that stages complete, or that are streams of texts: pages, redirects, and the text of the metrics. */
import { expect } from "chai";
import { Application, content, type ContextOf, Controller, Get, Module, redirect, routes } from "@stagecraft/framework";
import { Metrics, PROMETHEUS_CONTENT_TYPE } from "@stagecraft/framework/observe/metrics";
import { external, page, Pages } from "@stagecraft/framework/pages";
import { testApp } from "@stagecraft/framework/testing";
import { pageIn } from "../support/page-visit.js";

const desk = routes("desk", "/desk", {
  show: Get("/{place}", {
    responses: {
      200: content.page("desk/show", "desk/empty"),
      302: content.redirect(),
      403: content.page("desk/enter"),
    },
  }),
  scrape: Get("/all/metrics", { responses: { 200: content.text(PROMETHEUS_CONTENT_TYPE) } }),
});

@Controller(desk)
class DeskController {
  private readonly metrics = new Metrics();

  @desk.show show({ params: { place } }: ContextOf<typeof desk.show>) {
    if (place === "elsewhere") return external("https://else.example/a b");
    if (place === "door") return page("desk/enter", {}).status(403);
    if (place === "empty") return page("desk/empty", {});
    return place === "old" ? redirect().to("/desk/new") : page("desk/show", {});
  }

  @desk.scrape scrape() {
    for (let at = 0; at < 5000; at++) this.metrics.increment("opened_total", { desk: `desk-${at}` });
    return this.metrics.response();
  }
}

@Module({ controllers: [DeskController] })
class DeskModule {}

const start = () => testApp(Application.create(DeskModule).pages(new Pages({ entry: "pages/main.tsx" })));

describe("the contents of one endpoint", () => {
  it("may be several pages and a redirect", async () => {
    await using app = await start();

    const shown = [];
    for (const place of ["new", "empty", "door"]) {
      const response = await app.get(`/desk/${place}`);
      shown.push([response.status, pageIn(await response.text()).component]);
    }
    const moved = await app.get("/desk/old");

    expect(shown).to.deep.equal([
      [200, "desk/show"],
      [200, "desk/empty"],
      [403, "desk/enter"],
    ]);
    expect([moved.status, moved.headers.get("location")]).to.deep.equal([302, "/desk/new"]);
  });

  it("may be a redirect to another site", async () => {
    await using app = await start();

    const { status, headers } = await app.get("/desk/elsewhere");

    expect([status, headers.get("location")]).to.deep.equal([302, "https://else.example/a%20b"]);
  });

  it("may be a long text that is sent as a stream", async () => {
    await using app = await start();

    const response = await app.get("/desk/all/metrics");

    expect([response.status, response.headers.get("content-type")]).to.deep.equal([200, PROMETHEUS_CONTENT_TYPE]);
    expect((await response.text()).length).to.be.greaterThan(65_536);
  });
});
