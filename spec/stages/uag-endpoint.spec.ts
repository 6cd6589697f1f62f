import {
  Application,
  Controller,
  event,
  Get,
  Maintenance,
  Module,
  On,
  Post,
  Route,
  Routes,
  SecurityHeaders,
  UagEndpointLayer,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { obeysLayerContract } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { runProgram } from "../support/program.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const Added = event<{ readonly id: string }>("link.added");

class Announcer {
  @On(Added)
  announce() {}
}

@Controller("/links")
class LinksController {
  @Get("/{id}", { name: "links.show", page: "links/show" })
  show() {
    return "a link";
  }

  @Post("/", { csrf: "exempt", bearer: true })
  add() {
    return "added";
  }
}

@Module({ controllers: [LinksController], providers: [Announcer], events: [Added] })
class LinksModule {}

const build = () => Application.create(LinksModule).uagEndpoint();

/** Every key of an object before the next one, at each depth. */
function hasSortedKeys(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  const isSorted = keys.every((key, at) => at === 0 || (keys[at - 1] ?? "") < key);
  return isSorted && Object.values(value).every(hasSortedKeys);
}

describe("the endpoint of the graph", () => {
  it("responds with the graph as JSON, keys sorted", async () => {
    await using app = await testApp(build());

    const response = await app.get("/_framework/uag.json");
    const body = await response.text();

    expect(response.status).to.equal(200);
    expect(Object.fromEntries(response.headers)).to.deep.include({
      "content-type": "application/json",
      "cache-control": "no-store",
      "content-length": String(Buffer.byteLength(body)),
    });
    expect(body).to.equal(JSON.stringify(app.application.graph()));
    expect(hasSortedKeys(JSON.parse(body))).to.equal(true);
    expect(JSON.parse(body)).to.deep.include({
      format: "framework.uag.v1",
      schema_version: 2,
      events: [{ name: "link.added", modules: ["LinksModule"], listeners: ["Announcer.announce"] }],
      pages: [{ name: "links/show" }],
    });
  });

  it("describes a route with its options, and every stage", async () => {
    await using app = await testApp(build());
    const { routes, pipeline } = app.application.graph();

    expect(routes[0]).to.deep.equal({
      action: "LinksController.add",
      bearer: true,
      csrf: "exempt",
      guards: [],
      handler: "LinksController.add",
      method: "POST",
      middleware: [],
      module: "LinksModule",
      name: null,
      pages: [],
      params: [],
      path: "/links",
      policies: [],
    });
    expect(routes[1]).not.to.have.any.keys("bearer", "csrf");
    expect(pipeline).to.deep.include({ number: 4, on: true, slot: "uagEndpoint" });
    expect(pipeline).to.have.length(25);
  });

  it("responds to HEAD with the same head, and to other methods with 405", async () => {
    await using app = await testApp(build());
    const got = await app.get("/_framework/uag.json");

    const head = await app.request("/_framework/uag.json", { method: "HEAD" });
    const posted = await app.post("/_framework/uag.json");

    expect(head.status).to.equal(200);
    expect(await head.text()).to.equal("");
    for (const name of ["content-type", "content-length", "cache-control"])
      expect(head.headers.get(name)).to.equal(got.headers.get(name));
    expect([posted.status, posted.headers.get("allow")]).to.deep.equal([405, "GET, HEAD"]);
  });

  it("does not pass the inner stages", async () => {
    const stages = build().securityHeaders(new SecurityHeaders()).requestId().maintenance(Maintenance.engaged());
    await using app = await testApp(stages);

    const { status, headers } = await app.get("/_framework/uag.json");

    expect(status).to.equal(200);
    expect(headers.has("x-request-id") || headers.has("x-frame-options")).to.equal(false);
  });

  it("is absent without its call, and has another path where one is given", async () => {
    await using without = await testApp(Application.create(LinksModule));
    await using moved = await testApp(Application.create(LinksModule).uagEndpoint("/graph"));

    expect((await without.get("/_framework/uag.json")).status).to.equal(404);
    expect((await moved.get("/_framework/uag.json")).status).to.equal(404);
    expect((await moved.get("/graph?a=1")).status).to.equal(200);
    expect((await moved.get("/graph/")).status).to.equal(404);
  });

  it("refuses a path that is not plain, one of the health endpoints, and one that a route has", () => {
    for (const path of ["", "graph", "/graph/", "/a b", "/../x", "/up/live", 7 as unknown as string]) {
      const { diagnostics } = startupErrorOf(() => Application.create().uagEndpoint(path).build());
      expect(
        diagnostics.map(({ code }) => code),
        path,
      ).to.deep.equal(["E_UAG_PATH"]);
    }
    const routes = new Routes([Route.get("/graph", () => ""), Route.get("/_framework/mine", () => "")]);
    const { diagnostics } = startupErrorOf(() => Application.create().uagEndpoint("/graph").routes(routes).build());
    expect(diagnostics.map(({ code, what }) => `${code} ${what}`)).to.deep.equal([
      "E_ROUTE_RESERVED the route GET /_framework/mine lies below /_framework, which is reserved for the framework",
      "E_ROUTE_RESERVED the route GET /graph has the path of .uagEndpoint(…), which responds before it",
    ]);
  });

  it("does not exist in a release build, which warns of it at the start", async () => {
    const program = `
      const { Application } = await load("entries/main.js");
      const { installLogging } = await load("entries/observe.js");
      const { createServer } = await import("node:net");
      installLogging("info");
      const application = Application.create().uagEndpoint().build();
      const listener = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => listener.once("listening", resolve));
      const running = await application.serve(listener);
      const { status } = await getFrom(running.url + "/_framework/uag.json");
      const { on } = application.pipeline().find(({ slot }) => slot === "uagEndpoint");
      process.stdout.write(status + " " + on);
      await running.stop();
    `;

    const { stdout, stderr } = await runProgram(program, { NODE_ENV: "production" });

    expect(stdout).to.equal("404 false");
    expect(stderr).to.match(/"level":"WARN","message":"\.uagEndpoint\(…\) is ignored in a release build"/);
  });

  it("obeys the layer contract", async () => {
    await obeysLayerContract(new UagEndpointLayer(), { refused: { path: "/_framework/uag.json" } });
  });
});
