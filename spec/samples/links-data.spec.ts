/** The data of the sample: on both engines, after a restart, in two processes at once, and with a worker of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { fileDatabase, type LinksDatabase, openDatabase } from "../../samples/links/database.js";
import { formatDay } from "../../samples/links/link-store.js";
import { links, visit } from "../../samples/links/links.routes.js";
import { StoredLinks } from "../../samples/links/stored-links.js";
import { Child } from "../support/child.js";
import { needs } from "../support/machine.js";
import { PostgresServer } from "../support/postgres-server.js";
import { until } from "../support/until.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const TARGET = "https://example.com/";
const DAY_MS = 86_400_000;

let server: PostgresServer | undefined;

const ENGINES: Readonly<Record<string, () => Promise<LinksDatabase>>> = {
  SQLite: async () => fileDatabase(),
  PostgreSQL: () => openDatabase(server?.url, ""),
};

for (const [engine, open] of Object.entries(ENGINES))
  describe(`the links of the sample on ${engine}`, function () {
    this.timeout(60_000);
    const clock = new FakeClock();
    const today = (): string => formatDay(new Date(clock.now()));
    let database: LinksDatabase;
    let store: StoredLinks;

    if (engine === "PostgreSQL") {
      before(needs("postgres"));
      before(async () => void (server = await PostgresServer.borrow()));
      after(() => server?.[Symbol.asyncDispose]());
    }
    before(async () => {
      database = await open();
      await database.start();
      store = new StoredLinks(database, clock);
    });
    after(() => database?.stop());
    beforeEach(() => database.query.deleteFrom("links").execute());

    const slugs = async (query: string): Promise<readonly string[]> =>
      (await store.list({ query, count: 100 })).map(({ slug }) => slug);

    it("are found by a part of slug or target, in any letter case and without wildcards", async () => {
      for (const [slug, target] of [
        ["a-b", "https://x.example/100%"],
        ["axb", "https://X.example/under_score"],
      ] as const)
        await store.add(slug, target);

      expect(await slugs("A-B")).to.deep.equal(["a-b"]);
      expect(await slugs("x.EXAMPLE")).to.have.members(["a-b", "axb"]);
      expect(await slugs("100%")).to.deep.equal(["a-b"]);
      expect(await slugs("r_s")).to.deep.equal(["axb"]);
      expect(await slugs("a%b")).to.deep.equal([]);
      expect(await slugs(String.raw`\ ' "`)).to.deep.equal([]);
    });

    it("are taken once", async () => {
      const added = await Promise.all([1, 2, 3].map(() => store.add("one", TARGET, "ada")));

      expect(added.filter((link) => link !== undefined)).to.have.length(1);
      expect(await store.find("one")).to.include({ slug: "one", target: TARGET, owner: "ada", visits: 0 });
    });

    it("have their visits counted by day, also at the same time", async () => {
      await store.add("one", TARGET);
      const yesterday = formatDay(new Date(clock.now()), 1);

      await Promise.all([today(), today(), yesterday].map((day) => store.countVisit("one", day)));
      await store.countVisit("gone", today());

      expect((await store.visitsByDay("one")).map(({ visits }) => visits)).to.deep.equal([
        ...Array<number>(12).fill(0),
        1,
        2,
      ]);
      expect(await store.totals()).to.deep.equal({ links: 1, visits: 3 });
      expect((await store.mostVisited(1))[0]).to.include({ slug: "one", visits: 3 });
    });

    it("are removed where a program made them and no visitor followed them for a quarter of a year", async () => {
      await Promise.all([store.add("unused", TARGET), store.add("used", TARGET), store.add("owned", TARGET, "ada")]);
      clock.advance(100 * DAY_MS);
      await store.add("new", TARGET);
      await store.countVisit("used", today());

      expect(await store.removeUnused(formatDay(new Date(clock.now()), 90))).to.equal(1);
      expect(await slugs("")).to.have.members(["used", "owned", "new"]);
    });

    it("are limited in number: the oldest makes room", async () => {
      const times = Array.from({ length: StoredLinks.capacity }, (_, at) => new Date(at * 1000).toISOString());
      const rows = times.map((created_at, at) => ({
        slug: `old-${at}`,
        target: TARGET,
        owner: null,
        created_at,
        visits: 0,
      }));
      for (let at = 0; at < rows.length; at += 2000)
        await database.query
          .insertInto("links")
          .values(rows.slice(at, at + 2000))
          .execute();

      await store.add("new", TARGET);

      expect((await store.totals()).links).to.equal(StoredLinks.capacity);
      expect(await store.find("old-0")).to.equal(undefined);
      expect((await store.list({ count: 1 }))[0]?.slug).to.equal("new");
    });
  });

async function made(child: Child, slug: string): Promise<Response> {
  return fetch(child.url + links.store.url(), {
    method: "POST",
    headers: { Authorization: "Bearer of-a-program", "Content-Type": "application/json" },
    body: JSON.stringify({ target: TARGET, slug }),
  });
}

async function shown(child: Child, slug: string): Promise<unknown> {
  return (await fetch(child.url + links.show.url(slug))).json();
}

const cookiesOf = (response: Response) => response.headers.getSetCookie().map((each) => each.split(";", 1)[0]);

/** The cookies of a person who signs up as the form does. The job of the mail may run in either process. */
async function signedUp(child: Child, other: Child, email: string): Promise<string> {
  const [token = ""] = cookiesOf(await fetch(`${child.url}/account/sign-up`));
  const post = (path: string, body: object) =>
    fetch(child.url + path, {
      method: "POST",
      redirect: "manual",
      headers: { cookie: token, "Content-Type": "application/json", "X-XSRF-TOKEN": token.replace(/^[^=]*=/, "") },
      body: JSON.stringify(body),
    });
  await post("/account/sign-up", { email, password: "a long password" });
  let path = "";
  await until(async () => {
    for (const { url } of [child, other]) path ||= await findLink(url);
    return path !== "";
  });
  // Without the session of the sign-up, as on another device.
  return cookiesOf(await post(path, { password: "a long password" })).join("; ");
}

