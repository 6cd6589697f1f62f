import { expect } from "chai";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Context } from "../../../lib/http/request/context.js";
import type { FrameworkError } from "../../../lib/errors/framework-error.js";
import { readAssets, type AssetOptions, type AssetEnvironment } from "../../../lib/stages/pages/document/assets.js";
import { BuildTags, DevelopmentTags } from "../../../lib/stages/pages/document/asset-tags.js";
import { DocumentBody, RootDocument, type DocumentParts } from "../../../lib/stages/pages/document/document.js";
import { headTags } from "../../../lib/stages/pages/document/head-metadata.js";
import { Manifest } from "../../../lib/stages/pages/document/manifest.js";
import { Page } from "../../../lib/stages/pages/page.js";
import { Pages } from "../../../lib/stages/pages/pages.js";
import { SecurityHeaders } from "../../../lib/stages/security-headers/security-headers.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { errorOf } from "../../support/error-of.js";
import { inertia, pagesApplication, type PageData } from "../../support/page-visit.js";

const ENTRY = "pages/main.tsx";
type Records = Readonly<Record<string, Record<string, unknown>>>;

function tagsOf(records: Records, component = "home", importMap?: string): readonly string[] {
  const tags = new BuildTags({
    manifest: Manifest.parse(JSON.stringify(records), "manifest.json"),
    entry: ENTRY,
    prefix: "/build",
    findSource: (name) => `pages/${name}.tsx`,
    importMap,
  });
  return tags.tags(component, "").split(/(?<=>)(?=<(?!\/))/);
}

const style = (file: string, more = ""): string => `<link rel="stylesheet" href="/build/${file}"${more}>`;
const script = (file: string, more = ""): string => `<script type="module" src="/build/${file}"${more}></script>`;
const preload = (file: string, more = ""): string => `<link rel="modulepreload" href="/build/${file}"${more}>`;

const BUILD: Records = {
  [ENTRY]: { file: "main-1.js", imports: ["_a.js", "_b.js"], css: ["main.css"], dynamicImports: ["pages/home.tsx"] },
  "_a.js": { file: "a-1.js", imports: ["_deep.js"], css: ["a.css"] },
  "_b.js": { file: "b-1.js", imports: ["_deep.js", "_a.js"], css: ["b.css", "a.css"] },
  "_deep.js": { file: "deep-1.js", imports: [ENTRY], css: ["deep.css"] },
  "pages/home.tsx": { file: "home-1.js", imports: [ENTRY, "_c.js"], css: ["home.css"] },
  "_c.js": { file: "c-1.js", css: ["c.css"] },
};

/** The values of cards, each behind its name. */
const properties = (html: string) =>
  [...html.matchAll(/<meta (?:property|name)="((?:og|twitter):\w+)" content="([^"]*)"/g)].map(
    ([, name, value]) => `${name} ${value}`,
  );

