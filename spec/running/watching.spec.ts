/** The page "watching it": Prometheus has the files of the page, and watches two processes of a release while faults come. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { stringify } from "yaml";
import { Child } from "../support/child.js";
import { guideFile, replacedIn } from "../support/guide-files.js";
import { needs } from "../support/machine.js";
import { PostgresServer } from "../support/postgres-server.js";
import { Prometheus } from "../support/prometheus.js";
import { promtool } from "../support/promtool.js";
import { sourcesBelow, textOf } from "../support/sources.js";
import { until } from "../support/until.js";
import { ALERT_TESTS } from "./alert-tests.js";
import { compiledPage } from "./compiled-page.js";

const PAGE = "watching.md";
const CONFIG = "prometheus.yml";
const RULES = "shop.rules.yml";
const SECONDS_OF_A_MINUTE = 2;

const config = guideFile(PAGE, `/etc/prometheus/${CONFIG}`);
const rules = guideFile(PAGE, `/etc/prometheus/${RULES}`);
const page = textOf(`docs/guide/${PAGE}`) ?? "";
const board = JSON.parse(textOf("docs/guide/grafana-board.json") ?? "{}") as Board;

/** The part of the file that the spec reads. */
interface Board {
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly {
    readonly title: string;
    readonly datasource: { readonly uid: string };
    readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
    readonly targets: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
  }[];
}

const alertNames = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = ""]) => name);
const panelNames = board.panels.map(({ title }) => title);

/** The first cells of the table below the heading. */
function rowsBelow(heading: string): readonly string[] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [text = ""] = section.split("\n## ");
  return [...text.matchAll(/^\| (.+?) +\|/gm)].slice(2).map(([, cell = ""]) => cell.replaceAll("`", ""));
}

describe("the files for Prometheus and Grafana", () => {
  before(needs("promtool"));
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "rules-"));
    writeFileSync(join(folder, CONFIG), config);
    writeFileSync(join(folder, RULES), rules);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("pass the checks of promtool", () => {
    expect(promtool(["check", "config", CONFIG], { cwd: folder }).complaints).to.equal("");
  });

  it("have alerts that fire for their fault, and for nothing else", () => {
    const file = { rule_files: [RULES], evaluation_interval: "15s", tests: ALERT_TESTS };
    writeFileSync(join(folder, "tests.yml"), stringify(file));

    expect(promtool(["test", "rules", "tests.yml"], { cwd: folder }).complaints).to.equal("");
    const tested = ALERT_TESTS.flatMap((each) => each.alert_rule_test).map(({ alertname, exp_alerts }) =>
      exp_alerts.length > 0 ? `${alertname} fires` : `${alertname} is quiet`,
    );
    expect(tested).to.include.members(alertNames.flatMap((name) => [`${name} fires`, `${name} is quiet`]));
  });

  it("have a row for each alert and each panel", () => {
    expect(rowsBelow("The alerts")).to.deep.equal(alertNames);
    expect(rowsBelow("The board")).to.deep.equal(panelNames);
  });

  it("read metrics that there are, and the page names all others", () => {
    const texts = sourcesBelow("lib").map(({ code }) => code);
    const constants = new Map(
      texts.flatMap((text) =>
        [...text.matchAll(/^(?:export )?const ([A-Z_]+) = "((?:http|framework)_\w+)"/gm)].map(
          ([, name = "", value = ""]) => [name, value] as const,
        ),
      ),
    );
    const described = texts
      .flatMap((text) => [...text.matchAll(/\.describe(?:Counter|Gauge|Histogram)\??\.?\(\s*([A-Z_]+)/g)])
      .map(([, name = ""]) => constants.get(name) ?? name);
    const exposed = new Set([...described, constants.get("OVERFLOW_METRIC")]);
    const gauges = [...page.matchAll(/describeGauge\("(\w+)"/g)].map(([, name = ""]) => name);
    const read = new Set(
      [rules, ...board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))]
        .flatMap((text) => text.match(/\b(?:framework|http|shop)_[a-z_]+/g) ?? [])
        .map((name) => name.replace(/_(?:bucket|count|sum)$/, "")),
    );
    const rest = rowsBelow("What else there is").flatMap((cell) => cell.match(/\w+_\w+/g) ?? []);

    expect([...read, ...rest]).to.have.members([...exposed, ...gauges]);
  });

  it("have a board whose source is a variable, without panels above each other", () => {
    const sources = board.panels.flatMap(({ datasource, targets }) => [
      datasource,
      ...targets.map((each) => each.datasource),
    ]);
    const places = board.panels.map(({ gridPos }) => gridPos);
    const overlaps = places.filter((one, index) =>
      places
        .slice(index + 1)
        .some(
          (two) => one.x < two.x + two.w && two.x < one.x + one.w && one.y < two.y + two.h && two.y < one.y + one.h,
        ),
    );

    expect(board.templating.list).to.deep.include.members([
      board.templating.list.find(({ type }) => type === "datasource"),
    ]);
    expect(new Set(sources.map(({ uid }) => uid))).to.deep.equal(new Set(["${source}"]));
    expect(overlaps).to.deep.equal([]);
    expect(Math.max(...places.map(({ x, w }) => x + w))).to.equal(24);
  });
});

