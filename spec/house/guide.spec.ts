/**
 * The guide is correct: its programs compile with the settings that it recommends, and its transcripts show the output of today.
 * After an intended change `RECORD=1 npx mocha --grep transcripts` writes new transcripts.
 */

import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Binding, Module } from "@stagecraft/framework";
import type { Database } from "@stagecraft/framework/db";
import { expect } from "chai";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { Child } from "../support/child.js";
import { freePort } from "../support/free-port.js";
import { compileGuide, compiledProgram, guidePrograms, recommendedSettings } from "../support/guide-programs.js";
import { needRedis, RedisServer } from "../support/redis-server.js";
import { filesBelow, firstBlock, ROOT, textOf } from "../support/sources.js";
import { hasTranscripts, lasting, replay, type StartProgram } from "../support/transcripts.js";

/** Programs that stand in no page. */
const SAMPLES: Readonly<Record<string, string>> = {
  conduit: "../../samples/conduit/main.js",
  hello: "../../samples/hello/main.js",
  links: "../../samples/links/main.js",
};

const IN_RELEASE = "-in-release";

/** Starts the sample, or a program of the page; `<name>-in-release` is a release build of either. */
function startOn(page: string, environment: NodeJS.ProcessEnv): StartProgram {
  const folder = basename(page, ".md");
  return async (name, cwd) => {
    const port = await freePort();
    const program = name.endsWith(IN_RELEASE) ? name.slice(0, -IN_RELEASE.length) : name;
    const file = SAMPLES[program] ?? compiledProgram(`${folder}/${program}.js`);
    const mode = program === name ? {} : { NODE_ENV: "production" };
    // The sample calls itself, so that the transcript shows the call.
    const upstream = { UPSTREAM_URL: `http://127.0.0.1:${port}/about` };
    return Child.start(file, { ...upstream, ...environment, ...mode }, { port, cwd });
  };
}

/** The module of the page about tests with a database. */
interface DatabaseHelpers {
  readonly inMemory: () => Binding;
  readonly withinTransaction: (
    module: new () => object,
    test: (db: Database<unknown>) => Promise<void>,
  ) => Promise<void>;
  readonly fromScratch: (module: new () => object, test: () => Promise<void>) => Promise<void>;
}

async function replayed(page: string): Promise<string> {
  const written = textOf(page) ?? "";
  if (!written.includes(":6379")) return replay(written, startOn(page, {}));
  await using redis = await RedisServer.start();
  return await replay(written, startOn(page, { REDIS_URL: redis.url }), [[6379, redis.port]]);
}

describe("the guide", function () {
  this.timeout(300_000);
  let errors: ReadonlyMap<string, string>;

  before(async () => {
    await buildFrontEnd();
    errors = await compileGuide(guidePrograms());
  });

  it("shows programs that compile with the settings it recommends", () => {
    const right = guidePrograms().filter(({ message }) => message === undefined);

    expect(right).to.have.property("length").above(0);
    expect(right.flatMap(({ path }) => errors.get(path) ?? [])).to.deep.equal([]);
  });

  it("shows the messages of the compiler exactly", () => {
    const wrong = guidePrograms().filter(({ message }) => message !== undefined);

    expect(wrong).to.have.property("length").above(0);
    for (const { path, message } of wrong) expect(errors.get(path), path).to.equal(message);
    expect([...errors.keys()]).to.have.members(wrong.map(({ path }) => path));
  });

  it("installs the log in each program that runs an application", () => {
    const blocks = ["README.md", ...filesBelow("docs/guide", ".md")].flatMap((page) =>
      [...(textOf(page) ?? "").matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ""]) => ({ page, code })),
    );
    const running = blocks.filter(({ code }) => /^await .*(?:\n {2}.*)*\.run\(\)/m.test(code));
    const silent = running.filter(({ code }) => !/\binstallLogging\(|\bwithSubscriber\(/.test(code));

    expect(running).to.have.property("length").above(40);
    expect(silent).to.deep.equal([]);
  });

  it("recommends the compiler settings of the readme", () => {
    expect(recommendedSettings()).to.equal(firstBlock("README.md", "json"));
  });

  it("names each file of a page once", () => {
    const paths = guidePrograms().map(({ path }) => path);

    expect(new Set(paths).size).to.equal(paths.length);
  });

  it("shows the start-up report exactly, in the readme too", async () => {
    const [shown = ""] =
      /^the application cannot start: [\s\S]*?\n(?=```)/m.exec(textOf("docs/guide/modules.md") ?? "") ?? [];

    await using child = await Child.start(compiledProgram("modules/report.js"));
    const code = await child.exitCode();

    expect(shown).not.to.equal("");
    expect(child.errors).to.equal(shown);
    expect(code).to.equal(1);
    expect(textOf("README.md")).to.include(shown);
  });

  it("shows helpers for tests with a database that run", async () => {
    const file = new URL(`../support/${compiledProgram("testing-databases/links.js")}`, import.meta.url);
    const helpers = (await import(file.href)) as DatabaseHelpers; // By the page.
    @Module({ providers: [helpers.inMemory()] })
    class Links {}

    const targets: unknown[] = [];
    await helpers.withinTransaction(Links, async (db) => {
      targets.push(...(await db.run("select target from links")));
    });
    let hasRun = false;
    await helpers.fromScratch(Links, async () => void (hasRun = true));

    expect(targets).to.deep.equal(Array.from({ length: 3 }, () => ({ target: "https://example.org" })));
    expect(hasRun).to.equal(true);
  });

  for (const page of ["README.md", ...filesBelow("docs/guide", ".md")].filter((each) =>
    hasTranscripts(textOf(each) ?? ""),
  )) {
    it(`has transcripts in ${page} that show the output of its programs`, async function () {
      const written = textOf(page) ?? "";
      if (written.includes(":6379")) needRedis(this);

      const again = await replayed(page);

      const isSame = lasting(written) === lasting(again);
      if (process.env["RECORD"] !== undefined && !isSame) writeFileSync(join(ROOT, page), again);
      else expect(lasting(written), "RECORD=1 npx mocha --grep transcripts").to.equal(lasting(again));
    });
  }
});
