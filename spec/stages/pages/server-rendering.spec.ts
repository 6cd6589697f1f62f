import { expect } from "chai";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PAGE_RENDER } from "../../../lib/observe/request-span.js";
import { listening } from "../../support/listening.js";
import { listeningOn } from "../../support/listening-on.js";
import { Page } from "../../../lib/stages/pages/page.js";
import {
  PageRenderer,
  parseRenderedPage,
  type RenderedPage,
} from "../../../lib/stages/pages/rendering/page-renderer.js";
import { SecurityHeaders } from "../../../lib/stages/security-headers/security-headers.js";
import type { PagesOptions } from "../../../lib/stages/pages/pages.js";
import { VitePageRenderer } from "../../../lib/stages/pages/rendering/vite-page-renderer.js";
import {
  WorkerPageRenderer,
  type WorkerPageRendererOptions,
} from "../../../lib/stages/pages/rendering/worker-page-renderer.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { errorOf } from "../../support/error-of.js";
import { inertia, pageIn, pagesApplication } from "../../support/page-visit.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { TracingRecorder } from "../../support/tracing-recorder.js";
import { until } from "../../support/until.js";

/** As a page of the Vue adapter: the page is a variable of the module, and the renderer waits. */
const LEAKY = `
let current;
export async function render(page) {
  current = page;
  await new Promise((resolve) => setTimeout(resolve, 5));
  return { head: ["<title data-inertia>" + page.component + "</title>"], body: \`<script data-page="app" type="application/json">{}</script><div data-server-rendered="true" id="app"><p>\${current.props.user}</p></div>\` };
}`;

const BUNDLES = {
  leaky: LEAKY,
  loops: `export function render(page) { for (;;) if (page.component === "fine") break; return { head: [], body: "fine" }; }`,
  hangs: `export function render(page) { return page.component === "fine" ? { head: [], body: "fine" } : new Promise(() => {}); }`,
  throws: `export function render(page) { if (page.component === "fine") return { head: [], body: "fine" }; throw new Error("no window"); }`,
  rejects: `export function render(page) { if (page.component !== "fine") Promise.reject(new Error("stray")); return new Promise((resolve) => setTimeout(resolve, 5, { head: [], body: "fine" })); }`,
  exits: `export function render(page) { if (page.component !== "fine") process.exit(3); return { head: [], body: "fine" }; }`,
  grows: `export function render(page) { const all = []; while (page.component !== "fine") all.push(new Array(1e5).fill(page)); return { head: [], body: "fine" }; }`,
  "returns nothing": `export function render(page) { return page.component === "fine" ? { head: [], body: "fine" } : undefined; }`,
  "returns a function": `export function render(page) { return page.component === "fine" ? { head: [], body: "fine" } : { head: [() => 1], body: "" }; }`,
  "sends messages": `import { parentPort } from "node:worker_threads";
export function render() { for (const message of [null, "text", {}, { number: 0, error: { toString: 1, valueOf: 1 } }]) parentPort.postMessage(message); return { head: [], body: "fine" }; }`,
  "throws a value without a text": `export function render() { throw Object.create(null); }`,
  "does not load": `throw new Error("broken bundle");`,
  "exports nothing": `export const value = 1;`,
  environment: `export function render() { return { head: [], body: Object.keys(process.env).join(",") }; }`,
} as const;

const FINE = { head: [], markup: "fine" };

const json = (component: string, user = "ann"): string => JSON.stringify({ component, props: { user } });