describe("the tags of a build", () => {
  it("are the styles of imports, depth first, then the own, then the page's; the script; what it imports", () => {
    expect(tagsOf(BUILD)).to.deep.equal([
      ...["deep.css", "a.css", "b.css", "main.css", "c.css", "home.css"].map((file) => style(file)),
      script("main-1.js"),
      ...["deep-1.js", "a-1.js", "b-1.js", "c-1.js", "home-1.js"].map((file) => preload(file)),
    ]);
  });

  it("are the tags of the entry for a page without a chunk of its own", () => {
    expect(tagsOf(BUILD, "unknown")).to.have.length(8).and.not.include(style("home.css"));
  });

  const rows: readonly (readonly [string, Records, readonly string[]])[] = [
    ["a link for an entry that is a stylesheet", { [ENTRY]: { file: "main.css" } }, [style("main.css")]],
    [
      "the one stylesheet of a build that does not split them",
      { [ENTRY]: { file: "main.js" }, "style.css": { file: "style-1.css" } },
      [style("style-1.css"), script("main.js")],
    ],
    [
      "the integrity of chunks and of their styles, fetched by CORS",
      {
        [ENTRY]: { file: "main.js", imports: ["_a.js"], css: ["x.css"], integrity: "sha384-main" },
        "_a.js": { file: "a.js", integrity: "sha384-a" },
        "x.css": { file: "x.css", integrity: "sha384-x" },
      },
      [
        style("x.css", ' integrity="sha384-x" crossorigin'),
        script("main.js", ' integrity="sha384-main" crossorigin'),
        preload("a.js", ' integrity="sha384-a" crossorigin'),
      ],
    ],
    [
      "no tag for an import that is missing",
      { [ENTRY]: { file: "main.js", imports: ["_gone.js"] } },
      [script("main.js")],
    ],
    ["escaped names", { [ENTRY]: { file: "a&b's.js" } }, [script("a&amp;b&#39;s.js")]],
  ];
  for (const [what, records, expected] of rows) {
    it(`have ${what}`, () => expect(tagsOf(records)).to.deep.equal(expected));
  }

  it("start with the import map, before any module", () => {
    const [first] = tagsOf({ [ENTRY]: { file: "main.js" } }, "home", '{"imports":{"</script>":"/x"}}');

    expect(first).to.equal('<script type="importmap">{"imports":{"\\u003c\\/script\\u003e":"\\/x"}}</script>');
  });

  it("have the nonce on each tag", () => {
    const tags = new BuildTags({
      manifest: Manifest.parse(JSON.stringify(BUILD), "m"),
      entry: ENTRY,
      prefix: "/build",
      findSource: () => undefined,
      importMap: "{}",
    }).tags("home", ' nonce="n"');

    const all = tags.match(/<(?:link|script)/g) ?? [];
    expect(all).to.have.length(9);
    expect(tags.match(/<(?:link|script) nonce="n" /g)).to.have.length(all.length);
  });

  it("are found in a chain of chunks that is too deep for calls", () => {
    const chain = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`_${at}.js`, { file: `${at}.js`, imports: [`_${at + 1}.js`] }]),
    );

    expect(tagsOf({ ...chain, [ENTRY]: { file: "main.js", imports: ["_0.js"] } })).to.have.length(20_001);
  });
});

describe("the tags of development", () => {
  it("are Vite's client and the source", () => {
    const tags = new DevelopmentTags({ entry: "pages/main.ts", reactRefresh: false, base: "/" });

    expect(tags.tags("home", "")).to.equal(
      '<script type="module" src="/@vite/client"></script><script type="module" src="/pages/main.ts"></script>',
    );
    expect([tags.version, tags.preloads()]).to.deep.equal([null, ""]);
  });

  it("are below the base of Vite", () => {
    const tags = new DevelopmentTags({ entry: ENTRY, reactRefresh: true, base: "/build/" }).tags("home", "");

    expect(tags).to.match(/"\/build\/@vite\/client".*"\\\/build\\\/@react-refresh".*"\/build\/pages\/main\.tsx"/);
  });

  it("have React's preamble between them, and the nonce on each", () => {
    const tags = new DevelopmentTags({ entry: ENTRY, reactRefresh: true, base: "/" }).tags("home", ' nonce="n"');

    expect(tags.match(/<script nonce="n" type="module"/g)).to.have.length(3);
    expect(tags).to.match(/@vite\/client.*injectIntoGlobalHook.*pages\/main\.tsx/);
  });
});

const headerOf = (records: Records, nonce?: string, importMap?: string): string =>
  new BuildTags({
    manifest: Manifest.parse(JSON.stringify(records), "m"),
    entry: ENTRY,
    prefix: "/build",
    findSource: (name) => `pages/${name}.tsx`,
    importMap,
  }).preloads("home", nonce);