/** A minute is two seconds here, Prometheus asks each two seconds, and there is no Alertmanager. */
function quick([one, two]: readonly [number, number]): Readonly<Record<string, string>> {
  const seconds = rules.replaceAll(
    /(?<=\[|for: )(\d+)m\b/g,
    (_, minutes: string) => `${SECONDS_OF_A_MINUTE * Number(minutes)}s`,
  );
  const asked = replacedIn(config, {
    "_interval: 15s": `_interval: ${SECONDS_OF_A_MINUTE}s`,
    "127.0.0.1:3000": `127.0.0.1:${one}`,
    "127.0.0.1:3001": `127.0.0.1:${two}`,
  });
  return {
    [CONFIG]: asked.replace(/^alerting:\n(?: .*\n)+/m, ""),
    [RULES]: replacedIn(seconds, { "> 300": `> ${5 * SECONDS_OF_A_MINUTE}` }),
  };
}

describe("the figures of two workers", function () {
  this.timeout(120_000);
  this.slow(60_000);
  before(needs("postgres"));

  it("are those of both, whichever is asked", async () => {
    await using server = await PostgresServer.start();
    await using figures = compiledPage("watching/figures.ts");
    const url = pathToFileURL(figures.path).href;
    const environment = { NODE_ENV: "production", DATABASE_URL: server.url, FIGURES: url, WORKERS: "2" };
    await using child = await Child.start("../running/watched-application.js", environment);
    await child.serves();
    /** The values of the page, by the series. */
    const read = async () => {
      const text = await (await fetch(`${child.url}/metrics`, { headers: { Connection: "close" } })).text();
      const lines = text.split("\n").map((line) => /^(\S+) (\S+)$/.exec(line) ?? []);
      return new Map(lines.map(([, series = "", value]) => [series, Number(value)] as const));
    };
    /** Waits for a value. */
    const readUntil = async (series: string, holds: (value: number) => boolean) => {
      let found = await read();
      await until(async () => {
        // More requests would make the event loops busy.
        await pause(200);
        found = await read();
        return holds(found.get(series) ?? NaN);
      });
      return found;
    };
    const found = await readUntil("shop_jobs_dead", (value) => value === 0);
    expect(found.get("shop_ready")).to.equal(1);

    const busy = fetch(`${child.url}/busy`);
    const both = await readUntil("shop_event_loop_ratio", (value) => value > 0.2);
    expect((await busy).status).to.equal(200);
    // A process of Node with the framework has more than half of this.
    expect(both.get('shop_memory_bytes{kind="resident"}')).to.be.greaterThan(100 * 2 ** 20);
  });
});

describe("alerts and board", function () {
  this.timeout(120_000);
  this.slow(60_000);
  before(needs("prometheus", "postgres"));
  let server: PostgresServer;
  let figures: AsyncDisposable & { readonly path: string };
  let children: readonly Child[] = [];
  let prometheus: Prometheus;
  const load = { isOver: false };
  let visits: Promise<unknown> = Promise.resolve();

  /** Asks one process; a fault is an answer too. */
  const ask = (path: string, method = "GET", index = 0) =>
    fetch(`${children[index]?.url}${path}`, { method }).then(
      (response) => response.text(),
      () => "",
    );
  /** The requests of visitors, to both processes. */
  const visit = async () => {
    while (!load.isOver) await Promise.all([ask("/"), ask("/", "GET", 1), pause(20)]);
  };
  const firing = async () =>
    (await prometheus.alerts())
      .filter(({ state }) => state === "firing")
      .map(({ labels }) => labels["alertname"] ?? "");
  /** Makes the fault again until the alert fires, and returns the alerts that fire. */
  const fires = async (name: string, fault: () => Promise<unknown>) => {
    let found: readonly string[] = [];
    await prometheus.until(
      async () => {
        await fault();
        found = await firing();
        return prometheus.alerts();
      },
      () => found.includes(name),
    );
    return found;
  };

  before(async () => {
    server = await PostgresServer.start();
    figures = compiledPage("watching/figures.ts");
    const environment = { NODE_ENV: "production", DATABASE_URL: server.url, FIGURES: pathToFileURL(figures.path).href };
    children = await Promise.all([1, 2].map(() => Child.start("../running/watched-application.js", environment)));
    await Promise.all(children.map((child) => child.serves()));
    prometheus = await Prometheus.start(quick([children[0]?.port ?? 0, children[1]?.port ?? 0]));
    visits = visit();
  });
  after(async () => {
    load.isOver = true;
    await visits;
    for (const each of [prometheus, ...children, server, figures]) await each?.[Symbol.asyncDispose]();
  });

  it("metrics are for Prometheus alone", async () => {
    const through = await fetch(`${children[0]?.url}/metrics`, { headers: { "X-Forwarded-For": "203.0.113.7" } });

    expect(through.status).to.equal(404);
    await until(async () => (await ask("/metrics")).includes("shop_ready 1\n"));
  });

  for (const { title, targets } of board.panels)
    for (const { expr } of targets)
      it(`the panel ${title} has values of ${expr.slice(0, 50)}…`, async () => {
        const query = replacedIn(expr, { $job: "shop" }).replaceAll("$__rate_interval", "10s");
        const found = await prometheus.until(
          async () => {
            await ask("/flaky", "POST");
            return prometheus.query(query);
          },
          (samples) => samples.some(({ value }) => Number.isFinite(Number(value[1]))),
        );

        expect(found).not.to.deep.equal([]);
      });

  it("no alert fires while all is well", async () => {
    expect(await firing()).to.deep.equal([]);
  });

  it("RequestsFail fires when a route fails", async () => {
    await fires("RequestsFail", () => ask("/fault"));
  });

  it("ResponsesSlow fires when a route is slow", async () => {
    await fires("ResponsesSlow", () => Promise.all(Array.from({ length: 8 }, () => ask("/slow"))));
  });

  it("JobsWait fires when no process works a queue", async () => {
    await ask("/left", "POST");
    await fires("JobsWait", () => pause(100));
  });

  it("DeadLetters fires when a job has failed for good", async () => {
    await fires("DeadLetters", () => ask("/doomed", "POST"));
  });

  it("Saturated fires when requests wait for connections", async () => {
    let held: readonly Promise<unknown>[] = [];
    await fires("Saturated", () => {
      held = [...held, ...Array.from({ length: 10 }, () => ask("/hold"))];
      return pause(500);
    });
    await Promise.all(held);
  });

  it("ProcessAway fires when a process is away", async () => {
    children[0]?.kill("SIGKILL");
    const alerts = await prometheus.until(
      () => prometheus.alerts(),
      (all) => all.some(({ labels, state }) => labels["alertname"] === "ProcessAway" && state === "firing"),
    );

    const instances = alerts.filter(({ labels }) => labels["alertname"] === "ProcessAway");
    expect(instances.map(({ labels }) => labels["instance"])).to.deep.equal([`127.0.0.1:${children[0]?.port}`]);
  });

  it("ProcessAway fires when a process is not ready", async () => {
    await server.kill();
    const instance = `127.0.0.1:${children[1]?.port}`;
    const alerts = await prometheus.until(
      () => prometheus.alerts(),
      (all) =>
        all.some(
          ({ labels, state }) =>
            labels["instance"] === instance && labels["alertname"] === "ProcessAway" && state === "firing",
        ),
    );

    expect(alerts.find(({ labels }) => labels["instance"] === instance)?.annotations["summary"]).to.match(
      /is not ready$/,
    );
    await until(async () => (await ask("/metrics", "GET", 1)).includes("shop_ready 0\n"));
  });
});