/** The link of the only mail of a process. */
async function findLink(url: string): Promise<string> {
  const [, mail] = /href="(\/dev\/mails\/sent\/[^"]*)"/.exec(await (await fetch(`${url}/dev/mails`)).text()) ?? [];
  if (mail === undefined) return "";
  const [, link = ""] = /<a href="(http[^"]*sign-up[^"]*)"/.exec(await (await fetch(url + mail)).text()) ?? [];
  return link.replaceAll("&amp;", "&").replace(/^https?:\/\/[^/]*/, "");
}

describe("the data of the sample", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);
  let folder: string;

  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "links-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const started = (environment: NodeJS.ProcessEnv = {}, program = "main") =>
    Child.start(`../../samples/links/${program}.js`, { DATABASE_FILE: join(folder, "links.db"), ...environment });

  it("is shared by two processes that start at once, and outlives them", async () => {
    {
      await using one = await started();
      await using other = await started();
      await Promise.all([one.serves(), other.serves()]);

      const responses = await Promise.all([made(one, "mine"), made(other, "mine"), made(other, "theirs")]);

      expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([201, 201, 409]);
      expect(await shown(one, "theirs")).to.include({ slug: "theirs" });
    }
    await using later = await started();
    await later.serves();
    expect(await shown(later, "mine")).to.include({ slug: "mine" });
  });

  describe("on PostgreSQL", () => {
    let postgres: PostgresServer;

    before(needs("postgres"));
    before(async () => void (postgres = await PostgresServer.borrow()));
    after(() => postgres?.[Symbol.asyncDispose]());

    it("is shared by two processes that start at once, and the other one goes on when one is killed", async () => {
      const origin = "http://localhost:3000";
      const environment = { DATABASE_URL: postgres.url, SESSION_KEY: "5a".repeat(64), APP_URL: origin };
      await using one = await started(environment);
      await using other = await started(environment);
      await Promise.all([one.serves(), other.serves()]);
      const applied = `${one.errors}${other.errors}`.match(/migration applied migration=[\w-]+/g);

      await Promise.all([made(one, "mine"), made(other, "theirs")]);
      const cookie = await signedUp(one, other, "ada@example.org");
      await Promise.all([one, other].map((each) => fetch(each.url + visit.url("mine"), { redirect: "manual" })));
      await until(async () => ((await shown(other, "mine")) as { visits: number }).visits === 2);
      one.kill("SIGKILL");

      expect(applied).to.be.an("array").that.includes("migration applied migration=framework-sessions-1");
      expect(applied).to.deep.equal([...new Set(applied)]);
      expect(await (await fetch(other.url, { headers: { cookie } })).text()).to.include("ada@example.org");
      expect(await shown(other, "mine")).to.include({ slug: "mine" });
      expect((await made(other, "mine")).status).to.equal(409);
      expect((await fetch(`${other.url}/up/ready`)).status).to.equal(200);
    });

    it("needs the key of the sessions in release, because another process could not read them", async () => {
      await using child = await started({ DATABASE_URL: postgres.url, NODE_ENV: "production" });

      await child.says("there is no key for the sessions, which all instances share", "errors");
      expect(await child.exitCode()).to.equal(1);
    });
  });

  it("is written by a process that only works, where the others do not", async () => {
    await using web = await started({ WORKER: "elsewhere" });
    await web.serves();
    await made(web, "one");
    await fetch(web.url + visit.url("one"), { redirect: "manual" });
    expect(await shown(web, "one")).to.include({ visits: 0 });

    await using worker = await started({}, "worker");

    await until(async () => ((await shown(web, "one")) as { visits: number }).visits === 1);
    expect(worker.output).to.equal("");
  });
});
