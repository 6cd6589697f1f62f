/** The page "capacity": its commands run, its sum of connections fits a PostgreSQL, and its limits are those of the code. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Application, Route, Routes } from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { sql } from "kysely";
import { postgres } from "../../lib/db/drivers/postgres/postgres-driver.js";
import { toPoolLimits } from "../../lib/db/pool/pool-options.js";
import { readSettings } from "../../lib/jobs/jobs-options.js";
import { createServer } from "../../lib/server/server.js";
import { Gate } from "../support/gate.js";
import { replacedIn } from "../support/guide-files.js";
import { needs } from "../support/machine.js";
import { PostgresServer } from "../support/postgres-server.js";
import { rejectionOf } from "../support/rejection-of.js";
import { firstBlock, textOf } from "../support/sources.js";
import { until } from "../support/until.js";
import { compiledPage } from "./compiled-page.js";

const PAGE = "docs/guide/capacity.md";
const SUPERUSERS = 3;
/** The young generation of Node 24 in MiB; older ones have less. */
const YOUNG = 192;
const run = promisify(execFile);
const page = textOf(PAGE) ?? "";
const sizes = firstBlock(PAGE, "text");
const commands = [...page.matchAll(/^```sh\n(.*)\n```/gm)].map(([, command = ""]) => command);

/** The cells of a row behind its name. */
function row(name: string): string {
  const line = page.split("\n").find((each) => each.startsWith(`| ${name}`));
  if (line === undefined) throw new Error(`the page has no row ${name}`);
  return line.slice(line.indexOf("|", 1));
}

describe("the page about capacity", function () {
  this.timeout(60_000);
  this.slow(15_000);

  it("sets the limit of the heap to 75 % of the memory", async () => {
    const rows = [...page.matchAll(/^\| (\d+) MiB +\| (\d+) +\|$/gm)].map(([, memory, heap]) =>
      [memory, heap].map(Number),
    );
    const { stdout } = await run("sh", ["-c", commands[0] ?? ""]);

    expect(rows.length).to.be.greaterThan(2);
    for (const [memory = 0, heap] of rows) expect(heap).to.equal(memory * 0.75);
    expect(Number(stdout)).to.be.within(384, 384 + YOUNG);
  });

  it("computes what it prints", async () => {
    await using program = compiledPage("capacity/sizes.ts");
    const { stdout } = await run(process.execPath, [program.path]);

    expect(stdout).to.equal(sizes);
  });

  it("has the limits that the code has", () => {
    const { max, maxWaiting, waitMs } = toPoolLimits(undefined, "pool");
    const server = createServer({ handleRequest: () => {}, handleContinue: () => {} });

    expect(row("connections of the [pool]")).to.match(new RegExp(`^\\| ${max} `));
    expect(row("callers that wait")).to.include(`${maxWaiting}, each for ${waitMs / 1000} s`);
    expect(row("[jobs]")).to.match(new RegExp(`^\\| ${readSettings({}).concurrency} `));
    expect(row("head of a request")).to.include(`${server.headersTimeout / 1000} s`);
  });
});

describe("the command of the page that measures", function () {
  this.timeout(60_000);
  this.slow(10_000);
  before(needs("wrk"));

  it("prints the figures that the page names", async () => {
    await using app = await testApp(Application.create().routes(new Routes([Route.get("/", () => "hello")])));
    const command = replacedIn(commands[1] ?? "", { "http://127.0.0.1:3000": app.url, "30s": "1s" });
    const { stdout } = await run("sh", ["-c", command]);

    expect(stdout)
      .to.match(/Requests\/sec: +\d/)
      .and.match(/^ +99% +\d/m);
    expect(stdout).to.not.include("Non-2xx");
  });
});

describe("the sum of connections of the page", function () {
  this.timeout(60_000);
  this.slow(15_000);
  before(needs("postgres"));

  class ShopDatabase extends Database<Record<string, never>> implements AsyncDisposable {
    held = 0;

    constructor(port: number, max: number) {
      super(postgres({ url: `postgres://shop:pass@127.0.0.1:${port}/shop`, pool: { max } }));
    }

    /** Has a connection until the signal. */
    hold(end: Promise<unknown>): Promise<unknown> {
      return this.transaction(async () => {
        await sql`select 1`.execute(this.query);
        this.held += 1;
        await end;
      });
    }

    [Symbol.asyncDispose](): Promise<void> {
      return this.stop();
    }
  }

  it("is what a server with that max_connections takes, and one more is refused", async () => {
    const [connections = 0, allowed = 0] = (/connections: .*/.exec(sizes)?.[0].match(/\d+/g) ?? []).map(Number);
    await using server = await PostgresServer.start([`max_connections=${allowed}`]);
    await server.run("create role shop login password 'pass'");
    await using db = new ShopDatabase(server.port, connections);
    await using other = new ShopDatabase(server.port, 1);
    await db.start();
    const end = new Gate();
    const held = Array.from({ length: connections }, () => db.hold(end.passed));
    await until(() => db.held === connections);
    const error = await rejectionOf(other.start());
    end.open();
    await Promise.all(held);

    expect(allowed - connections).to.equal(SUPERUSERS);
    expect(error).to.include({ engineCode: "53300" });
  });
});
