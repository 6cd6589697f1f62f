/** The preview page of mails in a browser: it has its style, it shows the HTML of a mail, and it runs and loads nothing of the mail. */
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { Application } from "../../lib/app/application.js";
import { Module } from "../../lib/di/module.js";
import { provide } from "../../lib/di/provide.js";
import { trustedHtml } from "../../lib/mail/html.js";
import { Mail } from "../../lib/mail/mail.js";
import { mailPreviews } from "../../lib/mail/mail-previews.js";
import { Mailer } from "../../lib/mail/mailer.js";
import { MemoryMailer } from "../../lib/mail/memory-mailer.js";
import { SecurityHeaders } from "../../lib/stages/security-headers/security-headers.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";
import { until } from "../support/until.js";

const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

class Hostile extends Mail {
  subject() {
    return "<script>parent.document.title = 'stolen'</script>";
  }

  text() {
    return "</pre><script>document.title = 'stolen'</script>";
  }

  override html() {
    return trustedHtml(`<p id="said" style="color: rgb(255, 0, 0)">The HTML of the mail</p>
      <img id="inside" src="cid:pixel"><img src="http://127.0.0.1:1/outside.gif"><link rel="stylesheet" href="/outside.css">
      <script>parent.document.title = document.title = 'stolen'</script><img src="x" onerror="top.location = '/stolen'">`);
  }

  override attachments() {
    return [{ name: "pixel.gif", type: "image/gif", contentId: "pixel", content: PIXEL }];
  }

  static readonly previews = { hostile: () => new Hostile() };
}

@Module({
  controllers: [...mailPreviews("/dev/mails", [Hostile], "debug")],
  providers: [provide(Mailer).useFactory(() => new MemoryMailer({ from: "shop@example.org" }))],
})
class Shop {}

describe("In a browser, the preview page of mails", function () {
  this.timeout(180_000);
  let browser: Browser;
  let page: Page;
  let app: TestApp;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
    app = await testApp(Application.create(Shop).securityHeaders(new SecurityHeaders().withCsp("default-src 'self'")));
    page = await browser.newPage();
  });
  after(async () => {
    await browser?.close();
    await app?.stop();
  });

  it("shows the HTML of a mail, and runs no script and loads no file of it", async () => {
    const blocked: string[] = [];
    page.on("requestfailed", (request) => {
      blocked.push(`${new URL(request.url()).pathname} ${request.failure()?.errorText ?? ""}`);
    });
    await page.goto(`${app.url}/dev/mails`);

    await page.click("text=hostile");
    const frame = page.frameLocator("iframe");

    expect(await frame.locator("#said").textContent()).to.equal("The HTML of the mail");
    expect(await frame.locator("#said").evaluate((said) => getComputedStyle(said).color)).to.equal("rgb(255, 0, 0)");
    // The document is loaded when its frame is, with the images of the mail.
    await page.waitForLoadState();
    // An image that was not loaded has no width.
    expect(await frame.locator("#inside").evaluate((image) => (image as HTMLImageElement).naturalWidth)).to.equal(1);
    expect(await page.title()).to.equal("<script>parent.document.title = 'stolen'</script>");
    expect(await page.locator("body").evaluate((body) => getComputedStyle(body).maxWidth)).to.equal("960px");
    await until(() => blocked.filter((each) => each.startsWith("/outside")).length >= 2);
    const outside = blocked.filter((each) => each.startsWith("/outside")).toSorted();
    expect(outside).to.deep.equal(["/outside.css csp", "/outside.gif csp"]);
  });
});