describe("the header of a first document", () => {
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    [
      "names the styles, the script and its imports, in the order of the tags",
      headerOf(BUILD),
      [
        ...["deep", "a", "b", "main", "c", "home"].map((name) => `</build/${name}.css>; rel=preload; as=style`),
        ...["main", "deep", "a", "b", "c", "home"].map((name) => `</build/${name}-1.js>; rel=modulepreload`),
      ],
    ],
    [
      "has the nonce on each link",
      headerOf({ [ENTRY]: { file: "main.js", css: ["a.css"] } }, "n+/="),
      ['</build/a.css>; rel=preload; as=style; nonce="n+/="', '</build/main.js>; rel=modulepreload; nonce="n+/="'],
    ],
    [
      "has the integrity of the tag, and its way to fetch",
      headerOf({ [ENTRY]: { file: "main.js", integrity: 'sha384-a+/=\r"' } }),
      ['</build/main.js>; rel=modulepreload; crossorigin; integrity="sha384-a+/="'],
    ],
    [
      "names no module if the document has an import map",
      headerOf({ [ENTRY]: { file: "main.js", css: ["a.css"] } }, undefined, "{}"),
      ["</build/a.css>; rel=preload; as=style"],
    ],
    [
      "has characters outside ASCII encoded",
      headerOf({ [ENTRY]: { file: "mäin 1.js" } }),
      ["</build/m%C3%A4in%201.js>; rel=modulepreload"],
    ],
    ["is empty for a build without the entry", headerOf({}), []],
  ];
  for (const [what, header, expected] of rows) {
    it(what, () => expect(header).to.equal(expected.join(", ")));
  }

  it("has at most 2048 bytes, of whole links", () => {
    const css = Array.from({ length: 500 }, (_, at) => `a-style-${at}.css`);
    for (const nonce of [undefined, "n".repeat(24)]) {
      const header = headerOf({ [ENTRY]: { file: "main.js", css } }, nonce);

      expect(header.length).to.be.within(1900, 2048);
      expect(header).to.match(nonce === undefined ? /; as=style$/ : /; nonce="n{24}"$/);
    }
  });
});

function versionOf(text: string): string {
  return Manifest.parse(text, "m").version;
}

describe("a manifest", () => {
  it("has a version that does not depend on the order of its keys", () => {
    expect(versionOf('{"a":{"file":"a.js","src":"a"},"b":{"file":"b.js"}}')).to.equal(
      versionOf('{"b":{"file":"b.js"},"a":{"src":"a","file":"a.js"}}'),
    );
    expect(versionOf('{"a":{"file":"a.js"}}')).not.to.equal(versionOf('{"a":{"file":"b.js"}}'));
  });

  const outside = [
    "../x.js",
    "/x.js",
    "a/../x.js",
    "a//x.js",
    "//evil.example/x.js",
    "https://evil.example/x.js",
    "a\\x.js",
    "",
    "a\nb.js",
    'a"b.js',
    "a?b.js",
    "javascript:x",
    "%2e%2e/x.js",
    "half-\ud800.js",
  ];
  for (const file of outside) {
    it(`is refused where it names ${JSON.stringify(file)}`, () => {
      for (const record of [{ file }, { file: "a.js", css: [file] }]) {
        expect(errorOf(() => Manifest.parse(JSON.stringify({ [ENTRY]: record }), "m"))).to.have.property(
          "code",
          "E_MANIFEST",
        );
      }
    });
  }

  for (const text of [
    "",
    "{",
    "[]",
    "null",
    '{"a":1}',
    '{"a":{}}',
    '{"a":{"file":"a.js","imports":"b"}}',
    '{"a":{"file":"a.js","imports":[1]}}',
    '{"a":{"file":"a.js","integrity":1}}',
  ]) {
    it(`is refused as ${JSON.stringify(text)}`, () => {
      expect(errorOf(() => Manifest.parse(text, "m.json"))).to.have.property("code", "E_MANIFEST");
    });
  }
});

