/** The sample for its users: people with a page and a form, programs with JSON, operators with a key. */
import { provide, StartupError } from "@stagecraft/framework";
import { PageRenderer, WorkerPageRenderer } from "@stagecraft/framework/pages";
import { expectProblem, FakeClock, testApp, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { desk } from "../../samples/links/admin/admin.routes.js";
import { account } from "../../samples/links/accounts/account.routes.js";
import { linksApplication } from "../../samples/links/application.js";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { linkPages, SERVER_BUNDLE } from "../../samples/links/front-end.js";
import { LinkStore, type Link } from "../../samples/links/link-store.js";
import { home, links, own, visit } from "../../samples/links/links.routes.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { cheapPasswords } from "../support/cheap-passwords.js";
import { errorOf } from "../support/error-of.js";
import { pageIn, partial, type PageData } from "../support/page-visit.js";
import { addPerson, findMailPath, PASSWORD } from "../support/sample-people.js";
import { textOf } from "../support/sources.js";
import { until } from "../support/until.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const ADMIN = "root@example.org";
const TARGET = "https://example.com/a?b=<c>&d";

/** One thread renders for all applications of this file, because a thread takes longer to start than most specs. */
class SharedRenderer extends PageRenderer {
  // Its clock stands still: a busy machine takes longer for a page, and for the bundle, than a server may.
  private readonly thread = new WorkerPageRenderer({ bundle: SERVER_BUNDLE }, new FakeClock());

  override render(page: string) {
    return this.thread.render(page);
  }

  end(): Promise<void> {
    return this.thread.shutdown();
  }
}

const renderer = new SharedRenderer();

/** A page that the server cannot render is an error here. */
const started = (environment: NodeJS.ProcessEnv = {}) =>
  testApp(
    linksApplication(settingsFrom({ ADMINS: ADMIN, ...environment }), {
      pages: linkPages({ mustRender: true, renderer }),
    }),
    cheapPasswords(),
  );

/** No browser sends it by itself, so the CSRF protection lets such a request pass. */
const PROGRAM = { Authorization: "Bearer of-a-program" };

async function shortened(app: TestApp, slug = "example"): Promise<Response> {
  return app.post(links.store.url(), { headers: PROGRAM, json: { target: TARGET, slug } });
}

/** A job counts a visit after its response. */
function counted(app: TestApp, visits: number): Promise<void> {
  return until(async () => (await app.resolve(LinkStore).totals()).visits >= visits);
}

interface Shown extends PageData {
  /** The document, as the server has rendered it. */
  readonly html: string;
}

async function show(client: TestClient, path: string): Promise<Shown> {
  const html = await (await client.get(path)).text();
  return { ...pageIn(html), html };
}

/** The page that a form leads to. */
async function pageAfter(client: TestClient, path: string, form: Record<string, string>): Promise<Shown> {
  const sent = await client.post(path, { form });
  expect(sent.status).to.equal(303);
  return show(client, sent.headers.get("location") ?? "");
}

/** The first message of the flash. */
function messageOf({ flash }: Shown): unknown {
  return (flash as { readonly messages?: readonly { readonly message: string }[] } | undefined)?.messages?.[0]?.message;
}

/** A store with one link, which refuses every change. */
class OneLink extends LinkStore {
  private readonly link: Link = {
    slug: "one",
    target: "https://one.example/",
    createdAt: "2026-01-01T00:00:00Z",
    visits: 0,
  };

  override list(): Promise<readonly Link[]> {
    return Promise.resolve([this.link]);
  }
  override totals(): Promise<{ readonly links: number; readonly visits: number }> {
    return Promise.resolve({ links: 1, visits: 0 });
  }
  override mostVisited(): Promise<readonly Link[]> {
    return this.list();
  }
  override find(slug: string): Promise<Link | undefined> {
    return Promise.resolve(slug === this.link.slug ? this.link : undefined);
  }
  override add(): Promise<Link | undefined> {
    return Promise.resolve(undefined);
  }
  override countVisit(): Promise<void> {
    return Promise.resolve();
  }
  override visitsByDay(): Promise<readonly []> {
    return Promise.resolve([]);
  }
  override remove(): Promise<boolean> {
    return Promise.resolve(false);
  }
  override removeUnused(): Promise<number> {
    return Promise.resolve(0);
  }
}

describe("samples/links", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);

  before(() => buildFrontEnd());
  after(() => renderer.end());

  describe("for programs", () => {
    it("makes a link, shows it, lists it, and counts its visits", async () => {
      await using app = await started();

      const made = await shortened(app);
      const followed = await app.get(visit.url("example"));
      await counted(app, 1);
      const shown = await app.get(made.headers.get("location") ?? "");
      const listed = await app.get(links.index.url());

      expect([made.status, made.headers.get("location")]).to.deep.equal([201, "/api/links/example"]);
      expect([followed.status, followed.headers.get("location")]).to.deep.equal([
        302,
        "https://example.com/a?b=%3Cc%3E&d",
      ]);
      expect(await shown.json()).to.include({ slug: "example", target: TARGET, visits: 1 });
      expect(await listed.json()).to.have.nested.property("links[0].slug", "example");
    });

    it("chooses a slug where the request has none", async () => {
      await using app = await started();

      const made = await app.post(links.store.url(), { headers: PROGRAM, json: { target: TARGET } });

      expect((await made.json<Link>()).slug).to.match(/^[0-9a-f]{8}$/);
    });

    it("names the refused fields, and the reasons", async () => {
      await using app = await started();

      const refused = await app.post(links.store.url(), {
        headers: PROGRAM,
        json: { target: "ftp://example.com", slug: "No!" },
      });

      const { errors } = await expectProblem(refused, { status: 422, slug: "validation" });
      expect(errors).to.have.all.keys("body.target", "body.slug");
      expect(JSON.stringify(errors)).not.to.contain("ftp:").and.not.to.contain("No!");
    });

    it("refuses a slug that exists", async () => {
      await using app = await started();
      await shortened(app);

      await expectProblem(await shortened(app), { status: 409, slug: "conflict" });
    });

    it("responds with 404 for an unknown link", async () => {
      await using app = await started();

      for (const path of [links.show.url("none"), visit.url("none"), "/nowhere"]) {
        await expectProblem(await app.get(path), { status: 404, slug: "not-found" });
      }
    });

    it("makes, lists and removes the links of a person with a token of that person, and no others", async () => {
      await using app = await started();
      await shortened(app);
      const read = await app.actingAs("ada", { scopes: ["links:read"] });
      const write = await app.actingAs("ada", { scopes: ["links:write"] });
      const other = await app.actingAs("eve", { scopes: ["links:write"] });

      const made = await write.post(own.store.url(), { json: { target: TARGET, slug: "mine" } });
      const again = await write.post(own.store.url(), { json: { target: TARGET, slug: "mine" } });
      const listed = await (await read.get(own.index.url())).json<{ readonly links: readonly Link[] }>();
      const statuses = [
        await app.delete(own.destroy.url("mine"), { headers: PROGRAM }),
        await read.delete(own.destroy.url("mine")),
        await other.delete(own.destroy.url("mine")),
        await write.delete(own.destroy.url("example")),
        await write.delete(own.destroy.url("mine")),
      ].map(({ status }) => status);

      expect([made.status, again.status]).to.deep.equal([201, 409]);
      expect(listed.links.map(({ slug, owner }) => [slug, owner])).to.deep.equal([["mine", "ada"]]);
      expect(statuses).to.deep.equal([401, 403, 404, 404, 204]);
    });
  });

  describe("for people", () => {
    it("has a page that lists the links, rendered on the server, with every value escaped", async () => {
      await using app = await started();
      await shortened(app);

      const page = await app.get(home.index.url());

      expect(page.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      expect(await page.text())
        .to.include('href="/to/example"')
        .and.include("https://example.com/a?b=&lt;c&gt;&amp;d")
        .and.not.include("<c>");
    });

    it("lists twenty links at a time, those that match a search, and takes a query without meaning for none", async () => {
      await using app = await started();
      for (let at = 1; at <= 21; at++) await shortened(app, `link-${at}`);
      const listed = async (query: string) => {
        const { props } = await show(app, `/${query}`);
        const { data } = props["links"] as { readonly data: readonly { readonly slug: string }[] };
        return data.map(({ slug }) => slug);
      };

      expect(await listed(""))
        .to.have.length(20)
        .and.to.include("link-21");
      expect(await listed("?page=2")).to.deep.equal(["link-1"]);
      expect(await listed("?page=none")).to.have.length(20);
      expect(await listed("?q=LINK-7")).to.deep.equal(["link-7"]);
      expect(await listed("?q=nothing")).to.deep.equal([]);
    });

    it("shows a link, and its visits by day in a request of their own", async () => {
      await using app = await started();
      await shortened(app);
      await app.get(visit.url("example"));
      await counted(app, 1);

      const { props, version } = await show(app, home.show.url("example"));
      const headers = partial("links/show", "clicks", { "X-Inertia-Version": version ?? "" });
      const deferred = await (await app.get(home.show.url("example"), { headers })).json<PageData>();

      expect(props["link"]).to.include({ slug: "example", target: TARGET, visits: 1, isOwn: false });
      expect(props).not.to.have.property("clicks");
      const days = deferred.props["clicks"] as readonly { readonly day: string; readonly visits: number }[];
      expect(days.map(({ visits }) => visits)).to.deep.equal([...Array<number>(13).fill(0), 1]);
    });

    it("leads back to the page after its form, with the link and a message that is shown once", async () => {
      await using app = await started();
      const ada = await app.actingAs("ada");

      const page = await pageAfter(ada, home.shorten.url(), { target: TARGET, slug: "mine" });

      expect(messageOf(page)).to.equal("The link mine is ready.");
      expect(page.html).to.include('<p class="flash success">The link mine is ready.</p>');
      expect((await show(ada, "/")).html).not.to.include("is ready");
      expect(await app.resolve(LinkStore).find("mine")).to.include({ target: TARGET, owner: "ada" });
    });

    it("shows the form again, with the input, an error at each field, and every value escaped", async () => {
      await using app = await started();
      const ada = await app.actingAs("ada");

      const { html, props } = await pageAfter(ada, home.shorten.url(), { target: '"><b>', slug: "No!" });

      expect(props["errors"]).to.deep.equal({
        target: "an absolute http or https URL",
        slug: "3 to 32 lower-case letters, digits or hyphens",
      });
      expect(html)
        .to.include('value="&quot;&gt;&lt;b&gt;"')
        .and.include('class="fault">an absolute http or https URL<')
        .and.include('value="No!"')
        .and.not.include('"><b>');
    });

    it("says at its field that a name is taken", async () => {
      await using app = await started();
      await shortened(app, "taken");
      const ada = await app.actingAs("ada");

      const { props } = await pageAfter(ada, home.shorten.url(), { target: TARGET, slug: "taken" });

      expect(props).to.deep.include({ errors: { slug: "that name is taken" } });
      expect(props["entered"]).to.include({ slug: "taken" });
    });

    it("signs up by a mail, out, and in by address and password", async () => {
      await using app = await started();
      const browser = app.withCsrf();
      const ada = { email: "ada@example.org", password: PASSWORD };

      const { component, props } = pageIn(await (await browser.post(account.join.url(), { form: ada })).text());
      expect([component, props["email"], props["mails"]]).to.deep.equal(["account/sent", ada.email, "/dev/mails"]);
      const link = await findMailPath(app, ada.email, "Confirm your address");
      expect((await show(browser, link)).component).to.equal("account/confirm-sign-up");
      const joined = await pageAfter(browser, link, {});
      expect([messageOf(joined), joined.props["account"]]).to.deep.equal(["You have signed in.", ada.email]);
      const left = await pageAfter(browser, account.leave.url(), {});
      expect([messageOf(left), left.props["account"]]).to.deep.equal(["You have signed out.", null]);
      expect(left).to.include({ clearHistory: true });
      expect((await pageAfter(browser, account.enter.url(), ada)).props["account"]).to.equal(ada.email);
      expect((await pageAfter(app.withCsrf(), link, {})).component).to.equal("account/sign-in");
    });

    it("refuses wrong credentials with one response, keeps the address and never the password", async () => {
      await using app = await started();
      await addPerson(app, "ada@example.org");
      const browser = app.withCsrf();

      for (const email of ["ada@example.org", "nobody@example.org", "n".repeat(333)]) {
        const form = { email, password: "wrong horse" };
        const { props, html } = await pageAfter(browser, account.enter.url(), form);
        expect(props).to.deep.include({ errors: { email: "address or password are wrong" } });
        expect(props).to.deep.include({ entered: { email } });
        expect(html).not.to.include("wrong horse");
      }
      const { html } = await pageAfter(browser, account.join.url(), { email: "X", password: "short1" });
      expect(html).to.include("at least 8 characters").and.include('value="X"').and.not.include("short1");
      expect(app.logs.transcript()).not.to.include("horse");
    });

    it("says on its page that there were too many attempts", async () => {
      await using app = await started();
      const browser = app.withCsrf();
      const form = { email: "ada@example.org", password: "wrong horse" };

      for (let tries = 0; tries < 5; tries++) await browser.post(account.enter.url(), { form });
      const page = await pageAfter(browser, account.enter.url(), form);

      expect([page.component, messageOf(page)]).to.deep.equal([
        "account/sign-in",
        "Too many attempts. Try again later.",
      ]);
    });

    it("lets people remove their own links, and no others", async () => {
      await using app = await started();
      await shortened(app, "of-a-program");
      const [ada, eve] = [await app.actingAs("ada"), await app.actingAs("eve")];
      await ada.post(home.shorten.url(), { form: { target: TARGET, slug: "mine" } });

      expect((await eve.post(home.remove.url("mine"))).status).to.equal(404);
      expect((await ada.post(home.remove.url("of-a-program"))).status).to.equal(404);
      expect((await show(eve, home.show.url("mine"))).html).not.to.include("<summary>");
      expect((await show(ada, home.show.url("mine"))).html).to.include("<summary>Remove this link");
      expect(messageOf(await pageAfter(ada, home.remove.url("mine"), {}))).to.equal("The link mine is removed.");
    });

    it("asks a visitor to sign in first, and refuses a form without its token", async () => {
      await using app = await started();

      const headers = { Accept: "text/html", Referer: `${app.url}/?page=2` };
      const browser = app.withCsrf();
      await addPerson(app, "ada@example.org");

      const refused = await browser.post(home.shorten.url(), { headers, form: { target: TARGET } });
      const entered = await browser.post(account.enter.url(), {
        form: { email: "ada@example.org", password: PASSWORD },
      });

      expect([refused, entered].map((each) => each.headers.get("location"))).to.deep.equal([
        account.signIn.url(),
        "/?page=2",
      ]);
      expect((await app.post(home.shorten.url(), { form: { target: TARGET } })).status).to.equal(403);
    });

    it("shows errors as pages to browsers, and as problems to others", async () => {
      await using app = await started();

      const browser = await app.get("/nowhere", { headers: { Accept: "text/html,*/*;q=0.8" } });
      const program = await app.get("/nowhere", { headers: { Accept: "application/json" } });

      expect([browser.status, browser.headers.get("content-type")]).to.deep.equal([404, "text/html; charset=utf-8"]);
      expect(await browser.text())
        .to.include("<h1>Not found</h1>")
        .and.include('href="/"');
      await expectProblem(program, { status: 404 });
    });

    it("sends errors with Vary: Accept and no-store", async () => {
      await using app = await started();

      for (const Accept of ["text/html", "application/json"]) {
        for (const path of [visit.url("none"), home.shorten.url(), "/api/links/%zz"]) {
          const { status, headers } = await app.get(path, { headers: { Accept } });

          expect(status).to.be.within(400, 405);
          expect(headers.get("vary")?.split(", ")).to.include.members(["Accept", "Accept-Encoding", "Origin"]);
          expect(headers.get("cache-control")).to.equal("no-store");
        }
      }
    });

    it("has an icon and a robots.txt", async () => {
      await using app = await started();

      const [icon, robots] = [await app.get("/favicon.svg"), await app.get("/robots.txt")];

      expect(icon.headers.get("content-type")).to.match(/^image\/svg\+xml/);
      expect(await robots.text()).to.include("User-agent: *");
    });
  });

  describe("for operators", () => {
    it("enters and leaves maintenance by a token of an administrator, and its admin paths stay open", async () => {
      await using app = await started();
      const id = await addPerson(app, ADMIN);
      const program = await app.actingAs(id, { scopes: ["maintenance"] });

      const closed = await program.put("/admin/maintenance");
      const meanwhile = [await app.get("/"), await app.get("/up/ready"), await program.delete("/admin/maintenance")];
      const open = await app.get("/");

      expect([closed.status, ...meanwhile.map(({ status }) => status), open.status]).to.deep.equal([
        204, 503, 200, 204, 200,
      ]);
      const refused = [
        await app.put("/admin/maintenance", { headers: PROGRAM }),
        await (await app.actingAs(id, { scopes: ["links:write"] })).put("/admin/maintenance"),
        await (await app.actingAs("ada", { scopes: ["maintenance"] })).put("/admin/maintenance"),
      ];
      expect(refused.map(({ status }) => status)).to.deep.equal([401, 403, 403]);
    });

    it("has a page for administrators, with the same switch and the removal of any link", async () => {
      await using app = await started();
      await shortened(app, "any");
      const browser = await app.actingAs(await addPerson(app, ADMIN));
      const stranger = await app.actingAs("ada");

      const refused = [await stranger.get(desk.index.url()), await stranger.post(desk.close.url(), { form: {} })];
      const inside = await show(browser, desk.index.url());
      const shut = await pageAfter(browser, desk.close.url(), {});
      const visitor = await app.get("/", { headers: { Accept: "text/html" } });
      const opened = await pageAfter(browser, desk.open.url(), {});
      await pageAfter(browser, desk.remove.url("any"), {});

      expect(refused.map(({ status }) => status)).to.deep.equal([403, 403]);
      expect(inside).to.include({ component: "admin/index", encryptHistory: true });
      expect([shut.props["isClosed"], opened.props["isClosed"]]).to.deep.equal([true, false]);
      expect([visitor.status, pageIn(await visitor.text()).component]).to.deep.equal([503, "errors/show"]);
      expect(await app.resolve(LinkStore).find("any")).to.equal(undefined);
    });

    it("has no administrator where ADMINS is empty", async () => {
      await using app = await started({ ADMINS: " " });
      const ada = await app.actingAs(await addPerson(app, ADMIN));

      expect((await ada.get(desk.index.url())).status).to.equal(403);
    });

    for (const blank of ["", " "]) {
      it(`uses the default quota where its variable is ${JSON.stringify(blank)}`, async () => {
        await using app = await started({ REQUESTS_PER_SECOND: blank, REQUESTS_PER_HOUR: blank });

        expect((await app.get("/")).status).to.equal(200);
      });
    }

    const mistyped: readonly (readonly [string, string, string, RegExp])[] = [
      ["CORS_ORIGINS", "https://a.example/", '"https://a.example/" is not an origin', /without a path: https:/],
      ["CORS_ORIGINS", "https://a.example, HTTPS://B.example", '"HTTPS://B.example" is not an origin', /lower case/],
      ["CORS_ORIGINS", "https://a.example:443", '"https://a.example:443" is not an origin', /as browsers send them/],
      ["CORS_ORIGINS", "*", '"*" is not an origin', /https:\/\/app\.example/],
      ["METRICS_ALLOW", "127.0.0.1,localhost", '"localhost" is not an address or a block', /10\.0\.0\.0\/8/],
      ["METRICS_ALLOW", "10.0.0.0/33", '"10.0.0.0/33" is not an address or a block', /CIDR/],
      ["METRICS_ALLOW", "10.0.0.0/", '"10.0.0.0/" is not an address or a block', /CIDR/],
      ["METRICS_ALLOW", "fe80::1%eth0", '"fe80::1%eth0" is not an address or a block', /CIDR/],
      ["UPSTREAM_URL", "nonsense", '"nonsense" is not an http or https URL', /absolute http or https/],
      ["UPSTREAM_URL", "ftp://a.example/", '"ftp://a.example/" is not an http or https URL', /absolute http or https/],
      [
        "UPSTREAM_URL",
        "http://me:canary@a.example/",
        "the value (withheld) is not an http or https URL",
        /without credentials/,
      ],
      ["OTLP_ENDPOINT", "nonsense", '"nonsense" is not an http or https URL', /http:\/\/127\.0\.0\.1:4317/],
      ["REDIS_URL", "localhost:6379", '"localhost:6379" is not a URL with redis: or rediss:', /redis:\/\/host:port/],
      ["REQUESTS_PER_SECOND", "abc", '"abc" is not a whole number from 1 to 999999999', /write digits only/],
      ["REQUESTS_PER_HOUR", "0", '"0" is not a whole number from 1 to 999999999', /write digits only/],
    ];
    for (const [name, value, what, fix] of mistyped) {
      it(`does not start with ${name}=${value}, and names the fix`, () => {
        const { message, stack } = errorOf(() => settingsFrom({ [name]: value }));

        expect(message).to.include(what).and.include(`at ${name}`).and.match(fix);
        expect(message).not.to.include("canary");
        expect(stack).to.equal(`StartupError: ${message}`);
      });
    }

    it("has a row in the guide for each variable of its own", () => {
      const settings = textOf("samples/links/settings.ts") ?? "";
      const table = settings.slice(settings.indexOf("const VARIABLES"));
      const read = [...table.matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name]) => name);

      const rows = (textOf("docs/guide/sample.md") ?? "").split("\n").filter((line) => line.startsWith("| `"));
      const listed = rows.flatMap((row) =>
        [...(row.split("|")[1] ?? "").matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
      );
      expect(listed.filter((name) => !["PORT", "RUST_LOG", "NODE_ENV"].includes(name ?? ""))).to.have.members(read);
    });

    it("reports all malformed variables at once", () => {
      const error = errorOf(() => settingsFrom({ CORS_ORIGINS: "a,https://b.example,c", METRICS_ALLOW: "d" }));

      const findings = error instanceof StartupError ? error.diagnostics : [];
      expect(findings.map(({ what }) => what)).to.deep.equal([
        '"a" is not an origin',
        '"c" is not an origin',
        '"d" is not an address or a block of addresses',
      ]);
    });

    it("lets only pages of the configured origins call the API", async () => {
      await using app = await started({ CORS_ORIGINS: "https://a.example, http://localhost:5173" });

      const granted = await Promise.all(
        ["https://a.example", "http://localhost:5173", "https://b.example"].map(async (Origin) => {
          const { headers } = await app.get(links.index.url(), { headers: { Origin } });
          return headers.get("access-control-allow-origin");
        }),
      );

      expect(granted).to.deep.equal(["https://a.example", "http://localhost:5173", null]);
    });

    it("has every stage of a public service on", async () => {
      await using app = await started();

      const stages = app.application.pipeline().flatMap(({ slot, on }) => (on ? slot : []));

      expect(stages).to.include.members([
        "compression",
        "securityHeaders",
        "cors",
        "requestId",
        "traceContext",
        "accessLog",
      ]);
      expect(stages).to.include.members([
        "metrics",
        "catchPanic",
        "errorMapping",
        "bodyLimit",
        "timeout",
        "maintenance",
      ]);
      expect(stages).to.include.members(["rateLimit", "session", "csrf", "redirectMapper", "staticFiles", "health"]);
      expect(stages).to.include.members(["pages", "pageContracts"]);
    });
  });

  it("has middleware at three scopes: of a route, of a group, of a module", async () => {
    await using app = await started();
    const graph = app.application.graph();
    const around = (handler: string) => graph.routes.find((route) => route.handler === handler)?.middleware;

    expect(around("HomeController.shorten")).to.deep.equal(["LeadBack", "SlugCheck"]);
    expect(around("LinksController.index")).to.deep.equal(["NoStore"]);
    expect(around("MetricsController.scrape")).to.deep.equal(["NoStore"]);
    expect(around("HomeController.about")).to.deep.equal([]);

    const responses = [
      await app.get(links.index.url()),
      await app.get(home.about.url()),
      await (await app.actingAs(await addPerson(app, ADMIN), { scopes: ["maintenance"] })).delete("/admin/maintenance"),
      await app.delete("/admin/maintenance", { headers: PROGRAM }),
      await app.get(links.show.url("none")),
    ];
    expect(responses.map(({ headers }) => headers.get("cache-control"))).to.deep.equal([
      "no-store",
      null,
      "no-store",
      "no-store",
      "no-store",
    ]);
  });

  it("injects its store by the abstract class, so that a test may replace it", async () => {
    await using app = await testApp(linksApplication(settingsFrom({})), provide(LinkStore).useValue(new OneLink()));

    const [shown, taken] = [await app.get(links.show.url("one")), await shortened(app)];

    expect([shown.status, taken.status]).to.deep.equal([200, 409]);
  });
});