describe("WorkerPageRenderer", function () {
  this.timeout(120_000);
  let directory = "";
  const made: WorkerPageRenderer[] = [];
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "bundles-"));
    for (const [name, source] of Object.entries(BUNDLES)) await writeFile(join(directory, `${name}.mjs`), source);
  });
  afterEach(() => Promise.all(made.splice(0).map((each) => each.shutdown())));
  after(() => rm(directory, { recursive: true }));

  /** Its clock stands still, because a busy machine may take longer for a thread than the limits. */
  function renderer(
    name: keyof typeof BUNDLES,
    options: Partial<WorkerPageRendererOptions> = {},
    clock = new FakeClock(),
  ): WorkerPageRenderer {
    const each = new WorkerPageRenderer({ bundle: join(directory, `${name}.mjs`), ...options }, clock);
    made.push(each);
    return each;
  }

  it("takes the markup inside the root, and the head", async () => {
    expect(await renderer("leaky").render(json("home"))).to.deep.equal({
      head: ["<title data-inertia>home</title>"],
      markup: "<p>ann</p>",
    });
  });

  it("renders one page at a time, so that no visitor gets the page of another one", async () => {
    const shared = renderer("leaky");
    const users = Array.from({ length: 20 }, (_, at) => `user ${at}`);

    const pages = await Promise.all(users.map((user) => shared.render(json("home", user))));

    expect(pages.map(({ markup }) => markup)).to.deep.equal(users.map((user) => `<p>${user}</p>`));
  });

  for (const name of ["loops", "hangs"] as const) {
    it(`fails after the limit where a bundle ${name}, and renders the next page`, async () => {
      const clock = new FakeClock();
      const each = renderer(name, { timeoutMs: 300 }, clock);

      const [failed, next] = [rejectionOf(each.render(json("bad"))), each.render(json("fine"))];
      // The limit of the first page, and of the wait of the second one. Before there is one for the bundle too.
      await until(() => clock.pending === 2);
      clock.advance(299);
      const before = clock.pending;
      clock.advance(1);

      expect(String(await failed)).to.contain("more than 300 ms");
      expect(before).to.equal(2);
      expect((await next).markup).to.equal("fine");
    });
  }

  for (const name of ["throws", "rejects", "exits", "grows", "returns nothing", "returns a function"] as const) {
    it(`fails where a bundle ${name}, and renders the next page`, async () => {
      const each = renderer(name, name === "grows" ? { memoryMib: 16 } : {});

      const [failure, next] = await Promise.all([rejectionOf(each.render(json("bad"))), each.render(json("fine"))]);

      expect(failure).to.be.instanceOf(Error);
      expect(next.markup).to.equal("fine");
    });
  }

  it("names the reason why a result cannot be sent to the thread", async () => {
    expect(String(await rejectionOf(renderer("returns a function").render(json("bad"))))).to.contain(
      "could not be cloned",
    );
  });

  it("reports a bundle that throws a value without a text", async () => {
    const failure = await rejectionOf(renderer("throws a value without a text").render(json("a")));

    expect(String(failure)).to.contain("a value that has no text");
  });

  it("ignores messages of a bundle", async () => {
    const each = renderer("sends messages");

    expect([await each.render(json("a")), await each.render(json("b"))]).to.deep.equal([FINE, FINE]);
  });

  for (const name of ["does not load", "exports nothing"] as const) {
    it(`fails at once, for a while, where a bundle ${name}`, async () => {
      const each = renderer(name);

      const failures = [await rejectionOf(each.render(json("a"))), await rejectionOf(each.render(json("b")))];

      for (const failure of failures) expect(String(failure)).to.contain("could not be loaded");
    });
  }

  it("lets only some pages wait", async () => {
    const each = renderer("leaky", { maxWaiting: 2 });
    const accepted = [each.render(json("a")), each.render(json("b"))];

    expect(String(await rejectionOf(each.render(json("c"))))).to.contain("2 pages wait");
    await Promise.all(accepted);
  });

  it("gives the thread no environment but NODE_ENV", async () => {
    process.env["SPEC_SECRET"] = "secret";
    try {
      const { markup } = await renderer("environment").render(json("a"));
      expect(markup).to.be.oneOf(["", "NODE_ENV"]);
    } finally {
      delete process.env["SPEC_SECRET"];
    }
  });

  it("refuses pages after its shutdown, and those that wait", async () => {
    const each = renderer("hangs");
    const waiting = rejectionOf(each.render(json("a")));

    await each.shutdown();

    expect(String(await waiting)).to.contain("shut down");
    expect(String(await rejectionOf(each.render(json("b"))))).to.contain("shut down");
  });

  for (const options of [
    { bundle: "" },
    { bundle: "x", timeoutMs: 0 },
    { bundle: "x", memoryMib: 1.5 },
    { bundle: "x", maxWaiting: -1 },
  ]) {
    it(`is refused with ${JSON.stringify(options)}`, () => {
      expect(errorOf(() => new WorkerPageRenderer(options))).to.have.property("code", "E_RENDERER");
    });
  }
});