describe("the front end's assets", () => {
  let directory = "";
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), "assets-"))));
  afterEach(() => rm(directory, { recursive: true }));

  const write = async (name: string, content: string): Promise<void> => {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  };
  const assets = (surroundings: Partial<AssetEnvironment>, more: Partial<AssetOptions> = {}) =>
    readAssets(
      { entry: ENTRY, buildDirectory: directory, ...more },
      { profile: "debug", viteIpc: undefined, ...surroundings },
    );
  const isDevelopment = ({ tags }: ReturnType<typeof assets>): boolean =>
    tags.tags("home", "").includes("/@vite/client");
  const MANIFEST = JSON.stringify({ [ENTRY]: { file: "main.js" } });

  it("come from the development server that the environment names, in debug only", async () => {
    await write(".vite/manifest.json", MANIFEST);

    expect(isDevelopment(assets({ viteIpc: "/tmp/vite.sock" }))).to.equal(true);
    expect(isDevelopment(assets({ viteIpc: " " }))).to.equal(false);
    expect(isDevelopment(assets({ viteIpc: "/tmp/vite.sock", profile: "release" }))).to.equal(false);
  });

  it("come from the manifest, whose version they have", async () => {
    await write(".vite/manifest.json", MANIFEST);

    const { tags, warning } = assets({ profile: "release" }, { prefix: "/static/" });

    expect(tags.tags("home", "")).to.equal('<script type="module" src="/static/main.js"></script>');
    expect(tags.version).to.equal(Manifest.parse(MANIFEST, "m").version);
    expect(warning).to.equal(undefined);
  });

  it("come from the development server with a warning where the manifest is missing, and fail a release build", () => {
    const missing = assets({});

    expect(isDevelopment(missing)).to.equal(true);
    expect(missing.warning).to.contain("manifest.json");
    expect(errorOf(() => assets({ profile: "release" }))).to.have.property("code", "E_MANIFEST");
  });

  it("are none with a warning where the manifest lacks the entry, and fail a release build", async () => {
    await write(".vite/manifest.json", "{}");

    const { tags, warning } = assets({});

    expect(tags.tags("home", "")).to.equal("");
    expect(warning).to.contain(ENTRY);
    expect(errorOf(() => assets({ profile: "release" }))).to.have.property("code", "E_MANIFEST");
  });

  it("fail in each profile where the manifest is malformed", async () => {
    await write(".vite/manifest.json", "{");

    for (const profile of ["debug", "release"] as const) {
      expect(errorOf(() => assets({ profile }))).to.have.property("code", "E_MANIFEST");
    }
  });

  it("have the build's import map, which must be JSON", async () => {
    await write(".vite/manifest.json", MANIFEST);
    await write("importmap.json", '{ "imports": {} }');

    expect(assets({}).tags.tags("home", "")).to.match(
      /^<script type="importmap">\{"imports":\{\}\}<\/script><script type="module"/,
    );
    await write("importmap.json", "{");
    expect((errorOf(() => assets({})) as FrameworkError).code).to.equal("E_MANIFEST");
  });

  it("are in the document, with the nonce, and give the version of the pages", async () => {
    await write(".vite/manifest.json", MANIFEST);
    const builder = pagesApplication(
      () => Page.of("home"),
      { entry: ENTRY, buildDirectory: directory },
      (each) => each.securityHeaders(new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'")),
    );
    await using app = await testApp(builder);

    const html = await (await app.get("/")).text();
    const { version } = Manifest.parse(MANIFEST, "m");
    const later = await app.get("/", { headers: inertia({ "X-Inertia-Version": version }) });

    expect(html).to.match(/<script nonce="[^"]{24}" type="module" src="\/build\/main\.js"><\/script>/);
    expect((await later.json<PageData>()).version).to.equal(version);
    expect((await app.get("/", { headers: inertia() })).status).to.equal(409);
  });
});

const links = async (response: Promise<Response>) => (await response).headers.get("link");

const withLink = (ctx: Context<string>) => {
  if (ctx.path === "/own") ctx.set("Link", "</next>; rel=next");
  return Page.of("home");
};

describe("the option linkHeader", () => {
  let directory = "";
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "assets-"));
    await mkdir(join(directory, ".vite"));
    await writeFile(join(directory, ".vite/manifest.json"), JSON.stringify({ [ENTRY]: { file: "main.js" } }));
  });
  after(() => rm(directory, { recursive: true }));

  it("adds the header to documents, after the links of the handler, and to no other response", async () => {
    const options = { entry: ENTRY, buildDirectory: directory, version: "v" };
    await using on = await testApp(pagesApplication(withLink, { ...options, linkHeader: true }));
    await using off = await testApp(pagesApplication(withLink, options));
    const visit = { headers: inertia({ "X-Inertia-Version": "v" }) };

    expect([
      await links(on.get("/")),
      await links(on.get("/own")),
      await links(on.get("/", visit)),
      await links(off.get("/")),
    ]).to.deep.equal([
      "</build/main.js>; rel=modulepreload",
      "</next>; rel=next, </build/main.js>; rel=modulepreload",
      null,
      null,
    ]);
  });
});

describe("the option viteBase", () => {
  it("is a path with a slash at both ends", () => {
    for (const viteBase of ["build/", "/build", "https://cdn.example/", "//x/", "/a b/", "", 5])
      expect(errorOf(() => new Pages({ viteBase } as never))).to.have.property("code", "E_PAGES_OPTION");
    for (const viteBase of ["/", "/build/", "/a/b.c/"]) expect(new Pages({ viteBase }).viteBase).to.equal(viteBase);
  });
});

