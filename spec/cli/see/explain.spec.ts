import { expect } from "chai";
import type { Explanation } from "../../../lib/cli/see/explain.js";
import { ApplicationFolder } from "../../support/application-folder.js";

const APP = `
import { Application, Get, guard, Guards, Post, Reply, Route, Routes, routes } from "@stagecraft/framework";
import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";
import { randomBytes } from "node:crypto";

function show() {}
function create() {}
const all = [
  Route.get("/links/{id}", show).name("links.show").middleware(async function noStore(ctx, next) { await next(); }),
  Route.get("/links/{*rest}", show),
  Route.delete("/links/{id}", show),
  Route.post("/links", create),
  Route.post("/hooks", create, { csrf: "exempt" }),
];
export default () =>
  Application.create()
    .routes(new Routes(all))
    .requestId()
    .timeout(1000, { status: 503 })
    .session(SessionConfig.dev(randomBytes(64)))
    .csrf(CsrfConfig.dev())
    .devProxy()
    .redirectMapper(false);
`;

async function explain(method: string, path: string): Promise<Explanation & { readonly code: number | null }> {
  using folder = new ApplicationFolder({ "app.js": APP });
  const { code, stdout } = await folder.call("explain", method, path, "--json");
  return { code, ...(JSON.parse(stdout) as Explanation) };
}

describe("stagecraft explain", () => {
  it("names the route of a request, with its middleware, and the others that match the path", async () => {
    const { code, route, considered } = await explain("GET", "/links/7?page=2");

    expect(code).to.equal(0);
    expect(route).to.deep.equal({
      method: "GET",
      path: "/links/{id}",
      name: "links.show",
      handler: "show",
      module: "",
      guards: [],
      middleware: ["noStore"],
      policies: [],
    });
    expect(considered.map(({ method, path, why }) => `${method} ${path} ${why}`)).to.deep.equal([
      "GET /links/{id} handles the request: the most specific template with the method",
      "GET /links/{*rest} is less specific",
      "DELETE /links/{id} is for DELETE",
    ]);
  });

  it("says why each stage is on or off, with the line of the call", async () => {
    const { stages } = await explain("GET", "/links/7");

    const because = Object.fromEntries(
      stages.map(({ slot, on, because: why }) => [slot, `${on ? "on" : "off"}: ${why}`]),
    );
    expect(because).to.include({
      requestId: "on: .requestId() at app.js:18:6",
      timeout: "on: .timeout(…) at app.js:19:6",
      health: "on: is on unless the builder switches it off",
      router: "on: every application has it",
      compression: "off: .compression(…) is not called",
      devProxy: "off: FRAMEWORK_VITE_IPC is not set; .devProxy(…) at app.js:22:6",
      redirectMapper: "off: switched off by .redirectMapper(on) at app.js:23:6",
    });
    expect(stages).to.have.length(25);
  });

  const refusals: readonly (readonly [string, string, readonly string[]])[] = [
    ["GET", "/links/7", ["503 timeout"]],
    ["POST", "/links", ["503 timeout", "403 csrf"]],
    ["POST", "/hooks", ["503 timeout"]],
    ["PUT", "/links", ["503 timeout", "403 csrf", "405 router"]],
    ["GET", "/none", ["503 timeout", "404 router"]],
  ];
  for (const [method, path, statuses] of refusals) {
    it(`lists what may refuse ${method} ${path}`, async () => {
      const found = await explain(method, path);

      expect(found.refusals.map(({ status, by }) => `${status} ${by}`)).to.deep.equal(statuses);
    });
  }

  it("names the nearest route where none has the path, and exits with 1", async () => {
    expect(await explain("GET", "/linsk")).to.include({ code: 1, route: null, nearest: "POST /links" });
    expect(await explain("GET", "/link/7")).to.include({ code: 1, nearest: "GET /links/{id}" });
  });

  it("knows the health endpoints", async () => {
    expect(await explain("GET", "/up/ready")).to.include({ code: 0, isHealth: true });
  });

  it("prints the parts for a reader", async () => {
    using folder = new ApplicationFolder({ "app.js": APP });

    const { stdout } = await folder.call("explain", "get", "/links/7");

    expect(stdout).to.match(/^GET \/links\/7 is handled by show\n {2}route +GET \/links\/\{id\}, named links\.show\n/);
    for (const title of ["Considered", "Stages", "Refusals"]) expect(stdout).to.include(`\n\n${title}\n`);
  });

  it("refuses a path without its slash", async () => {
    using folder = new ApplicationFolder({ "app.js": APP });

    expect(await folder.call("explain", "GET", "links")).to.include({ code: 2 });
    expect(await folder.call("explain", "GET")).to.include({ code: 2 });
  });
});
