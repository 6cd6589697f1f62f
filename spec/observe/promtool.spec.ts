import { expect } from "chai";
import { Metrics } from "../../lib/observe/metrics/metrics.js";
import { promtoolCheck } from "../support/promtool.js";

describe("promtool check metrics", () => {
  it("accepts counters, gauges and histograms with difficult labels and help texts", function () {
    const metrics = new Metrics({ maxSeries: 3 });
    metrics.describeCounter("orders_total", 'Orders: "placed", \\ and\nnew.');
    metrics.describeGauge("queue_depth", "Jobs waiting.");
    metrics.describeHistogram("wait_seconds", "Time waited.");
    metrics.describeHistogram("never_seen_seconds", "Nothing yet.");

    for (const path of ['a"b', "a\\b", "a\nb", "é😀\r"]) metrics.increment("orders_total", { path, zone: "" });
    metrics.set("queue_depth", {}, -0.5);
    for (const value of [0.003, 0.2, 7, 60]) metrics.observe("wait_seconds", { queue: "mail" }, value);
    for (const value of [0, NaN]) metrics.observe("wait_seconds", { queue: "x" }, value);

    const complaints = promtoolCheck(this, withoutOverflow(metrics.render()));
    expect(complaints).to.equal("");
  });

  it("rejects an invalid exposition, so that its acceptance is a proof", function () {
    expect(promtoolCheck(this, "# TYPE a counter\na{x=1} 1\n")).to.include("exit 1");
  });

  it("accepts ten thousand series", function () {
    const metrics = new Metrics();
    metrics.describeCounter("seen_total", "Seen.");

    for (let route = 0; route < 10_000; route++)
      metrics.increment("seen_total", { route: `/r/${route}`, status: 200 }, route);

    expect(promtoolCheck(this, metrics.render())).to.equal("");
  });
});

/** Removes the one metric without a help text, which promtool's lint (not its parser) demands. */
function withoutOverflow(text: string): string {
  return text.replaceAll(/^.*framework_metrics_overflow_total.*\n/gmu, "");
}