class Scripted extends PageRenderer {
  shutdowns = 0;
  readonly seen: string[] = [];

  constructor(private readonly result: () => Promise<RenderedPage | undefined>) {
    super();
  }

  override render(page: string): Promise<RenderedPage | undefined> {
    this.seen.push(page);
    return this.result();
  }

  override async shutdown(): Promise<void> {
    this.shutdowns++;
  }
}

const RENDERED = {
  head: ['<title data-inertia="">Rendered</title>', '<meta name="a" data-inertia="a">'],
  markup: "<h1>Hi</h1>",
};
const application = (renderer: PageRenderer, more: PagesOptions = {}, page = Page.of("home", { a: "<b>" })) =>
  pagesApplication(
    () => page,
    { renderer, ...more },
    (builder) => builder.catchPanic(),
  );

describe("a page that the server renders", () => {
  it("is in the document, with the page object that the framework escapes", async () => {
    const renderer = new Scripted(async () => RENDERED);
    await using app = await testApp(application(renderer));

    const html = await (await app.get("/")).text();

    expect(html).to.contain('<div data-server-rendered="true" id="app"><h1>Hi</h1></div>');
    expect(pageIn(html).props["a"]).to.equal("<b>");
    expect(html.match(/data-page="app"/g)).to.have.length(1);
    expect(JSON.parse(renderer.seen[0] ?? "")).to.deep.equal(pageIn(html));
  });

  it("has its own title before the one of the component's name, and no title before the one of the page", async () => {
    await using app = await testApp(application(new Scripted(async () => RENDERED)));
    const titled = Page.of("home").head({ title: "Own" });
    await using other = await testApp(application(new Scripted(async () => RENDERED), {}, titled));

    const titles = await Promise.all(
      [app, other].map(async (each) => (await (await each.get("/")).text()).match(/<title[^<]*/g)),
    );

    expect(titles).to.deep.equal([['<title data-inertia="">Rendered'], ['<title data-inertia="">Own']]);
    expect(await (await app.get("/")).text()).to.contain('<meta name="a" data-inertia="a">');
  });

  it("has the nonce of the request on the scripts and styles of its head, and on none within their text", async () => {
    const head = [
      '<style data-inertia="s">a{}</style>',
      ' <script data-inertia="j" type="application/ld+json">"<script>"</script>',
      '<link rel="stylesheet" href="/a.css">',
      '<style nonce="undefined" data-inertia="t">b{}</style>',
      "<style nonce>c{}</style>",
      '<style nonce="" data-inertia="v">d{}</style>',
      '<script nonce="own">1</script>',
      '<title data-inertia="">a <script>evil()</script></title>',
      "<styled-element></styled-element>",
      "<meta content='<script>'>",
    ];
    const shown = Page.of("home").head({ description: "d" });
    const policy = new SecurityHeaders().withCspNonce("default-src 'self' 'nonce-{nonce}'");
    const builder = application(new Scripted(async () => ({ head, markup: "" })), {}, shown).securityHeaders(policy);
    await using app = await testApp(builder);
    await using open = await testApp(application(new Scripted(async () => ({ head, markup: "" })), {}, shown));

    const html = await (await app.get("/")).text();

    const nonce = / nonce="([^"]+)"/.exec(html)?.[1] ?? "";
    expect(html).to.contain(
      [
        `<style nonce="${nonce}" data-inertia="s">a{}</style>`,
        ` <script nonce="${nonce}" data-inertia="j" type="application/ld+json">"<script>"</script>`,
        `<link nonce="${nonce}" rel="stylesheet" href="/a.css">`,
        `<style nonce="${nonce}" data-inertia="t">b{}</style>`,
        `<style nonce="${nonce}">c{}</style>`,
        `<style nonce="${nonce}" data-inertia="v">d{}</style>`,
        ...head.slice(6),
      ].join(""),
    );
    expect(await (await open.get("/")).text()).to.contain(head.join(""));
  });

  it("is not rendered for a later visit", async () => {
    const renderer = new Scripted(async () => RENDERED);
    await using app = await testApp(application(renderer));

    await app.get("/", { headers: inertia() });

    expect(renderer.seen).to.deep.equal([]);
  });

  it("is rendered by the browser where the renderer fails, with one warning", async () => {
    await using app = await testApp(application(new Scripted(() => Promise.reject(new Error("no window")))));

    const response = await app.get("/");

    expect(response.status).to.equal(200);
    expect(await response.text()).to.contain('<div id="app"></div>');
    const warnings = app.logs.lines().filter((line) => line.includes("page not rendered on the server"));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain("no window").and.contain('"level":"WARN"');
  });

  it("is rendered in a span with its component, which says whether it failed", async () => {
    for (const result of [async () => RENDERED, () => Promise.reject(new Error("no window"))]) {
      const recorder = new TracingRecorder();
      const built = application(new Scripted(result)).lifecycle({ drainDelayMs: 0 }).build();
      await recorder.run(async () => {
        const { server, url } = await listening(createServer());
        const running = await built.serve(server);
        await (await fetch(url)).text();
        await running.stop();
      });

      const [span, ...more] = recorder.spans.filter(({ name }) => name === PAGE_RENDER);
      expect(span).to.deep.include({ target: "framework::pages", fields: { component: "home" } });
      expect([span?.outcome?.ok, more.length]).to.deep.equal([recorder.from("framework::pages").length === 0, 0]);
    }
  });

  it("is rendered by the browser without a warning while the renderer starts", async () => {
    await using app = await testApp(application(new Scripted(async () => undefined)));

    expect(await (await app.get("/")).text()).to.contain('<div id="app"></div>');
    expect(app.logs.transcript()).not.to.contain("page not rendered");
  });

  it("is an error where a test demands it", async () => {
    const broken = new Scripted(() => Promise.reject(new Error("no window")));
    await using app = await testApp(application(broken, { mustRender: true }));

    expect((await app.get("/")).status).to.equal(500);
  });

  it("needs a renderer that is shut down with the application", async () => {
    const renderer = new Scripted(async () => RENDERED);
    await using app = await testApp(application(renderer));

    await app.stop();

    expect(renderer.shutdowns).to.equal(1);
  });

  it("may be a body without a root, and is nothing else", () => {
    expect(parseRenderedPage({ body: "<p>" })).to.deep.equal({ head: [], markup: "<p>" });
    for (const result of [undefined, null, "x", {}, { body: 1 }, { head: "x", body: "" }, { head: [1], body: "" }]) {
      expect(errorOf(() => parseRenderedPage(result))).to.be.instanceOf(TypeError);
    }
  });
});

