import { expect } from "chai";
import { linksApplication } from "../../samples/links/application.js";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { Child } from "../support/child.js";
import { until } from "../support/until.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const MAIN = "../../samples/links/main.js";

/** The document with its content. Where a busy machine takes too long to render it, the browser would. */
async function frontPage(child: Child): Promise<string> {
  await child.serves();
  let html = "";
  await until(async () => {
    html = await (await fetch(child.url)).text();
    return html.includes("data-server-rendered");
  });
  return html;
}

describe("the front page of samples/links", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);
  let child: Child;

  before(async () => {
    await buildFrontEnd();
    child = await Child.start(MAIN);
  });
  after(() => child?.[Symbol.asyncDispose]());

  it("shows the stages that are on, in their order", async () => {
    const html = await frontPage(child);

    const rows = linksApplication(settingsFrom({})).build().pipeline();
    const shown = [...html.matchAll(/<code>(\d+ \w+)<\/code>/g)].map(([, stage]) => stage);
    expect(shown).to.deep.equal(rows.filter(({ on }) => on).map(({ number, slot }) => `${number} ${slot}`));
  });

  it("shows the log line of its own request", async () => {
    const html = await frontPage(child);
    const [, line = ""] = /<code>(INFO .*?)<\/code>/.exec(html) ?? [];
    const [start = "", ...rest] = line.split(" … ");
    await child.says(rest.at(-1) ?? "", "errors");

    const written = child.errors.split("\n").find((each) => each.includes(rest.at(-1) ?? "")) ?? "";
    expect(written).to.include(start);
    for (const part of rest) expect(written).to.include(part);
    expect(rest.at(-1)).to.match(/^request_id=[\da-f-]{36} status=200$/);
  });

  it("links to pages that exist, the guide among them", async () => {
    const html = await frontPage(child);

    const links = [...html.matchAll(/<a [^>]*href="(\/[^"]*)"/g)].map(([, path = ""]) => path.replaceAll("&amp;", "&"));
    const responses = await Promise.all(links.map((path) => fetch(child.url + path)));
    expect(links).to.include.members(["/up", "/metrics", "/docs", "/guide/index.md"]);
    expect(responses.map(({ status }) => status)).to.deep.equal(links.map(() => 200));
    const guide = await fetch(`${child.url}/guide/index.md`);
    expect(guide.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    expect(await guide.text()).to.include('<a href="first-steps.md">first steps</a>');
    expect((await fetch(`${child.url}/guide/..%2Findex.md`)).status).to.equal(422);
    expect((await fetch(`${child.url}/guide/none.md`)).status).to.equal(404);
  });

  it("shows none of it in a release build", async () => {
    await using release = await Child.start(MAIN, { NODE_ENV: "production" });

    const html = await frontPage(release);

    expect(html).to.include("<h1>Short links").and.not.include('<h2 id="overview">');
  });
});
