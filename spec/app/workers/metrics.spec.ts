/** The metrics of workers over their links: reports, scrapes, and what is counted where a report is missing. */
import { expect } from "chai";
import { ParentMetrics } from "../../../lib/app/workers/parent-metrics.js";
import { WorkerMetrics } from "../../../lib/app/workers/worker-metrics.js";
import { Metrics } from "../../../lib/observe/metrics/metrics.js";
import { expectExposition } from "../../../lib/testing/expect-exposition.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { eventsOf } from "../../support/events-of.js";
import { LinkedPair } from "./linked-pair.js";
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";

const ENDED = { code: 0, signal: null, hasReported: true };
const KILLED = { code: null, signal: "SIGKILL", hasReported: false };

class Service {
  readonly clock = new FakeClock();
  readonly parent = new ParentMetrics(new Metrics());

  start(id: number) {
    const pair = new LinkedPair(id);
    const metrics = new Metrics();
    this.parent.forked(pair.parent);
    const worker = new WorkerMetrics(metrics, pair.worker, this.clock);
    worker.ready();
    this.parent.ready(pair.parent);
    return { pair, metrics, worker };
  }
}

async function scrape(metrics: Metrics): Promise<string> {
  const { body } = await metrics.response();
  const page = typeof body === "string" ? body : await text(body as unknown as Readable);
  expectExposition(page);
  return page;
}

async function settled(): Promise<void> {
  for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
}

describe("the metrics of workers", () => {
  it("are one text, with everything that the asked worker has counted and the last reports of the others", async () => {
    const service = new Service();
    const [one, two] = [service.start(1), service.start(2)];
    one.metrics.increment("c_total", {}, 2);
    two.metrics.increment("c_total", {}, 3);

    const first = await scrape(one.metrics);
    await service.clock.advanceAsync(1000);
    await settled();
    one.metrics.increment("c_total", {}, 1);
    const second = await scrape(one.metrics);
    const [third, fourth] = await Promise.all([scrape(two.metrics), scrape(one.metrics)]);

    expect(first).to.include("c_total 2\n");
    expect([second, third, fourth].every((page) => page.includes("c_total 6\n"))).to.equal(true);
    expect(one.metrics.counterValue("c_total")).to.equal(3);
    expect(one.metrics.render()).to.equal("# TYPE c_total counter\nc_total 3\n");
  });

  it("have the metrics of the parent beside them, and no label of a worker", async () => {
    const service = new Service();
    const { metrics } = service.start(1);
    service.start(2);
    service.parent.forked(new LinkedPair(3).parent);

    const page = await scrape(metrics);

    expect(page.split("\n").filter((line) => !line.startsWith("#"))).to.deep.equal([
      'framework_workers{state="ending"} 0',
      'framework_workers{state="ready"} 2',
      'framework_workers{state="starting"} 1',
      'framework_workers_ended_total{reason="exited"} 0',
      'framework_workers_ended_total{reason="failed"} 0',
      'framework_workers_ended_total{reason="killed"} 0',
      'framework_workers_ended_total{reason="replaced"} 0',
      "framework_workers_reports_lost_total 0",
      "framework_workers_unreported_total 0",
      "",
    ]);
  });

  it("have what a worker counted until its end, and count a worker without a last report", async () => {
    const service = new Service();
    const [ended, killed, asked] = [service.start(1), service.start(2), service.start(3)];
    ended.metrics.increment("c_total", {}, 5);
    killed.metrics.increment("c_total", {}, 5);
    killed.metrics.set("depth", {}, 7);
    await scrape(killed.metrics);
    killed.metrics.increment("c_total", {}, 100);

    await ended.worker.stopped();
    service.parent.ending(ended.pair.parent);
    service.parent.ended(ended.pair.parent, ENDED);
    const events = await eventsOf(async () => service.parent.ended(killed.pair.parent, KILLED));
    const neverServed = new LinkedPair(4);
    service.parent.forked(neverServed.parent);
    service.parent.ended(neverServed.parent, KILLED);
    const page = await scrape(asked.metrics);

    expect(page).to.include("c_total 10\n").and.not.include("depth 7");
    expect(page).to.include('framework_workers_ended_total{reason="replaced"} 1\n');
    expect(page).to.include('framework_workers_ended_total{reason="killed"} 2\n');
    expect(page).to.include("framework_workers_unreported_total 1\n");
    expect(events).to.deep.equal(["WARN framework::workers: worker ended without its last report of metrics worker=2"]);
  });

  it("do not report after the last report", async () => {
    const service = new Service();
    const { pair, metrics, worker } = service.start(1);
    await worker.stopped();

    metrics.increment("c_total");
    await service.clock.advanceAsync(5000);
    await settled();
    service.parent.ended(pair.parent, ENDED);

    expect(await scrape(service.start(2).metrics)).to.include("framework_workers_unreported_total 0\n");
  });

  it("count a report that is lost on the way, and go on", async () => {
    const service = new Service();
    const { pair, metrics } = service.start(1);
    metrics.increment("c_total", {}, 1);
    await scrape(metrics);
    metrics.increment("c_total", {}, 10);
    pair.arrives = () => false;
    await service.clock.advanceAsync(1000);
    await settled();
    pair.arrives = () => true;
    // The parent does not respond to the report.
    await service.clock.advanceAsync(30_000);
    metrics.increment("c_total", {}, 100);

    const events = await eventsOf(async () => void (await scrape(metrics)));
    const page = await scrape(metrics);

    expect(page).to.include("c_total 101\n").and.include("framework_workers_reports_lost_total 1\n");
    expect(events).to.deep.equal(["WARN framework::workers: report of metrics lost worker=1"]);
  });

  it("are a 503 when the parent does not respond, never the text of one worker, and none is queued", async () => {
    const service = new Service();
    const { pair, metrics } = service.start(1);
    metrics.increment("c_total");
    await scrape(metrics);
    pair.isRead = false;

    const scrapes = Array.from({ length: 100 }, () => metrics.response().catch((error: unknown) => error));
    await service.clock.advanceAsync(5000);
    const results = await Promise.all(scrapes);
    pair.isRead = true;
    pair.read();
    await settled();
    const later = await scrape(metrics);

    for (const result of results) expect(result).to.include({ code: "E_WORKERS_METRICS", status: 503 });
    expect(later).to.include("c_total 1\n");
  });

  it("come in slices, each read when the worker asks for it", async () => {
    const service = new Service();
    const { pair, metrics } = service.start(1);
    for (let set = 0; set < 10_000; set++) metrics.observe("h_seconds", { route: `/route/${set}` }, 0.1);
    let messages = 0;
    pair.arrives = () => (messages += 1) > 0;

    const page = await scrape(metrics);

    expect(page.length).to.be.above(6_000_000);
    expect(page).to.include(metrics.render());
    expect(messages).to.be.within(page.length / 70_000, page.length / 30_000);
  });

  it("survive messages of a worker that are none", async () => {
    const service = new Service();
    const { pair, metrics } = service.start(1);
    metrics.increment("c_total");
    for (const body of [undefined, 7, {}, { id: "1" }, { id: 1 }, { id: 2, body: { isFirst: 7 } }, { id: 3, body: [] }])
      pair.worker.tell("metrics", body);

    expect(await scrape(metrics)).to.include("c_total 1\n");
  });
});
