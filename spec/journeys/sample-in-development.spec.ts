/** `npm run dev` for the sample, part by part: one port for pages, sources and the hot reload, through restarts of the application. */
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { develop } from "../../lib/cli/dev/develop.js";
import { SERVER_ENTRY, SOURCES, STYLESHEET } from "../../samples/links/front-end.js";
import { launchBrowser } from "../support/browser.js";
import { editInPlace, hotReload } from "../support/edited-source.js";
import { freePort } from "../support/free-port.js";
import { needs } from "../support/machine.js";
import { SAMPLE_JOURNEYS } from "../support/sample-journeys.js";
import { SampleVisitor } from "../support/sample-visitor.js";
import { ROOT } from "../support/sources.js";
import { until } from "../support/until.js";

/** The sample itself is compiled; a change of this file starts it anew. */
const PROGRAM =
  "const sample: string = new URL('../../samples/links/main.js', import.meta.url).href;\nawait import(sample);\n";
const SETTINGS = JSON.stringify({
  extends: "../../tsconfig.json",
  compilerOptions: { rootDir: "src", outDir: "out" },
  include: ["src"],
});

describe("In a browser, samples/links in development", function () {
  this.timeout(240_000);
  let browser: Browser;
  let directory: string;
  let main: string;
  let developing: Promise<void>;
  let output = "";
  const stopped = new AbortController();
  let url: string;

  before(needs("chromium"));
  before(async () => {
    // A copy that the tests may edit, inside the package, where it finds its dependencies.
    directory = await mkdtemp(join(ROOT, "dist/development-"));
    await cp(join(SOURCES, "pages"), join(directory, "pages"), { recursive: true });
    await mkdir(join(directory, "src"));
    await writeFile(join(directory, "tsconfig.json"), SETTINGS);
    main = join(directory, "src/main.ts");
    await writeFile(main, PROGRAM);
    const port = await freePort();
    const configModule = join(ROOT, "dist/samples/links/build-front-end.js");
    const frontEnd = { root: directory, configModule, serverEntry: SERVER_ENTRY, stylesheet: STYLESHEET };
    developing = develop(
      { main, root: directory, port, host: "127.0.0.1", frontEnd },
      {
        cwd: ROOT,
        env: { ...process.env, SESSION_KEY: "5a".repeat(64), REQUESTS_PER_SECOND: "1000", RUST_LOG: "error" },
        stderr: { write: (text) => (output += text) },
        signal: stopped.signal,
      },
    );
    url = `http://127.0.0.1:${port}`;
    browser = await launchBrowser();
    await until(isServing, () => output);
  });
  after(async () => {
    await browser?.close();
    stopped.abort();
    await developing;
    await rm(directory, { recursive: true, force: true });
  });

  const pathOf = (source: string) => join(directory, "pages", source);
  /** A request waits five seconds for the application, which a busy machine may take longer to start. */
  const isServing = () =>
    fetch(`${url}/about`).then(
      ({ status }) => status === 200,
      () => false,
    );

  describe("with one browser for all,", () => {
    let ada: SampleVisitor;
    before(async () => (ada = await SampleVisitor.at(browser, url)));
    afterEach(() => ada.nextPerson());
    after(() => ada?.[Symbol.asyncDispose]());

    for (const [title, journey] of SAMPLE_JOURNEYS) it(title, () => ada.goes(journey));
  });

  it("renders the first document on the server, with its styles", async () => {
    await using reader = await SampleVisitor.at(browser, url, { javaScriptEnabled: false });

    await reader.page.goto(`${url}/account/sign-in`);

    expect(await reader.page.title()).to.equal("Sign in · Links");
    expect(await reader.page.textContent("h1")).to.equal("Sign in");
    const radius = await reader.page.$eval(".card", (card) => getComputedStyle(card).borderRadius);
    expect(radius).to.equal("14px");
  });

  it("calls the endpoint of a page that changes while it is shown", async () => {
    await using ada = await SampleVisitor.at(browser, url);
    const called = ada.page.waitForResponse((response) => response.url() === `${url}/api/most-visited/live`);

    await ada.open("/most-visited");

    expect((await called).status()).to.equal(200);
  });

  describe("whose sources change", () => {
    it("keeps the state of a page while its component, its style and the application change", async () => {
      await using ada = await SampleVisitor.at(browser, url);
      const { page } = ada;
      const reload = hotReload(page);
      await ada.open("/account/sign-in");
      await ada.enter({ email: "half a na" });
      await reload;

      await editInPlace(pathOf("account/sign-in.page.tsx"), 'title={t("page-sign-in")}', 'title={"Come in"        }');
      await page.waitForSelector("h1:text-is('Come in')");
      await editInPlace(pathOf("app.css"), "--radius: 14px", "--radius: 23px");
      await page.waitForFunction(() => {
        const card = document.querySelector(".card");
        return card !== null && getComputedStyle(card).borderRadius === "23px";
      });
      await writeFile(main, `${PROGRAM}console.error("the next process");\n`);
      await until(() => output.includes("the next process"));
      await until(isServing);
      expect(await page.inputValue("main input[name=email]")).to.equal("half a na");
      await page.click(".brand");
      await page.waitForSelector("h1:has-text('Short links')");
      expect(ada.documents).to.deep.equal(["/account/sign-in"]);
    });
  });
});
