/** The hook of the guide for the messages of a page: it compiles, and formats the messages that the server sends, on the server and in a browser. */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { provide, Application, Route, Routes } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { page, Pages } from "@stagecraft/framework/pages";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { build } from "esbuild";
import { inertia } from "../support/page-visit.js";
import { ROOT, textOf } from "../support/sources.js";

const FOLDER = join(ROOT, "dist/guide-hook");

/** A page of two components, each of which asks for its messages. */
const PAGE = `
import { createInertiaApp } from "@inertiajs/react";
import type { Page as PageObject } from "@inertiajs/core";
import { renderToString } from "react-dom/server";
import { useMessages } from "./messages.js";

function Count({ n }: { readonly n: number }) {
  const t = useMessages();
  return <li>{t("page-count", { n })}</li>;
}

function List() {
  const t = useMessages();
  return <ul title={t("page-title")}>{[1, 2, 1234].map((n) => <Count key={n} n={n} />)}<li>{t("no-such-message")}</li></ul>;
}

export function render(page: PageObject) {
  return createInertiaApp({
    page, render: renderToString, resolve: () => List, setup: ({ App, props }) => <App {...props} />,
  });
}
`;

const SETTINGS = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: "preserve",
    moduleResolution: "bundler",
    target: "es2023",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    jsx: "react-jsx",
    types: [],
    skipLibCheck: true,
    noEmit: true,
  },
};

const languages = new Languages({
  default: "en",
  catalogs: {
    en: "page-title = Links\npage-count = { $n ->\n    [one] one link\n   *[other] { $n } links\n }",
    de: "page-title = Verweise\npage-count = { $n ->\n    [one] ein Verweis\n   *[other] { $n } Verweise\n }",
    ar: "page-title = روابط\npage-count = { $n } روابط",
  },
});

interface Rendered {
  readonly body: string;
}

describe("the hook of the guide", function () {
  this.timeout(60_000);
  let render: (page: unknown) => Promise<Rendered>;

  before(async () => {
    const hook = /```tsx\n\/\/ messages\.tsx\n([\s\S]*?)```/.exec(textOf("docs/guide/languages.md") ?? "")?.[1] ?? "";
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(join(FOLDER, "messages.tsx"), hook);
    writeFileSync(join(FOLDER, "page.tsx"), PAGE);
    writeFileSync(join(FOLDER, "tsconfig.json"), JSON.stringify(SETTINGS));
    const outfile = join(FOLDER, "page.mjs");
    // React's server is a CommonJS module that asks for modules of Node.
    const banner = {
      js: 'import { createRequire } from "node:module";const require = createRequire(import.meta.url);',
    };
    await build({
      entryPoints: [join(FOLDER, "page.tsx")],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      jsx: "automatic",
      banner,
    });
    ({ render } = (await import(pathToFileURL(outfile).href)) as { readonly render: typeof render });
  });

  it("compiles under strict settings", async () => {
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    const compile = promisify(execFile)(process.execPath, [compiler, "-p", FOLDER, "--pretty", "false"]);

    const output = await compile.then(
      ({ stdout }) => stdout,
      (error: unknown) => (error as { readonly stdout: string }).stdout,
    );
    expect(output).to.equal("");
  });

  const rows: readonly (readonly [tag: string, title: string, counts: readonly string[]])[] = [
    ["en", "Links", ["one link", "2 links", "1,234 links"]],
    ["de", "Verweise", ["ein Verweis", "2 Verweise", "1.234 Verweise"]],
    ["ar", "روابط", ["1", "2", "1,234"].map((n) => `\u2068${n}\u2069 روابط`)],
  ];
  for (const [tag, title, counts] of rows)
    it(`formats the messages that the server sends, in ${tag}`, async () => {
      await using app = await testApp(
        Application.create()
          .provide(provide(Languages).useValue(languages))
          .routes(new Routes([Route.get("/", () => page("links/index", {}))]))
          .pages(new Pages({ share: languages.pageProps("page-") })),
      );

      const sent: unknown = await (await app.get(`/?lang=${tag}`, { headers: inertia() })).json();
      const { body } = await render(sent);

      const items = [...counts, "no-such-message"].map((text) => `<li>${text}</li>`).join("");
      expect(body).to.include(`<ul title="${title}">${items}</ul>`);
    });
});
