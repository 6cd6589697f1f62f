/** Our entry in the TechEmpower scenarios follows the rules of the public verifier, on a real PostgreSQL. */
import { expect } from "chai";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { techempower } from "../../../tools/bench/stagecraft/techempower.js";
import { WORLDS, type World } from "../../../tools/bench/techempower-rules.js";
import { fillWorlds } from "../../../tools/bench/techempower-tables.js";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";

describe("our entry in the TechEmpower scenarios", function () {
  this.timeout(60_000);
  let server: PostgresServer;
  let app: TestApp;

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
    await fillWorlds(postgres(server.url));
    app = await testApp(techempower(server.url));
  });
  after(async () => {
    await app[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  async function answer(path: string): Promise<unknown> {
    return (await app.get(path)).json();
  }

  /** Sets all rows of the table. */
  async function store(value: string): Promise<void> {
    await server.run(`update world set randomnumber = ${value}`);
  }

  for (const path of ["/db", "/queries?queries=2", "/updates?queries=2", "/fortunes"]) {
    it(`sends Server, Date, Content-Type and Content-Length with ${path}`, async () => {
      const { status, headers } = await app.get(path);

      expect(status).to.equal(200);
      expect(headers.get("server")).to.equal("stagecraft");
      // A busy machine may respond late.
      expect(Math.abs(Date.parse(headers.get("date") ?? "") - Date.now())).to.be.below(60_000);
      expect(headers.get("content-type")).to.match(
        path === "/fortunes" ? /^text\/html; charset=utf-8$/ : /^application\/json/,
      );
      expect(headers.get("content-length")).to.match(/^\d+$/);
    });
  }

  it("responds to /db with random rows of the table", async () => {
    await store("id");
    const ids = new Set<number>();
    for (let request = 0; request < 10; request += 1) ids.add(idOf(await answer("/db")));
    expect(ids.size).to.be.above(5);
  });

  it("responds to /queries with as many different rows of the table, from 1 to 500", async () => {
    await store("id");
    for (const [asked, count] of COUNTS) {
      const found = await answer(`/queries${asked}`);
      expect(new Set(rowsOf(found).map(idOf)).size, asked).to.equal(count);
      expect(found).to.have.length(count);
    }
  });

  it("reads each row of /queries by a statement of its own", async () => {
    const earlier = selectsOf(app);
    await answer("/queries?queries=20");
    expect(selectsOf(app) - earlier).to.equal(20);
  });

  it("runs 20 queries at once without a warning of Node", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    await answer("/queries?queries=20");
    process.off("warning", note);
    expect(warnings).to.deep.equal([]);
  });

  it("reads the rows again for each request", async () => {
    await store("-1");
    expect(rowsOf(await answer("/queries?queries=500")).map(({ randomNumber }) => randomNumber)).to.include(-1);
    await store("id");
    rowsOf(await answer("/queries?queries=500")).map(idOf);
  });

  it("stores the values that /updates returns, and changes no other row", async () => {
    for (const [asked, count] of COUNTS) {
      await store("-1");
      const updated = rowsOf(await answer(`/updates${asked}`));
      const changed = await server.run(
        'select id, randomnumber as "randomNumber" from world where randomnumber <> -1 order by id',
      );

      expect(updated, asked).to.deep.equal(changed).and.to.have.length(count);
      for (const { randomNumber } of updated) expect(randomNumber).to.be.within(1, WORLDS);
    }
  });

  it("responds to /fortunes with the stored rows and one more, escaped and by message", async () => {
    expect(await (await app.get("/fortunes")).text()).to.equal(FORTUNES);
  });
});

const COUNTS = [
  ["", 1],
  ["?queries=", 1],
  ["?queries=foo", 1],
  ["?queries=0", 1],
  ["?queries=-3", 1],
  ["?queries=20", 20],
  ["?queries=501", 500],
] as const;

function selectsOf({ logs }: TestApp): number {
  return logs.lines().filter((line) => line.includes('"operation":"select"')).length;
}

function rowsOf(answer: unknown): readonly World[] {
  expect(answer).to.be.an("array");
  // Each row is compared with the table.
  return answer as readonly World[];
}

/** The id of a row that the test has stored with its id as the number. */
function idOf(row: unknown): number {
  // The next line checks it.
  const { id } = row as World;
  expect(row).to.deep.equal({ id, randomNumber: id });
  return id;
}

/** The text that the verifier compares with. */
const FORTUNES =
  "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>" +
  "<tr><th>id</th><th>message</th></tr>" +
  "<tr><td>11</td><td>&lt;script&gt;alert(&quot;This should not be displayed in a browser alert box.&quot;);&lt;/script&gt;</td></tr>" +
  "<tr><td>4</td><td>A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1</td></tr>" +
  "<tr><td>5</td><td>A computer program does what you tell it to do, not what you want it to do.</td></tr>" +
  "<tr><td>2</td><td>A computer scientist is someone who fixes things that aren&#39;t broken.</td></tr>" +
  "<tr><td>8</td><td>A list is only as strong as its weakest link. — Donald Knuth</td></tr>" +
  "<tr><td>0</td><td>Additional fortune added at request time.</td></tr>" +
  "<tr><td>3</td><td>After enough decimal places, nobody gives a damn.</td></tr>" +
  "<tr><td>7</td><td>Any program that runs right is obsolete.</td></tr>" +
  "<tr><td>10</td><td>Computers make very fast, very accurate mistakes.</td></tr>" +
  "<tr><td>6</td><td>Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen</td></tr>" +
  "<tr><td>9</td><td>Feature: A bug with seniority.</td></tr>" +
  "<tr><td>1</td><td>fortune: No such file or directory</td></tr>" +
  "<tr><td>12</td><td>フレームワークのベンチマーク</td></tr>" +
  "</table></body></html>";
