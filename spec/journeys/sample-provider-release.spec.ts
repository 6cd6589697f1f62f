/** The sign-in of `samples/links` at a provider in a release build: the program of `npm start`, whose callback has the URL of the operator. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { TestProvider } from "../../samples/links/test-provider.js";
import { launchBrowser } from "../support/browser.js";
import { Child } from "../support/child.js";
import { freePort } from "../support/free-port.js";
import { needs } from "../support/machine.js";
import { enterByProvider, SIGNED_IN, signOut, WELCOME } from "../support/sample-provider.js";
import { SampleVisitor } from "../support/sample-visitor.js";

describe("In release, the sign-in of samples/links at a provider", function () {
  this.timeout(180_000);
  let provider: TestProvider;
  let cwd: string;

  before(async () => {
    [provider, cwd] = await Promise.all([TestProvider.start(), mkdtemp(join(tmpdir(), "links-")), buildFrontEnd()]);
  });
  after(async () => {
    await provider?.[Symbol.asyncDispose]();
    if (cwd) await rm(cwd, { recursive: true });
  });

  /** @param url as the operator sets it */
  const start = async (url: string, port?: number) => {
    const environment = { NODE_ENV: "production", APP_URL: url, ...provider.variables };
    const child = await Child.start("../../samples/links/main.js", environment, {
      cwd,
      ...(port !== undefined && { port }),
    });
    await child.serves();
    return child;
  };

  it("leads back to the URL of the operator, whatever the host of the request is", async () => {
    await using child = await start("https://links.example");

    const { status, headers } = await fetch(`${child.url}/account/provider/company`, { redirect: "manual" });

    const location = new URL(headers.get("location") ?? "");
    expect([status, location.origin]).to.deep.equal([303, provider.issuer]);
    expect(location.searchParams.get("redirect_uri")).to.equal("https://links.example/account/callback/company");
    expect(headers.getSetCookie().find((line) => line.includes("oauth"))).to.match(/^__Host-oauth-.*; Secure/);
  });

  it("signs a person up, and in again", async function () {
    needs("chromium").call(this);
    const port = await freePort();
    await using child = await start(`http://localhost:${port}`, port);
    const browser = await launchBrowser();
    try {
      await using ada = await SampleVisitor.at(browser, `http://localhost:${child.port}`, { reducedMotion: "reduce" });

      await enterByProvider(ada, "ada", WELCOME);
      await signOut(ada);
      await enterByProvider(ada, "ada", SIGNED_IN);

      expect(await ada.page.textContent(".who")).to.include("ada@example.org");
    } finally {
      await browser.close();
    }
  });
});
