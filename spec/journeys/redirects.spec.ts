/** A redirect that a handler returns, with and without the redirect mapper, as the application's own layers, the client and the log see it. */
import {
  Application,
  Controller,
  Get,
  Module,
  redirect,
  Route,
  Routes,
  type Context,
  type Next,
} from "@stagecraft/framework";
import { Metrics, MetricsLayer } from "@stagecraft/framework/observe";
import { expectLogLine, expectProblem, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";

const show = Get("/{id}");
const elsewhere = Get("/elsewhere/{id}", "elsewhere");

@Controller("/photos")
class Photos {
  @show
  show({ params }: Context<"id">): string {
    return params.id;
  }
}

@Module({ controllers: [Photos] })
class PhotosModule {}

const routes = () =>
  new Routes([
    Route.any("/temporary", () => redirect().to("/a")),
    Route.any("/permanent", () => redirect().to("/a").permanent()),
    Route.get("/half", (ctx) => {
      ctx.body = { half: "made" };
      return redirect().to("/a");
    }),
    Route.get("/photo", () => redirect().route(show, 7)),
    Route.get("/nowhere", () => redirect().route(elsewhere, 7)),
    Route.get("/unnamed", () => redirect().route("elsewhere")),
  ]);

async function choosing307(ctx: Context, next: Next): Promise<void> {
  await next();
  ctx.status = 307;
}

const application = () => Application.create(PhotosModule).routes(routes());

describe("a returned redirect", () => {
  for (const [method, path, status] of [
    ["GET", "/temporary", 302],
    ["POST", "/temporary", 303],
    ["GET", "/permanent", 301],
    ["PUT", "/permanent", 308],
    ["GET", "/half", 302],
  ] as const) {
    it(`of ${method} ${path} has its status ${status}, and no body, for a layer of the application`, async () => {
      const seen: unknown[] = [];
      const layer = async (ctx: Context, next: Next) => {
        await next();
        seen.push(ctx.status, ctx.body, ctx.type);
      };
      await using app = await testApp(application().layer(layer));

      const response = await app.request(path, { method });

      expect(seen).to.deep.equal([status, undefined, ""]);
      expect([response.status, response.headers.get("location")]).to.deep.equal([status, "/a"]);
    });
  }

  it("counts with its status in a metrics layer of the application", async () => {
    const metrics = new Metrics();
    await using app = await testApp(application().layer(MetricsLayer.labelled(metrics, "/temporary")));

    await app.get("/temporary");

    expect(metrics.render()).to.include('http_requests_total{method="GET",route="/temporary",status="302"} 1');
  });

  it("keeps another status of 3xx that a layer chooses", async () => {
    await using app = await testApp(application().layer(choosing307));

    const response = await app.get("/temporary");

    expect([response.status, response.headers.get("location")]).to.deep.equal([307, "/a"]);
  });

  it("leads to an endpoint of a controller, with its prefix", async () => {
    await using app = await testApp(application());

    const response = await app.get("/photo");

    expect([response.status, response.headers.get("location")]).to.deep.equal([302, "/photos/7"]);
  });

  for (const [what, path, isOn] of [
    ["an endpoint that is not a route", "/nowhere", true],
    ["an unknown name", "/unnamed", true],
    ["an endpoint without the mapper", "/photo", false],
    ["a name without the mapper", "/unnamed", false],
  ] as const) {
    it(`is a 500 E_ROUTE_NAME for ${what}, and the log has the stack`, async () => {
      await using app = await testApp(application().redirectMapper(isOn));

      const response = await app.get(path);

      await expectProblem(response, { status: 500 });
      expect(response.headers.has("location")).to.equal(false);
      const lines = app.logs.lines().map((line) => expectLogLine(line));
      const [failure] = lines.filter(({ message }) => message === "redirect failed");
      expect(failure?.fields).to.include({ code: "E_ROUTE_NAME", status: 500 });
      expect(failure?.fields?.["stack"]).to.match(/^(?:Framework|NotFound)Error: .*\n +at /);
    });
  }

  it("leads to a path without the mapper", async () => {
    await using app = await testApp(application().redirectMapper(false));

    const response = await app.request("/temporary", { method: "POST" });

    expect([response.status, response.headers.get("location")]).to.deep.equal([303, "/a"]);
  });
});