describe("the document", () => {
  const parts: DocumentParts = {
    component: "x",
    page: "{}",
    nonce: undefined,
    head: "<title>T</title>",
    assets: "<link>",
    markup: undefined,
  };

  it("has head, assets and root in their places", () => {
    const html = new RootDocument({ lang: "de", head: "<b>", bodyClass: '"x' }).render(new DocumentBody(parts));

    expect(html).to.equal(
      '<!DOCTYPE html><html lang="de"><head><meta charset="utf-8">' +
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>T</title><link><b></head>' +
        '<body class="&quot;x"><script data-page="app" type="application/json">{}</script><div id="app"></div></body></html>',
    );
  });

  it("marks a root that the server has rendered", () => {
    const { app } = new DocumentBody({ ...parts, markup: "<p>hi</p>" });

    expect(app).to.match(/<div data-server-rendered="true" id="app"><p>hi<\/p><\/div>$/);
  });

  it("has no attribute where there is no nonce", () => {
    expect(new DocumentBody(parts).nonceAttribute()).to.equal("");
    expect(new DocumentBody({ ...parts, nonce: "n" }).nonceAttribute()).to.equal(' nonce="n"');
  });

  it("may be rendered by a function of the application", async () => {
    await using app = await testApp(
      pagesApplication(() => Page.of("home"), {
        document: ({ app: root, component }) => `<main>${component}${root}</main>`,
      }),
    );

    expect(await (await app.get("/")).text()).to.match(/^<main>home<script data-page="app".*<\/main>$/);
  });

  const titles = [
    ["links/index", "Index"],
    ["admin/user-settings", "User Settings"],
    ["Admin/UserSettings", "User Settings"],
    ["home", "Home"],
  ] as const;
  for (const [component, title] of titles) {
    it(`has the title ${title} for ${component} unless the page has one`, () => {
      expect(headTags({}, component)).to.equal(`<title data-inertia="">${title}</title>`);
      expect(headTags({ title: "Own" }, component)).to.match(/^<title data-inertia="">Own<\/title>/);
    });
  }

  it("gives its title, description and canonical URL to the cards that have none", () => {
    const own = { title: "T", description: "D", canonical: "https://x/" };
    const derived = ["title T", "description D", "url https://x/"];

    expect(properties(headTags(own, "home"))).to.deep.equal([
      ...derived.map((each) => `og:${each}`),
      ...derived.map((each) => `twitter:${each}`),
    ]);
    expect(
      properties(headTags({ ...own, og: { title: "O", image: "i" }, twitter: { url: "u" } }, "home")),
    ).to.deep.equal([
      ...["title O", "description D", "url https://x/", "image i"].map((each) => `og:${each}`),
      ...["title T", "description D", "url u"].map((each) => `twitter:${each}`),
    ]);
    expect(properties(headTags({ og: { image: "i" } }, "home"))).to.deep.equal(["og:image i"]);
    const rendered = ['<meta property="og:title" content="R" data-inertia="og:title">'];
    expect(properties(headTags({ title: "T" }, "home", rendered))).to.deep.equal(["twitter:title T"]);
    expect(properties(headTags({ og: { title: "O" } }, "home", rendered))).to.deep.equal(["og:title O"]);
  });

  it("has the metadata of the page, escaped, and later visits have none", async () => {
    const head = {
      title: "<T>",
      description: 'a "b"',
      canonical: "https://x/?a&b",
      og: { image: "<i>" },
      twitter: { card: "summary" },
    };
    await using app = await testApp(pagesApplication(() => Page.of("home").head(head)));

    const html = await (await app.get("/")).text();
    const json = await (await app.get("/", { headers: inertia() })).text();

    expect(html)
      .to.contain('<title data-inertia="">&lt;T&gt;</title>')
      .and.contain('<meta name="description" content="a &quot;b&quot;" data-inertia="description">')
      .and.contain('<link rel="canonical" href="https://x/?a&amp;b" data-inertia="canonical">')
      .and.contain('<meta property="og:image" content="&lt;i&gt;" data-inertia="og:image">')
      .and.contain('<meta name="twitter:card" content="summary" data-inertia="twitter:card">');
    expect(json).not.to.contain("canonical");
  });
});
