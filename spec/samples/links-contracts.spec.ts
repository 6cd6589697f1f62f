/** The contracts of the sample: every endpoint has one, and clients get what it says. A debug build compares each response with it. */
import { Clock, provide } from "@stagecraft/framework";
import { expectProblem, FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { build } from "esbuild";
import { linksApplication } from "../../samples/links/application.js";
import { LinkStore } from "../../samples/links/link-store.js";
import { home, links, logos, ranking, visit } from "../../samples/links/links.routes.js";
import { guide } from "../../samples/links/overview/guide.controller.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { pageIn } from "../support/page-visit.js";
import { ROOT } from "../support/sources.js";
import { until } from "../support/until.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const TARGET = "https://example.com/";

/** The routes of `mailPreviews` and of `.apiDocs()`. */
const OF_THE_FRAMEWORK = /^\/(dev\/mails|docs|openapi\.json)/;

const application = () => linksApplication(settingsFrom({}));
const start = () => testApp(application());
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("the contracts of samples/links", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);

  it("name the responses of every endpoint", () => {
    const own = application()
      .build()
      .routes()
      .descriptors()
      .filter(({ path }) => !OF_THE_FRAMEWORK.test(path));

    expect(own).to.have.length.above(25);
    expect(own.filter(({ contract }) => contract?.responses === undefined)).to.deep.equal([]);
  });

  it("stand in the graph, each schema with its JSON Schema", () => {
    const { routes } = application().build().graph();
    const own = routes.filter(({ path }) => !OF_THE_FRAMEWORK.test(path));

    expect(own).to.have.length.above(25);
    expect(own.filter(({ responses }) => responses === undefined)).to.deep.equal([]);
    expect(JSON.stringify(own)).not.to.include("no JSON Schema");
    expect(own.find(({ name }) => name === "links.store")?.body?.["application/json"]).to.have.nested.property(
      "schema.properties",
    );
  });

  it("stand in the graph beside the jobs and schedules of the modules", () => {
    const { modules } = application().build().graph();
    const linksModule = modules.find(({ name }) => name === "LinksModule");

    expect(linksModule?.schedules).to.deep.equal(["Sweeper.removeUnused on links.sweep"]);
    expect(linksModule?.jobs).to.have.length(1);
  });

  it("name who may call an endpoint", () => {
    const { routes } = application().build().graph();

    const guarded = routes.flatMap(({ name, guards }) => (guards.length > 0 ? [[String(name), guards] as const] : []));
    const ofAccounts = guarded.filter(([name]) => /^(account|profile)\./.test(name));
    expect(Object.fromEntries(guarded.filter((each) => !ofAccounts.includes(each)))).to.deep.equal({
      "home.index": ["maybe-signed-in"],
      "home.shorten": ["signed-in"],
      "home.show": ["maybe-signed-in"],
      "home.remove": ["signed-in"],
      "logos.store": ["signed-in"],
      "own.index": ['api-token("links:read")'],
      "own.store": ['api-token("links:write")'],
      "own.destroy": ['api-token("links:write")'],
      "desk.index": ["signed-in", 'role("admin")'],
      "desk.close": ["signed-in", 'role("admin")'],
      "desk.open": ["signed-in", 'role("admin")'],
      "desk.remove": ["signed-in", 'role("admin")'],
      "admin.close": ['api-token("maintenance")', 'role("admin")'],
      "admin.open": ['api-token("maintenance")', 'role("admin")'],
      metrics: ["insider"],
    });
    expect(ofAccounts.map(([name]) => name)).to.have.length.above(15);
    expect(ofAccounts.filter(([, [first]]) => first !== "signed-in")).to.deep.equal([]);
  });

  it("are for a front end too, and so are the guards", async () => {
    const files = ["links.routes", "admin/admin.routes", "accounts/account.routes", "accounts/profile.routes"];
    const contents = files.map((file) => `export * from "./samples/links/${file}.js";`).join("");

    const { outputFiles } = await build({
      stdin: { contents, resolveDir: ROOT, loader: "ts" },
      bundle: true,
      format: "esm",
      platform: "browser",
      write: false,
      logLevel: "silent",
    });

    expect(outputFiles[0]?.text).to.include("/api/most-visited/live");
  });

  it("are without a warning of the start", async () => {
    await using app = await start();

    const warnings = app.logs.lines().filter((line) => line.includes('"level":"WARN"'));
    expect(warnings.filter((line) => /schema|guard/.test(line))).to.deep.equal([]);
  });

  it("give programs a typed client, with the problem of a name that is taken", async () => {
    await using app = await start();
    const api = app.client(links);
    const wanted = { body: { target: TARGET, slug: "one" }, headers: bearer("of-a-program") };

    const added = await api.store(wanted);
    const again = await api.store.result(wanted);
    const shown = await api.show({ params: { slug: "one" } });

    expect(shown).to.deep.equal(added);
    expect(again.status === 409 && again.body.detail).to.equal("the slug one is taken");
    expect((await api.index()).links).to.deep.equal([added]);
  });

  it("tell the ranking, and again when it has changed, until the client leaves", async () => {
    const clock = new FakeClock();
    await using app = await testApp(application(), provide(Clock).useValue(clock));
    const store = app.resolve(LinkStore);
    await store.add("one", TARGET);
    await store.add("two", TARGET);
    const leaving = new AbortController();
    const told: (readonly (readonly [string, number])[])[] = [];

    const api = app.client(ranking);
    const events = await api.live({ signal: leaving.signal });
    const heard = (async () => {
      for await (const { data } of events) told.push(data.links.map(({ slug, visits }) => [slug, visits]));
    })().catch(() => {});
    await until(() => told.length === 1);
    await store.countVisit("two", "2026-01-01");
    await until(async () => {
      clock.advance(5000);
      // The new ranking is counted before the response.
      await api.list();
      return told.length === 2;
    });
    leaving.abort();
    await heard;

    expect(told).to.deep.equal([
      [
        ["one", 0],
        ["two", 0],
      ],
      [
        ["two", 1],
        ["one", 0],
      ],
    ]);
  });

  for (const path of [
    home.show.url("A!"),
    visit.url("x".repeat(5000)),
    logos.show.url("__proto__"),
    links.show.url("A!"),
    guide.url("../index.md"),
  ]) {
    it(`refuse the address ${path.slice(0, 40)} with a page for people, and a problem for programs`, async () => {
      await using app = await start();

      const page = await app.get(path, { headers: { Accept: "text/html,*/*;q=0.8" } });
      const { errors } = await expectProblem(await app.get(path), { status: 422, slug: "validation" });

      const { component, props } = pageIn(await page.text());
      expect([page.status, component, props["status"]]).to.deep.equal([422, "errors/show", 422]);
      expect(Object.keys(errors ?? {})).to.satisfy(([name]: string[]) => /^params\.(slug|page)$/.test(name ?? ""));
    });
  }

  it("lead a form back that is no form of a page, and refuse one of another media type", async () => {
    await using app = await start();
    const ada = await app.actingAs("ada");
    const send = async (type: string, body: string) => {
      const { status } = await ada.post(home.shorten.url(), { body, headers: { "content-type": type } });
      return status;
    };

    expect(await send("application/json", "[1]")).to.equal(303);
    expect(await send("application/x-www-form-urlencoded", "target=a&target=b")).to.equal(303);
    expect(await send("application/json", "{")).to.equal(400);
    expect(await send("text/plain", "target=a")).to.equal(415);
  });
});