describe("VitePageRenderer", () => {
  let server: Server;
  let endpoint = "";
  let answer: readonly [number, string] = [200, "null"];
  let seen = "";
  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), "vite-"));
    endpoint = join(directory, "vite.sock");
    server = createServer((incoming, response) => {
      seen = `${incoming.method} ${incoming.url} ${incoming.headers["content-type"]}`;
      incoming.resume().on("end", () => response.writeHead(answer[0]).end(answer[1]));
    });
    await listeningOn(server, endpoint);
  });
  after(() => server.close());

  it("asks the development server", async () => {
    answer = [
      200,
      JSON.stringify({ head: ["<title>x</title>"], body: '<div id="app" data-server-rendered="true">hi</div>' }),
    ];

    expect(await new VitePageRenderer(endpoint).render("{}")).to.deep.equal({
      head: ["<title>x</title>"],
      markup: "hi",
    });
    expect(seen).to.equal("POST /__inertia_ssr application/json");
  });

  it("renders nothing while the development server starts", async () => {
    answer = [200, "null"];

    expect(await new VitePageRenderer(endpoint).render("{}")).to.equal(undefined);
  });

  it("fails with the text of a failure", async () => {
    answer = [500, JSON.stringify({ type: "render", hint: "use onMounted" })];

    expect(String(await rejectionOf(new VitePageRenderer(endpoint).render("{}")))).to.contain("use onMounted");
  });

  it("fails where no server listens", async () => {
    expect(await rejectionOf(new VitePageRenderer(`${endpoint}.gone`).render("{}"))).to.be.instanceOf(Error);
  });
});
