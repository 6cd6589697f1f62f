/** The page of a fault in a browser: what it shows, what it may load, and that it goes when the code is mended. */
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../../support/browser.js";
import { needs } from "../../support/machine.js";
import { DevelopedApplication, server } from "./developed-application.js";

/** Responds with a document. */
function page(text: string): string {
  const document = JSON.stringify(`<!DOCTYPE html><title>${text}</title><h1>${text}</h1>`);
  return server("1").replace(": version);", `: ((response.setHeader("Content-Type", "text/html")), ${document}));`);
}

describe("In a browser, the page of a fault", function () {
  this.timeout(120_000);
  this.slow(10_000);
  let browser: Browser;
  let developed: DevelopedApplication;
  let shown: Page;
  const messages: string[] = [];

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
    developed = await DevelopedApplication.start(page("one"), { SMTP_PASSWORD: "swordfish-and-chips" });
    shown = await browser.newPage();
    shown.on("console", (message) => messages.push(message.text()));
    await shown.goto(developed.url);
    await shown.waitForSelector("h1:text-is('one')");
  });
  after(async () => {
    await browser?.close();
    await developed?.[Symbol.asyncDispose]();
  });

  it("shows a fault of the compiler with its line, escaped, and goes when it is mended", async () => {
    developed.write(`${page("two")}\nconst image = <img src=x onerror="document.title='run'"> ;;;\nconst = 1;\n`);
    await developed.says("src/main.ts:");

    await shown.reload();

    expect(await shown.textContent("h1")).to.equal("The application does not compile");
    expect(await shown.textContent("pre")).to.contain("const image = <img src=x onerror=\"document.title='run'\">");
    expect(await shown.title()).to.equal("The application does not compile");
    developed.write(page("three"));
    await shown.waitForSelector("h1:text-is('three')");
  });

  it("shows a start that fails, without a secret of the environment, and the next fault in its place", async () => {
    developed.write(
      `${page("four")}\nthrow new Error("<b>cannot</b> sign in with " + process.env["SMTP_PASSWORD"]);\n`,
    );
    await developed.says("did not start");
    await shown.reload();

    expect(await shown.textContent("h1")).to.equal("The application did not start: its process ended with code 1");
    expect(await shown.textContent("pre")).to.contain("<b>cannot</b> sign in with [redacted]");
    developed.write("const = 1;\n");
    await shown.waitForSelector("h1:text-is('The application does not compile')");
    developed.write(page("five"));
    await shown.waitForSelector("h1:text-is('five')");
  });

  it("breaks no rule of its policy", () => {
    expect(messages.filter((text) => text.includes("Content Security Policy"))).to.deep.equal([]);
  });
});
