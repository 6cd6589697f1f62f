/** The sample's ranking, which is cached, and the pictures of its links, which people upload. */
import { testApp, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { linksApplication } from "../../samples/links/application.js";
import { home, logos, ranking, visit } from "../../samples/links/links.routes.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { LinkStore } from "../../samples/links/link-store.js";
import { until } from "../support/until.js";
import { PNG } from "../support/multipart.js";
import { pageIn } from "../support/page-visit.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const TARGET = "https://example.com/";

const started = (): Promise<TestApp> => testApp(linksApplication(settingsFrom({})));

async function withLinks(app: TestApp, ...slugs: readonly string[]): Promise<TestClient> {
  const ada = await app.actingAs("ada");
  for (const slug of slugs) await ada.post(home.shorten.url(), { form: { target: TARGET, slug } });
  return ada;
}

/** A job counts a visit after its response. */
function counted(app: TestApp, visits: number): Promise<void> {
  return until(async () => (await app.resolve(LinkStore).totals()).visits >= visits);
}

async function ranked(client: TestClient): Promise<readonly (readonly [string, number])[]> {
  const { links } = (await (await client.get(ranking.list.url())).json()) as {
    links: readonly { slug: string; visits: number }[];
  };
  return links.map(({ slug, visits }) => [slug, visits]);
}

function pictureOf(content: string | Buffer, type = "image/png"): FormData {
  const form = new FormData();
  form.append("logo", new Blob([new Uint8Array(Buffer.from(content))], { type }), "logo.png");
  return form;
}

describe("the ranking of links", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);

  it("has the most visited links, is cached, and drops a link that is removed", async () => {
    await using app = await started();
    const ada = await withLinks(app, "one", "two");
    await app.get(visit.url("two"));
    await counted(app, 1);

    const first = await ranked(app);
    await app.get(visit.url("one"));
    await counted(app, 2);
    const second = await ranked(app);
    await ada.post(home.remove.url("two"));

    expect(first).to.deep.equal([
      ["two", 1],
      ["one", 0],
    ]);
    expect(second).to.deep.equal(first);
    expect(await ranked(app)).to.deep.equal([["one", 1]]);
  });

  it("is a page too", async () => {
    await using app = await started();
    await withLinks(app, "one");

    const { component, props } = pageIn(await (await app.get(ranking.page.url())).text());

    expect([component, props["links"]]).to.deep.equal([
      "links/most-visited",
      [{ slug: "one", target: TARGET, visits: 0 }],
    ]);
  });
});

describe("the picture of a link", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);

  it("is uploaded by the owner of the link, and shown with its sniffed type", async () => {
    await using app = await started();
    const ada = await withLinks(app, "mine");

    const response = await ada.post(logos.store.url("mine"), { body: pictureOf(PNG, "text/html") });
    const { picture } = pageIn(await (await app.get(home.show.url("mine"))).text()).props;
    const shown = await app.get(String(picture));

    expect(picture).to.match(/^\/links\/mine\/logo\?version=\d+$/);
    expect([response.status, response.headers.get("location")]).to.deep.equal([303, home.show.url("mine")]);
    expect(shown.headers.get("content-type")).to.equal("image/png");
    expect(shown.headers.get("x-content-type-options")).to.equal("nosniff");
    expect(Buffer.from(await shown.arrayBuffer())).to.deep.equal(PNG);
  });

  it("is refused from others, and with an error at its field as a page and above 256 KiB", async () => {
    await using app = await started();
    const ada = await withLinks(app, "mine");
    const eve = await app.actingAs("eve");

    expect((await eve.post(logos.store.url("mine"), { body: pictureOf(PNG) })).status).to.equal(404);
    const refused = async (body: FormData) => {
      const { status, headers } = await ada.post(logos.store.url("mine"), { body });
      expect([status, headers.get("location")]).to.deep.equal([303, home.show.url("mine")]);
      return pageIn(await (await ada.get(home.show.url("mine"))).text()).props["errors"];
    };
    expect(await refused(pictureOf("<script>"))).to.deep.equal({ logo: "a PNG, JPEG, GIF or WebP picture" });
    const large = pictureOf(Buffer.concat([PNG, Buffer.alloc(262_144)]));
    expect(await refused(large)).to.deep.equal({ logo: "at most 256 KiB" });

    expect((await app.get(logos.show.url("mine"))).status).to.equal(404);
  });

  it("goes with its link", async () => {
    await using app = await started();
    const ada = await withLinks(app, "mine");
    await ada.post(logos.store.url("mine"), { body: pictureOf(PNG) });
    await ada.post(home.remove.url("mine"));
    await withLinks(app, "mine");

    expect((await app.get(logos.show.url("mine"))).status).to.equal(404);
  });
});
