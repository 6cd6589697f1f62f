/**
 * Journeys of people with a browser through `samples/links`. They are the same against the built sample and against its development server,
 * so they have no access to the process: the API creates the links, and each journey has its own names.
 */
import { expect } from "chai";
import { Gate } from "./gate.js";
import type { SampleVisitor } from "./sample-visitor.js";

type Journey = (ada: SampleVisitor) => Promise<void>;

const TARGET = "https://example.com/a?b=<c>&d";

async function makesLink(ada: SampleVisitor): Promise<void> {
  const { page } = ada;
  await ada.open();
  await page.click("text=Make your first link");
  await ada.enter({ email: "maker@example.org", password: "correct horse" });
  await ada.submit();
  await page.waitForSelector("h1:has-text('A mail is on its way')");
  await ada.openMail("maker", "Confirm your address");
  const { pathname } = new URL(page.url());
  await page.click("text=Confirm >> nth=-1");
  await ada.says("You have signed in.");
  await ada.shorten(TARGET, "my-link");
  await ada.says("The link my-link is ready.");
  expect(await page.inputValue("input[name=target]")).to.equal("");
  await page.click("[aria-label='Details of my-link']");
  await page.waitForSelector("h1:has-text('my-link')");

  expect(await page.title()).to.equal("my-link · Links");
  expect(ada.documents).to.deep.equal(["/", pathname]);
}

async function refreshesNumbers(ada: SampleVisitor): Promise<void> {
  const { page } = ada;
  await ada.addLinks("counted");
  await ada.open();
  const deferred = page.waitForResponse((response) => response.url().endsWith("/links/counted"));
  await page.click("[aria-label='Details of counted']");
  expect(await propsOf(await deferred)).not.to.include("clicks");
  await page.waitForSelector("figure.chart");
  await fetch(`${ada.url}/to/counted`, { redirect: "manual" });

  const visits = () => page.textContent("#visits");
  const responses: (readonly string[])[] = [];
  // The visit may be counted a little later.
  for (let tries = 0; tries < 50 && (await visits()) !== "1"; tries++) {
    const counted = page.waitForResponse((response) => response.url().endsWith("/links/counted"));
    await page.click("text=Refresh");
    responses.push(await propsOf(await counted));
    await page.waitForSelector("button:text-is('Refresh'):enabled");
  }

  expect(await visits()).to.equal("1");
  expect(responses[0]).to.have.members(["errors", "link", "clicks"]);
  expect(ada.documents).to.deep.equal(["/"]);
}

async function propsOf(response: { json(): Promise<unknown> }): Promise<readonly string[]> {
  const { props } = (await response.json()) as { readonly props: object };
  return Object.keys(props);
}

async function goesBackAndForward(ada: SampleVisitor): Promise<void> {
  const { page } = ada;
  await ada.addLinks("there-and-back");
  await ada.open();
  await page.click("[aria-label='Details of there-and-back']");
  await page.waitForSelector("figure.chart");

  await page.goBack();
  await page.waitForSelector("h1:has-text('Short links')");
  await page.goForward();
  await page.waitForSelector("figure.chart");
  expect(ada.documents).to.deep.equal(["/"]);
  await page.goto("data:text/html,elsewhere");
  await page.goBack();
  await page.waitForSelector("h1:has-text('there-and-back')");

  expect(await page.content()).to.match(/^<!doctype html>/i);
}

/**
 * Scrolls, in the browser, until the list no longer goes on by itself. Its end counts when it comes into view. Where the client is still
 * busy with the rows before, it must come again.
 */
function isManual(): boolean {
  window.scrollTo(0, window.scrollY > 0 ? 0 : document.body.scrollHeight);
  return [...document.querySelectorAll("button")].some(({ textContent }) => textContent === "Load more");
}

async function scrollsOn(ada: SampleVisitor): Promise<void> {
  const { page } = ada;
  await ada.addLinks(...Array.from({ length: 120 }, (_, at) => `of-many-${at + 1}`));
  await ada.open();
  const rows = () => page.locator(".row").count();
  const all = Number.parseInt((await page.textContent("#all")) ?? "", 10);
  expect(await rows()).to.equal(20);

  await page.waitForFunction(isManual, undefined, { polling: 50 });
  expect(await rows()).to.be.lessThan(all);
  // How many come by themselves depends on the time that each takes.
  for (let before = await rows(); before < all; before = await rows()) {
    await page.click("text=Load more");
    await page.waitForFunction((count) => document.querySelectorAll(".row").length > count, before);
  }

  const slugs = await page.$$eval(".short", (links) => links.map((link) => link.getAttribute("href")));
  expect(slugs.slice(0, 120)).to.deep.equal(Array.from({ length: 120 }, (_, at) => `/to/of-many-${120 - at}`));
  expect(new Set(slugs).size).to.equal(all);
}

async function seesFaults(ada: SampleVisitor): Promise<void> {
  const { page } = ada;
  await ada.addLinks("taken");
  await ada.signUp("faulty");

  await ada.shorten("ftp://example.com/", "No!");
  // The fault of the name may come while the form is filled in.
  await page.waitForSelector("text=an absolute http or https URL");
  expect(await ada.faults()).to.deep.equal({
    target: "an absolute http or https URL",
    slug: "3 to 32 lower-case letters, digits or hyphens",
  });
  // The fault has the focus after it is shown.
  await page.waitForFunction(() => document.activeElement?.getAttribute("name") === "target");
  expect(await page.inputValue("input[name=slug]")).to.equal("No!");
  await ada.shorten(TARGET, "taken");
  await page.waitForSelector("text=that name is taken");
  await page.waitForFunction(() => document.querySelector("input[name=target][aria-invalid]") === null);

  expect(await ada.faults()).to.deep.equal({ slug: "that name is taken" });
  expect(await page.inputValue("input[name=target]")).to.equal(TARGET);
}

