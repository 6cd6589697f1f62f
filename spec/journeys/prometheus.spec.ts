/** A running Prometheus scrapes the sample, and stores the values that the sample exposes. */
import { expect } from "chai";
import { Child } from "../support/child.js";
import { needs } from "../support/machine.js";
import { Prometheus, type Sample } from "../support/prometheus.js";
import { promtoolCheck } from "../support/promtool.js";

const MAIN = "../../samples/links/main.js";

const QUIET = { RUST_LOG: "framework::lifecycle=info" };

/** Series and values of the counters in a page of metrics, without those of the scrapes. */
function countersIn(page: string): Record<string, string> {
  const samples = page.matchAll(/^http_requests_total\{method="(\w+)",status="(\d+)"\} (\d+)$/gm);
  const counters = [...samples].map(([, method = "", status = "", value = ""]) => [`${method} ${status}`, value]);
  return Object.fromEntries(counters.filter(([series]) => series !== "GET 200")) as Record<string, string>;
}

function countersOf(samples: readonly Sample[]): Record<string, string> {
  const counters = samples.map(({ metric, value }) => [`${metric["method"]} ${metric["status"]}`, value[1]]);
  return Object.fromEntries(counters.filter(([series]) => series !== "GET 200")) as Record<string, string>;
}

async function ask(child: Child, path: string, times: number, init: RequestInit = {}): Promise<void> {
  for (let turn = 0; turn < times; turn++) await (await fetch(child.url + path, init)).arrayBuffer();
}

describe("Prometheus", function () {
  this.timeout(240_000);
  this.slow(20_000);
  let child: Child;
  let prometheus: Prometheus;

  before(needs("prometheus", "promtool"));
  before(async () => {
    child = await Child.start(MAIN, { ...QUIET, REQUESTS_PER_SECOND: "20", TRUSTED_PROXIES: "127.0.0.1" });
    await child.says("listening", "errors");
    prometheus = await Prometheus.scraping(`127.0.0.1:${child.port}`);
  });
  after(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    await child?.[Symbol.asyncDispose]();
  });

  it("stores the counters that the sample exposes", async function () {
    const json = {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer of-a-program" },
    };
    await ask(child, "/about", 3);
    await ask(child, "/nowhere", 4);
    await ask(child, "/about", 2, { method: "HEAD" });
    await ask(child, "/about", 1, { method: "DELETE", headers: { authorization: "Bearer of-a-program" } });
    await ask(child, "/api/links", 1, { ...json, body: JSON.stringify({ target: "https://example.com/" }) });
    await ask(child, "/api/links", 2, { ...json, body: "{" });
    const greedy = { method: "PUT", headers: { "x-forwarded-for": "203.0.113.7" } };
    await Promise.all(Array.from({ length: 150 }, () => ask(child, "/nowhere", 1, greedy)));
    const page = await (await fetch(`${child.url}/metrics`)).text();
    const exposed = countersIn(page);

    expect(exposed).to.include({
      "GET 404": "4",
      "HEAD 200": "2",
      "DELETE 405": "1",
      "POST 201": "1",
      "POST 400": "2",
    });
    expect(exposed).to.have.property("PUT 429");
    expect(promtoolCheck(this, page)).to.equal("");

    const same = (samples: readonly Sample[]) =>
      JSON.stringify(sorted(countersOf(samples))) === JSON.stringify(sorted(exposed));
    const stored = await prometheus.until(() => prometheus.query("http_requests_total"), same);
    expect(countersOf(stored)).to.deep.equal(exposed);

    // A scrape fails where a busy machine takes longer than a second for it, and the next one is good.
    const [target] = await prometheus.until(
      () => prometheus.targets(),
      ([only]) => only?.health === "up",
    );
    expect(target).to.include({ health: "up", lastError: "" });
    const { http_requests_total, http_request_duration_seconds } = await prometheus.metadata();
    expect(http_requests_total?.[0]).to.include({ type: "counter", help: "Total HTTP requests handled." });
    expect(http_request_duration_seconds?.[0]).to.include({ type: "histogram" });
  });

  it("computes a quantile from the histogram, and rates from the counters", async () => {
    const deciles = "histogram_quantile(0.9, sum by (le) (http_request_duration_seconds_bucket))";

    await ask(child, "/about", 20);

    const [quantile] = await prometheus.until(() => prometheus.query(deciles), isPositive);
    const [rate] = await prometheus.until(() => prometheus.query("sum(rate(http_requests_total[1m]))"), isPositive);
    expect(Number(quantile?.value[1])).to.be.within(0, 10);
    expect(Number(rate?.value[1])).to.be.above(0);
  });
});

function isPositive(samples: readonly Sample[]): boolean {
  return Number(samples[0]?.value[1]) > 0;
}

function sorted(counters: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(counters).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
