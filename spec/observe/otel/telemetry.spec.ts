import { expect } from "chai";
import { SystemClock } from "../../../lib/runtime/clock.js";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { ShutdownLast } from "../../../lib/lifecycle/subsystem.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import {
  DEFAULT_ENDPOINT,
  SPANS_DROPPED_TOTAL,
  Telemetry,
  TelemetryBuilder,
} from "../../../lib/entries/observe-otel.js";
import { MAX_BATCH_SPANS, MAX_WAITING_SPANS } from "../../../lib/observe/otel/span-queue.js";
import { Metrics } from "../../../lib/observe/metrics/metrics.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { errorOf } from "../../support/error-of.js";
import { freePort } from "../../support/free-port.js";
import { Gate } from "../../support/gate.js";
import { BlackHole } from "./black-hole.js";
import { Collector } from "./collector.js";
import { under } from "./export.js";
import { Relay } from "./relay.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";

const log = tracing.target("shop::links");
/** Milliseconds: more than a local connection takes, less than the exporter's default. */
const TIMEOUT = 400;
/** The exporter's default is ten seconds. A machine may pause for seconds. */
const BELOW_DEFAULT = 9500;

const named = (value: unknown) => Telemetry.builder(value as string);

describe("Telemetry", () => {
  describe("build()", () => {
    for (const name of ["", " ", "\t\n"]) {
      it(`refuses the service name ${JSON.stringify(name)}`, () => {
        const error = errorOf(() => Telemetry.builder(name).build());

        expect(error).to.be.instanceOf(FrameworkError);
        expect(error).to.have.property("code", "E_TELEMETRY_NAME");
      });
    }

    for (const endpoint of [
      "",
      "collector",
      "collector:4317",
      "//collector:4317",
      "http://",
      "http:///x",
      "http://a b:4317",
      "http://collector:port",
      "http://collector:70000",
      "grpc://collector:4317",
      "ftp://collector:4317",
      "http://collector:4317/v1/traces",
      "http://collector:4317?x=1",
      "http://collector:4317#x",
      "http://collector",
      "http://collector:80",
    ]) {
      it(`refuses the endpoint ${JSON.stringify(endpoint)} and names it`, () => {
        const error = errorOf(() => Telemetry.builder("shop").endpoint(endpoint).build());

        expect(error).to.have.property("code", "E_TELEMETRY_ENDPOINT");
        if (!endpoint.includes("?")) expect(error).to.have.property("message").that.includes(JSON.stringify(endpoint));
      });
    }

    it("refuses credentials in the endpoint and does not repeat them", () => {
      for (const endpoint of [
        "http://user:hunter2@collector:4317",
        "http://user:hunter2@:4317",
        "http://:hunter2@c:1",
      ]) {
        const error = errorOf(() => Telemetry.builder("shop").endpoint(endpoint).build());

        expect(error).to.have.property("code", "E_TELEMETRY_ENDPOINT");
        expect(String(error)).to.not.include("hunter2");
      }
    });

    for (const endpoint of [DEFAULT_ENDPOINT, `${DEFAULT_ENDPOINT}/`, "http://[::1]:4317", "https://collector"]) {
      it(`accepts the endpoint ${endpoint}`, () => {
        expect(() => Telemetry.builder("shop").endpoint(endpoint).build()).to.not.throw();
      });
    }

    for (const ms of [0, -1, Number.NaN, Infinity, 2 ** 31]) {
      it(`refuses a timeout of ${ms}`, () => {
        const error = errorOf(() => Telemetry.builder("shop").timeout(ms).build());

        expect(error).to.have.property("code", "E_TELEMETRY_TIMEOUT");
      });
    }

    it("refuses values of wrong types with the same codes", () => {
      // A caller without a compiler can pass any value.
      const faults = [
        ...[1n, {}, null, undefined, Symbol("name")].map((name) => () => named(name)),
        ...[null, 5, {}, Symbol("a")].map((url: unknown) => () => named("shop").endpoint(url as string)),
        ...["500", 5n, null, Symbol("ms")].map((ms: unknown) => () => named("shop").timeout(ms as number)),
      ].map((make) => errorOf(() => make().build()));

      expect(faults.map((fault) => (fault as FrameworkError).code)).to.deep.equal([
        ...Array.from({ length: 5 }, () => "E_TELEMETRY_NAME"),
        ...Array.from({ length: 4 }, () => "E_TELEMETRY_ENDPOINT"),
        ...Array.from({ length: 4 }, () => "E_TELEMETRY_TIMEOUT"),
      ]);
    });

    it("checks its settings also without the builder", () => {
      const settings = { serviceName: "shop", endpoint: "http://127.0.0.1:4317/v1/traces", timeoutMs: undefined };

      const error = errorOf(() => new Telemetry(settings, new SystemClock()));

      expect(error).to.have.property("code", "E_TELEMETRY_ENDPOINT");
    });

    it("refuses an endpoint of the environment that the exporter refuses", () =>
      withEnvironment({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://a b" }, () => {
        const error = errorOf(() => Telemetry.builder("shop").build());

        expect(error).to.have.property("code", "E_TELEMETRY_ENDPOINT");
      }));

    it("returns a ShutdownLast, whose layer is always the same", () => {
      const telemetry = Telemetry.builder("shop").build();

      expect(Telemetry.builder("shop")).to.be.instanceOf(TelemetryBuilder);
      expect(telemetry).to.be.instanceOf(ShutdownLast);
      expect(telemetry.tracingLayer()).to.equal(telemetry.tracingLayer());
    });
  });

  describe("endpoint", () => {
    let collector: Collector;

    beforeEach(async () => {
      collector = await Collector.start();
    });

    afterEach(() => collector.stop());

    it("comes from the standard environment variable if it is not set", () =>
      withEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }, async () => {
        const telemetry = Telemetry.builder("shop").build();

        await under(telemetry, () => log.span("import").run(() => {}));
        await telemetry.shutdown();

        expect(collector.spans).to.have.length(1);
      }));

    it("takes precedence over the environment variable", () =>
      withEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" }, async () => {
        const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).build();

        await under(telemetry, () => log.span("import").run(() => {}));
        await telemetry.shutdown();

        expect(collector.spans).to.have.length(1);
      }));

    it("receives every span with all its attributes, and ignores the environment's sampling and limits", () =>
      withEnvironment(
        {
          OTEL_TRACES_SAMPLER: "always_off",
          OTEL_SDK_DISABLED: "true",
          OTEL_SERVICE_NAME: "other",
          OTEL_RESOURCE_ATTRIBUTES: "host.name=secret",
          OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: "1",
          OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: "1",
          OTEL_ATTRIBUTE_COUNT_LIMIT: "1",
        },
        async () => {
          const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).build();

          await under(telemetry, () => log.span("import", { file: "a.csv", rows: 3 }).run(() => {}));
          await telemetry.shutdown();

          expect(collector.span("import").attributes).to.deep.equal([
            { key: "file", value: { stringValue: "a.csv" } },
            { key: "rows", value: { intValue: "3" } },
          ]);
          expect(collector.requests[0]?.resourceSpans[0]?.resource.attributes).to.deep.equal([
            { key: "service.name", value: { stringValue: "shop" } },
          ]);
        },
      ));
  });

  describe("shutdown()", () => {
    let collector: Collector;

    beforeEach(async () => {
      collector = await Collector.start();
    });

    afterEach(() => collector.stop());

    it("sends the waiting spans before it resolves", async () => {
      const telemetry = build(collector.endpoint);

      await under(telemetry, () => log.span("import").run(() => {}));
      await telemetry.shutdown();

      expect(collector.spans).to.have.length(1);
    });

    it("sends a full queue, and has counted the other spans as dropped", async () => {
      const metrics = new Metrics();
      const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).metrics(metrics).build();

      await under(telemetry, () => {
        for (let i = 0; i < MAX_WAITING_SPANS + 7; i++) log.span(`import ${i}`).run(() => {});
      });
      await telemetry.shutdown();

      const names = new Set(collector.spans.map(({ name }) => name));
      expect([names.size, collector.spans.length]).to.deep.equal([MAX_WAITING_SPANS, MAX_WAITING_SPANS]);
      expect(names.has(`import ${MAX_WAITING_SPANS - 1}`)).to.equal(true);
      expect(collector.requests).to.have.length(MAX_WAITING_SPANS / MAX_BATCH_SPANS);
      expect(metrics.counterValue(SPANS_DROPPED_TOTAL)).to.equal(7);
    });

    for (const [behaviour, outcome, timeoutMs] of [
      ["accept", "the export succeeded", 30_000],
      ["refuse", "the collector responded with an error", 30_000],
      ["ignore", "the collector did not respond", 2 * TIMEOUT],
    ] as const) {
      it(`closes the connection if ${outcome}`, async () => {
        collector.behaviour = behaviour;
        const relay = await Relay.to(collector.endpoint);
        const telemetry = build(relay.endpoint, timeoutMs);
        await under(telemetry, () => log.span("import").run(() => {}));

        await telemetry.shutdown().catch(() => {});
        await until(() => relay.openCount === 0);
        relay.close();

        expect(relay.accepted).to.equal(1);
      });
    }

    it("resolves without spans, also without a collector", async () => {
      await build("http://127.0.0.1:9").shutdown();
    });

    it("returns the same promise at the second call", async () => {
      const telemetry = build(collector.endpoint);

      expect(telemetry.shutdown()).to.equal(telemetry.shutdown());
      await telemetry.shutdown();
    });

    it("ignores spans that end or start after shutdown()", async () => {
      const telemetry = build(collector.endpoint);

      await under(telemetry, async () => {
        const open = log.span("open").run(() => telemetry.shutdown());
        await open;
        log.span("late").run(() => log.span("later").run(() => {}));
      });

      expect(collector.spans).to.deep.equal([]);
    });

    it("leaves no timer", async () => {
      const clock = new FakeClock();
      const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).timeout(10_000).clock(clock).build();

      await under(telemetry, () => log.span("import").run(() => {}));
      await telemetry.shutdown();

      expect(clock.pending).to.equal(0);
    });

    it("rejects without a collector", async () => {
      const telemetry = build("http://127.0.0.1:9");
      await under(telemetry, () => log.span("import").run(() => {}));

      const error = await rejectionOf(telemetry.shutdown());

      expect(error).to.be.instanceOf(FrameworkError);
      expect(error).to.have.property("code", "E_TELEMETRY_FLUSH");
      expect(error).to.have.property("message").that.includes("http://127.0.0.1:9");
      expect(error).to.have.property("cause").that.is.instanceOf(Error);
    });

    it("rejects if the host does not exist", async () => {
      const telemetry = build("http://no-such-host.invalid:4317");
      await under(telemetry, () => log.span("import").run(() => {}));

      const error = await rejectionOf(telemetry.shutdown());

      expect(error).to.have.property("code", "E_TELEMETRY_FLUSH");
    });

    it("rejects if the collector responds with an error", async () => {
      collector.behaviour = "refuse";
      const telemetry = build(collector.endpoint);
      await under(telemetry, () => log.span("import").run(() => {}));

      const error = await rejectionOf(telemetry.shutdown());

      expect(error).to.have.property("code", "E_TELEMETRY_FLUSH");
      expect(String(error.cause)).to.include("the disk is full");
    });

    it("rejects within the timeout if the collector accepts the call and does not respond", async () => {
      collector.behaviour = "ignore";
      const telemetry = build(collector.endpoint, TIMEOUT);
      await under(telemetry, () => log.span("import").run(() => {}));

      const [error, took] = await timed(() => rejectionOf(telemetry.shutdown()));

      expect(error).to.have.property("code", "E_TELEMETRY_FLUSH");
      expect(took).to.be.within(TIMEOUT - 50, BELOW_DEFAULT);
    });

    it("rejects within the timeout if the collector accepts the connection and sends no bytes", async () => {
      const hole = await BlackHole.open();
      const telemetry = build(hole.endpoint, TIMEOUT);
      await under(telemetry, () => log.span("import").run(() => {}));

      const [error, took] = await timed(() => rejectionOf(telemetry.shutdown()));
      hole.close();

      expect(error).to.have.property("code", "E_TELEMETRY_FLUSH");
      expect(took).to.be.within(TIMEOUT - 50, BELOW_DEFAULT);
    });

    it("rejects within the timeout of the standard environment variable if none is set", () =>
      withEnvironment({ OTEL_EXPORTER_OTLP_TIMEOUT: String(TIMEOUT) }, async () => {
        collector.behaviour = "ignore";
        const hole = await BlackHole.open();
        const endpoints = [collector.endpoint, hole.endpoint];
        const telemetries = endpoints.map((endpoint) => Telemetry.builder("shop").endpoint(endpoint).build());
        for (const telemetry of telemetries) await under(telemetry, () => log.span("import").run(() => {}));

        const rejections = telemetries.map((telemetry) => timed(() => rejectionOf(telemetry.shutdown())));
        const ends = await Promise.all(rejections);
        hole.close();

        for (const [error, took] of ends) {
          expect(error).to.have.property("code", "E_TELEMETRY_FLUSH");
          expect(took).to.be.within(TIMEOUT - 50, BELOW_DEFAULT);
        }
      }));

    it("rejects if the collector stops during the export", async () => {
      collector.behaviour = "ignore";
      const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).timeout(60_000).build();
      await under(telemetry, () => log.span("import").run(() => {}));
      const arrived = collector.nextRequest();

      const rejection = rejectionOf(telemetry.shutdown());
      await arrived;
      const [error, took] = await timed(() => {
        collector.stop();
        return rejection;
      });

      expect(error).to.have.property("code", "E_TELEMETRY_FLUSH");
      expect(took).to.be.below(15_000);
    });

    it("rejects if an earlier batch was lost, also without waiting spans", async () => {
      const clock = new FakeClock();
      collector.behaviour = "refuse";
      const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).clock(clock).build();
      await under(telemetry, () => log.span("import").run(() => {}));
      const arrived = collector.nextRequest();

      clock.advance(1000);
      await arrived;
      const error = await rejectionOf(telemetry.shutdown());

      expect(error).to.have.property("code", "E_TELEMETRY_FLUSH");
    });

    it("resolves if the last export succeeded", async () => {
      const clock = new FakeClock();
      const lost = new Gate();
      collector.behaviour = "refuse";
      const telemetry = Telemetry.builder("shop")
        .endpoint(collector.endpoint)
        .clock(clock)
        .metrics({ increment: (_name, _labels, by) => by > 0 && lost.open() })
        .build();
      await under(telemetry, async () => {
        log.span("lost").run(() => {});
        clock.advance(1000);
        await lost.passed;
        collector.behaviour = "accept";
        log.span("kept").run(() => {});
      });

      await telemetry.shutdown();

      expect(collector.spans.map(({ name }) => name)).to.deep.equal(["kept"]);
    });
  });

  it("delivers again after the collector has restarted", async () => {
    const clock = new FakeClock();
    let outcome = new Gate();
    // Not one of the ports of outgoing connections, which could take it while there is no collector.
    const first = await Collector.start(await freePort());
    const telemetry = Telemetry.builder("shop")
      .endpoint(first.endpoint)
      .clock(clock)
      .metrics({ increment: (_name, _labels, by) => by > 0 && outcome.open() })
      .build();
    const send = async (collector: Collector) => {
      outcome = new Gate();
      void collector.nextRequest().then(() => outcome.open());
      log.span("import").run(() => {});
      clock.advance(1000);
      await outcome.passed;
    };

    await under(telemetry, async () => {
      await send(first);
      first.stop();
      await send(first);
      const second = await Collector.start(first.port);
      while (second.spans.length === 0) await send(second);
      await telemetry.shutdown();
      second.stop();
    });

    expect(first.spans).to.have.length(1);
  });

  describe("the counter of dropped spans", () => {
    it("starts at zero and counts lost spans", async () => {
      const metrics = new Metrics();
      const telemetry = Telemetry.builder("shop").endpoint("http://127.0.0.1:9").metrics(metrics).build();
      const before = metrics.counterValue(SPANS_DROPPED_TOTAL);

      await under(telemetry, () => {
        for (let i = 0; i < 5; i++) log.span("import").run(() => {});
      });
      await rejectionOf(telemetry.shutdown());

      expect([before, metrics.counterValue(SPANS_DROPPED_TOTAL)]).to.deep.equal([0, 5]);
      expect(metrics.render()).to.include(`# HELP ${SPANS_DROPPED_TOTAL} Spans that were not exported.`);
      expect(SPANS_DROPPED_TOTAL).to.equal("framework_spans_dropped_total");
    });

    it("counts spans without a response when shutdown rejects", async () => {
      const hole = await BlackHole.open();
      const metrics = new Metrics();
      const telemetry = Telemetry.builder("shop").endpoint(hole.endpoint).timeout(50).metrics(metrics).build();
      await under(telemetry, () => {
        for (let i = 0; i < 5; i++) log.span("import").run(() => {});
      });

      await rejectionOf(telemetry.shutdown());
      const counted = metrics.counterValue(SPANS_DROPPED_TOTAL);
      hole.close();

      expect(counted).to.equal(5);
    });

    it("does not count spans that a collector rejects in part, because the exporter does not report them", async () => {
      const collector = await Collector.start();
      collector.behaviour = "keep all but one";
      const metrics = new Metrics();
      const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).metrics(metrics).build();
      const arrived = collector.nextRequest();

      await under(telemetry, () => log.span("import").run(() => {}));
      await telemetry.shutdown();
      await arrived;
      collector.stop();

      expect(metrics.counterValue(SPANS_DROPPED_TOTAL)).to.equal(0);
    });

    it("fails at build() if its metric is of another kind, and does not throw later", async () => {
      const metrics = new Metrics();
      metrics.describeGauge(SPANS_DROPPED_TOTAL, "Something else.");
      const atBuild = errorOf(() => Telemetry.builder("shop").metrics(metrics).build());
      let counted = 0;
      const telemetry = Telemetry.builder("shop")
        .endpoint("http://127.0.0.1:9")
        .metrics({
          increment: () => {
            if (counted++ > 0) throw new Error("no room");
          },
        })
        .build();

      await under(telemetry, () => log.span("import").run(() => {}));
      const error = await rejectionOf(telemetry.shutdown());

      expect(atBuild).to.have.property("code", "E_METRIC_KIND");
      expect(error).to.have.property("code", "E_TELEMETRY_FLUSH");
      expect(counted).to.equal(2);
    });
  });

  it("ends an export within the timeout, before its shutdown", async () => {
    const clock = new FakeClock();
    const lost = new Gate();
    const hole = await BlackHole.open();
    const telemetry = Telemetry.builder("shop")
      .endpoint(hole.endpoint)
      .timeout(TIMEOUT)
      .clock(clock)
      .metrics({ increment: (_name, _labels, by) => by > 0 && lost.open() })
      .build();
    await under(telemetry, () => log.span("import").run(() => {}));

    clock.advance(1000);
    const [, took] = await timed(() => lost.passed);
    hole.close();
    await rejectionOf(telemetry.shutdown());

    expect(took).to.be.within(TIMEOUT - 50, BELOW_DEFAULT);
  });

  it("uses the system clock by default", async () => {
    const collector = await Collector.start();
    const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).clock(new SystemClock()).build();

    await under(telemetry, async () => {
      const arrived = collector.nextRequest();
      log.span("import").run(() => {});
      await arrived;
    });
    await telemetry.shutdown();
    collector.stop();

    expect(collector.spans).to.have.length(1);
  });
});

function build(endpoint: string, timeoutMs = 10_000): Telemetry {
  return Telemetry.builder("shop").endpoint(endpoint).timeout(timeoutMs).build();
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const start = performance.now();
  return [await work(), performance.now() - start];
}

async function withEnvironment(variables: Readonly<Record<string, string>>, work: () => unknown): Promise<void> {
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  Object.assign(process.env, variables);
  try {
    await work();
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