async function seesFlashOnce(ada: SampleVisitor): Promise<void> {
  const { page } = ada;
  await ada.signUp("remover");
  await ada.shorten(TARGET, "short-lived");
  await ada.says("The link short-lived is ready.");
  await page.click("[aria-label='Details of short-lived']");
  await page.waitForSelector("figure.chart");

  await page.click("summary");
  await page.click("text=Remove short-lived");
  await ada.says("The link short-lived is removed.");
  // By the keyboard: rows that arrive move the foot of the page between the press and the release of a mouse.
  await page.press("footer >> text=Most visited", "Enter");
  await page.waitForSelector("h1:has-text('Most visited')");
  await page.goBack();
  await page.waitForSelector("h1:has-text('A new link')");

  expect(await page.locator("[role=status] p").count()).to.equal(0);
}

async function learnsWhileTyping(ada: SampleVisitor): Promise<void> {
  const { page } = ada;
  const slug = page.locator("main input[name=slug]");
  await ada.addLinks("early-bird");
  await ada.signUp("early-bird");
  await page.fill("main input[name=target]", TARGET);

  await slug.pressSequentially("early-bird");
  // While the name is typed, a part of it may be refused for another fault.
  await page.waitForSelector("text=that name is taken");
  expect(await ada.faults()).to.deep.equal({ slug: "that name is taken" });
  await slug.pressSequentially("-2");
  await page.waitForSelector("text=That name is free.");
  await page.waitForFunction(() => document.querySelector(".fault") === null);
  expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).to.equal("slug");
  await page.click("text=Shorten");

  await ada.says("The link early-bird-2 is ready.");
}

async function clicksTwice(ada: SampleVisitor): Promise<void> {
  await ada.signUp("impatient");
  let sent = 0;
  ada.page.on("request", (request) => (sent += request.url().endsWith("/shorten") ? 1 : 0));
  const all = () => ada.page.textContent("#all");
  const before = Number.parseInt((await all()) ?? "", 10);

  // The response comes after both clicks.
  const clicked = new Gate();
  await ada.page.route("**/shorten", (route) => clicked.passed.then(() => route.continue()));
  await ada.enter({ target: TARGET });
  await ada.page.dblclick("text=Shorten");
  clicked.open();
  await ada.page.waitForSelector("[role=status] p:has-text('is ready')");

  expect(sent).to.equal(1);
  expect(Number.parseInt((await all()) ?? "", 10)).to.equal(before + 1);
}

async function losesToken(ada: SampleVisitor): Promise<void> {
  await ada.signUp("tokenless");
  // Without its cookie the browser gets a new token with the icon of the site, which it may ask for at any time.
  let sent = 0;
  await ada.page.route("**/shorten", async (route) => {
    const { ["x-xsrf-token"]: token = "", ...headers } = await route.request().allHeaders();
    const isFirst = headers["precognition"] === undefined && sent++ === 0;
    await route.continue({ headers: isFirst ? headers : { ...headers, "x-xsrf-token": token } });
  });

  await ada.shorten(TARGET, "second-try");
  await ada.page.waitForSelector("[role=status] p.error");
  expect(await ada.page.inputValue("input[name=slug]")).to.equal("second-try");
  await ada.page.click("text=Shorten");

  await ada.says("The link second-try is ready.");
}

async function losesSession(ada: SampleVisitor): Promise<void> {
  await ada.signUp("forgotten");
  await ada.context.clearCookies();

  await ada.shorten(TARGET, "too-late");
  // The page has expired, unless the browser asked for the icon of the site and got a new token with it: then the visitor is unknown.
  await ada.page.waitForSelector("[role=status] p.error, h1:has-text('Sign in')");
  await ada.page.click("nav >> text=Sign in");
  await ada.page.waitForSelector("h1:has-text('Sign in')");
  await ada.signIn("forgotten", "wrong horse");
  expect(await ada.faults()).to.deep.equal({ email: "address or password are wrong" });
  await ada.signIn("forgotten");

  await ada.says("You have signed in.");
}

export const SAMPLE_JOURNEYS: readonly (readonly [title: string, journey: Journey])[] = [
  ["signs up, makes a link, and opens its page, in one document", makesLink],
  ["gets numbers after the page, and asks for them alone when they are refreshed", refreshesNumbers],
  ["goes back and forward between pages, also after a document of another site", goesBackAndForward],
  ["loads further links while the reader scrolls, then when the reader asks", scrollsOn],
  ["shows what is wrong at its field, keeps the input, and has the focus there", seesFaults],
  ["removes a link in two steps, shows the message once, and not again on the way back", seesFlashOnce],
  ["says that a name is taken, or free, while it is typed, and leaves the focus where it is", learnsWhileTyping],
  ["sends a form once where its button is clicked twice", clicksTwice],
  ["says that the page has expired where the token is missing, and sends the form the next time", losesToken],
  ["asks people to sign in again when their session is over", losesSession],
];
