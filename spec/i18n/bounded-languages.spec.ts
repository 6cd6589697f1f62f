/** The memory of languages for 10,000 requests, each with texts that no request had before. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { type TestApp, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";

/** Of each of the texts of a request. */
const LENGTH = 240;
const REQUESTS = 10_000;
const AT_ONCE = 20;

const languages = new Languages({
  default: "en",
  catalogs: { en: "hello = Hello { $n } { $name }", de: "hello = Hi" },
});

/** Formats a message that exists with the text of a client, and one whose name is that text. */
const greet = async (ctx: Context<"name">): Promise<string> => {
  const { name } = ctx.params;
  const { t } = await languages.of(ctx);
  return t("hello", { name, n: Number.parseInt(name.slice(1), 36) }) + t(name);
};

/** Texts that differ at their start and have no reference to a longer one. */
function toText(round: number, fill: string): string {
  return `q${round.toString(36)}-`.padEnd(LENGTH, fill);
}

async function request(app: TestApp, round: number): Promise<void> {
  const lang = toText(round, "b-").slice(0, 60);
  const headers = { "Accept-Language": `${toText(round, "abcdefg-")}, x${round}` };
  const response = await app.get(`/${toText(round, "c")}?lang=${lang}`, { headers });
  expect(response.headers.get("content-language")).to.equal("en");
  await response.text();
}

async function requestAll(app: TestApp, from: number, to: number): Promise<void> {
  for (let round = from; round < to; round += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_each, at) => request(app, round + at)));
}

/** Memory outside the heap is released in a later iteration of the event loop. */
async function measureHeap(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 5; round++) {
    collect();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().heapUsed;
}

describe("the memory of languages", function () {
  this.timeout(120_000);

  it("does not grow with the tags, headers and names of messages that clients send", async () => {
    await using app = await testApp(
      Application.create()
        .provide(provide(Languages).useValue(languages))
        .routes(new Routes([Route.get("/{name}", greet)])),
    );
    // The log follows the first 1000 names.
    await requestAll(app, 0, 2000);
    const before = await measureHeap();

    await requestAll(app, 2000, 2000 + REQUESTS);

    const grown = (await measureHeap()) - before;
    expect(grown).to.be.below((REQUESTS * LENGTH * 3) / 4);
  });
});
