/**
 * A person with a browser at `samples/links`: a new profile, and the complaints of the browser. `close` fails on a complaint, so that no
 * journey passes with an error on the console: of the policy, of React, of the client.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setImmediate } from "node:timers/promises";
import type { AxeResults, RunOptions } from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { until } from "./until.js";

/** The client of Inertia 3.7 throws where further rows of a list arrive after the reader has left the page; no row is lost. */
const LATE_LIST = /^The page object does not contain a scroll prop named/;

const EVENTS = 40;

export class SampleVisitor implements AsyncDisposable {
  readonly complaints: string[] = [];
  /** The paths of the documents that were loaded. */
  readonly documents: string[] = [];
  /** The last requests, responses and lines of the console, for the message of a journey that fails. */
  private readonly events: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    readonly url: string,
  ) {
    page.on("console", (message) => {
      this.note(`${message.type()}: ${message.text()}`);
      // A refused request is on the console too.
      if (["error", "warning"].includes(message.type()) && !message.text().includes("the server responded"))
        this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => {
      if (!LATE_LIST.test(error.message)) this.complaints.push(String(error));
    });
    page.on("response", (response) => this.note(`${response.status()} for ${pathOf(response.url())}`));
    page.on("requestfailed", (request) => this.note(`no response for ${pathOf(request.url())}`));
    page.on("request", (request) => {
      this.note(`${request.method()} ${pathOf(request.url())}`);
      if (request.isNavigationRequest()) this.documents.push(new URL(request.url()).pathname);
    });
  }

  static async at(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<SampleVisitor> {
    const context = await browser.newContext(options);
    return new SampleVisitor(context, await context.newPage(), url);
  }

  /** Goes through a journey. An error names the place and the steps before it. */
  async goes(journey: (visitor: this) => Promise<void>): Promise<void> {
    try {
      await journey(this);
    } catch (error) {
      const heading = await this.page.textContent("h1", { timeout: 1000 }).catch(() => null);
      const state = `at ${this.page.url()} with the heading ${String(heading)}, after:\n${this.events.join("\n")}`;
      throw new Error(`${String(error)}\n${state}`, { cause: error });
    }
  }

  /** Another person at the same browser, which has the files of the front end already. Fails on a complaint up to now. */
  async nextPerson(): Promise<void> {
    for (const page of this.context.pages()) if (page !== this.page) await page.close();
    await this.page.unrouteAll();
    this.page.removeAllListeners("dialog");
    if (this.page.url().startsWith(this.url)) await this.page.evaluate(() => sessionStorage.clear());
    await this.page.goto("about:blank");
    await this.context.clearCookies();
    this.documents.length = 0;
    this.expectNoComplaint();
  }

  /** Loads a document, and waits until the front end has started. */
  async open(path = "/"): Promise<void> {
    await this.page.goto(this.url + path);
    await this.page.waitForSelector("#app[data-started]");
  }

  /** Signs up as `<name>@example.org`, and follows the link of the mail in the same browser. */
  async signUp(name: string): Promise<void> {
    await this.open("/account/sign-up");
    await this.enter({ email: `${name}@example.org`, password: "correct horse" });
    await this.submit();
    await this.page.waitForSelector("h1:has-text('A mail is on its way')");
    await this.openMail(name, "Confirm your address");
    await this.page.click("text=Confirm >> nth=-1");
    await this.says("You have signed in.");
  }

  /** Signs in by the form of the page that is open. */
  async signIn(name: string, password = "correct horse"): Promise<void> {
    await this.enter({ email: `${name}@example.org`, password });
    await this.submit();
  }

  /** Sends the form of the page. */
  async submit(): Promise<void> {
    await this.page.click("main form button:not([type])");
  }

  /** Opens the link of the last mail to a person with this subject. A debug build shows the mails of its run. */
  async openMail(name: string, subject: string): Promise<void> {
    let mail: string | undefined;
    await until(async () => {
      const list = await (await fetch(`${this.url}/dev/mails`)).text();
      const rows = list
        .split("<tr>")
        .filter((row) => row.includes(`>${subject}<`) && row.includes(`>${name}@example.org<`));
      mail = /href="([^"]*)"/.exec(rows.find((row) => row.includes(">sent<")) ?? "")?.[1];
      return mail !== undefined;
    });
    const text = await (await fetch(this.url + (mail ?? ""))).text();
    const { pathname, search } = new URL(/<a href="(http[^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "");
    await this.open(pathname + search);
  }

  async shorten(target: string, slug: string): Promise<void> {
    await this.enter({ target, slug });
    await this.page.click("text=Shorten");
  }

  /** Creates links by the API of programs, each in another millisecond, so that the last one is the newest. */
  async addLinks(...slugs: readonly string[]): Promise<void> {
    const headers = { "Content-Type": "application/json", Authorization: "Bearer of-a-program" };
    for (const slug of slugs) {
      const body = JSON.stringify({ slug, target: "https://example.com/a?b=<c>&d" });
      const { status } = await fetch(`${this.url}/api/links`, { method: "POST", headers, body });
      if (status !== 201) throw new Error(`the link ${slug} got the status ${status}`);
      for (const respondedAt = Date.now(); Date.now() === respondedAt;) await setImmediate();
    }
  }

  async enter(fields: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(fields)) await this.page.fill(`main input[name=${name}]`, value);
  }

  /** Waits for a message of the flash. */
  async says(message: string): Promise<void> {
    await this.page.waitForSelector(`[role=status] p:text-is("${message}")`);
  }

  /** The messages at the fields, by their fields. */
  async faults(): Promise<Readonly<Record<string, string>>> {
    await this.page.waitForSelector(".fault");
    const faults = await this.page.$$eval("input[aria-invalid]", (inputs) =>
      inputs.map((input) => {
        const note = document.getElementById(input.getAttribute("aria-describedby") ?? "");
        return [input.getAttribute("name") ?? "", note?.textContent ?? ""];
      }),
    );
    return Object.fromEntries(faults) as Readonly<Record<string, string>>;
  }

  /**
   * The faults that axe finds for people with a screen reader, a keyboard, or weak eyes; and whether the page is wider than the window.
   *
   * @param rules of axe; those of colours are enough where only the colours differ from an earlier check
   */
  async barriers(rules: "all" | "of colours" = "all"): Promise<readonly string[]> {
    if (!(await this.page.evaluate(() => "axe" in globalThis))) await this.page.evaluate(axeSource());
    // Axe describes the elements of the other results too, unless an option excludes them.
    const options: RunOptions = { resultTypes: ["violations"], ...(rules === "all" ? {} : { runOnly: ["cat.color"] }) };
    const found = await this.page.evaluate(async (given) => {
      const { axe } = globalThis as unknown as { readonly axe: { run(options: RunOptions): Promise<AxeResults> } };
      const { violations } = await axe.run(given);
      const all = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth > clientWidth ? [...all, `wider than the window: ${scrollWidth}`] : all;
    }, options);
    return found.map((each) => `${new URL(this.page.url()).pathname} ${each}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
    this.expectNoComplaint();
  }

  private note(event: string): void {
    this.events.push(event);
    if (this.events.length > EVENTS) this.events.shift();
  }

  private expectNoComplaint(): void {
    const complaints = this.complaints.splice(0);
    if (complaints.length > 0) throw new Error(`${this.page.url()}: the browser complains: ${complaints.join("\n")}`);
  }
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

let axe: string | undefined;

/** As a script of the debugger, which the policy of the page does not concern. */
function axeSource(): string {
  return (axe ??= `${readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")};undefined`);
}
