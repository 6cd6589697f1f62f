import { expect } from "chai";
import { checkHealthPrefix, Health, type HealthResponse, HealthLayer } from "../../lib/stages/health.js";
import { Lifecycle, type LifecycleState } from "../../lib/lifecycle/state.js";
import { Readiness } from "../../lib/lifecycle/readiness.js";
import type { Profile } from "../../lib/runtime/profile.js";
import { SubsystemRegistry } from "../../lib/lifecycle/subsystem-registry.js";
import type { Subsystem } from "../../lib/lifecycle/subsystem.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";
import { never, Probed, Recorded } from "../lifecycle/recorded.js";

interface Setting {
  readonly state?: LifecycleState;
  readonly subsystems?: readonly Subsystem[];
  readonly profile?: Profile;
  readonly prefix?: string;
}

function setUp({ state = "ready", subsystems = [], profile = "debug", prefix = "/up" }: Setting = {}) {
  const clock = new FakeClock();
  const lifecycle = new Lifecycle();
  const readiness = new Readiness(lifecycle, { clock, profile });
  if (state !== "booting") readiness.startProbing(new SubsystemRegistry(subsystems).members);
  if (state === "ready") lifecycle.markReady();
  if (state === "draining" || state === "stopped") lifecycle.beginDrain();
  if (state === "stopped") lifecycle.markStopped();
  return { clock, lifecycle, readiness, health: new Health(readiness, prefix) };
}

async function ask(health: Health, path: string, method = "GET"): Promise<HealthResponse> {
  const answer = await health.findResponse(method, path);
  if (answer === undefined) throw new Error(`${path} is not a health path`);
  return answer;
}

const up = () => undefined;
const refuse = (message: string) => () => {
  throw new Error(message);
};

describe("HealthLayer", () => {
  it("obeys the layer contract", () =>
    obeysLayerContract(new HealthLayer(setUp().health), { refused: { path: "/up" } }));
});

describe("Health", () => {
  const table: readonly (readonly [LifecycleState, path: string, status: number, body: object])[] = [
    ["booting", "/up/live", 200, { state: "booting" }],
    ["booting", "/up/ready", 503, { state: "booting", ready: false }],
    ["booting", "/up", 503, { state: "booting", ready: false, live: true }],
    ["ready", "/up/live", 200, { state: "ready" }],
    ["ready", "/up/ready", 200, { state: "ready", ready: true }],
    ["ready", "/up", 200, { state: "ready", ready: true, live: true }],
    ["draining", "/up/live", 200, { state: "draining" }],
    ["draining", "/up/ready", 503, { state: "draining", ready: false }],
    ["draining", "/up", 503, { state: "draining", ready: false, live: true }],
    ["stopped", "/up/live", 503, { state: "stopped" }],
    ["stopped", "/up/ready", 503, { state: "stopped", ready: false }],
    ["stopped", "/up", 503, { state: "stopped", ready: false, live: false }],
  ];

  for (const [state, path, status, body] of table) {
    it(`responds to ${path} with ${status} when ${state}`, async () => {
      const { health } = setUp({ state });

      const answer = await ask(health, path);

      expect(answer.status).to.equal(status);
      expect(answer.body).to.equal(JSON.stringify(body));
    });
  }

  for (const path of ["/up", "/up/live", "/up/ready"]) {
    it(`responds to ${path} with JSON, no-store and its length`, async () => {
      const { health } = setUp({ subsystems: [new Probed("cache", refuse("zu spät"))] });

      const { headers, body } = await ask(health, path);

      expect(headers).to.deep.equal({
        "Content-Type": "application/json",
        "Cache-Control": "no-store",
        "Content-Length": String(Buffer.byteLength(body)),
      });
    });

    it(`responds to HEAD ${path} with the head of GET and no body`, async () => {
      const { health } = setUp({ subsystems: [new Probed("cache")] });

      const get = await ask(health, path);
      const head = await ask(health, path, "HEAD");

      expect(head).to.deep.equal({ ...get, body: "" });
    });

    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get"]) {
      it(`responds to ${method} ${path} with 405 and the allowed methods`, async () => {
        const { health } = setUp();

        expect(await ask(health, path, method)).to.deep.equal({
          status: 405,
          headers: { Allow: "GET, HEAD", "Cache-Control": "no-store", "Content-Length": "0" },
          body: "",
        });
      });
    }
  }

  for (const path of ["/", "", "/u", "/up/", "/up/x", "/upload", "/UP", "/up/live/", "/up/Live", "//up", "/up//live"]) {
    it(`does not respond to ${JSON.stringify(path)}`, () => {
      expect(setUp().health.findResponse("GET", path)).to.equal(undefined);
    });
  }

  it("has its paths below another prefix, and no longer below the default", async () => {
    const { health } = setUp({ prefix: "/internal/health" });

    const answer = await ask(health, "/internal/health/live");

    expect(answer.status).to.equal(200);
    expect(Health.listPaths("/internal/health")).to.deep.equal([
      "/internal/health",
      "/internal/health/live",
      "/internal/health/ready",
    ]);
    expect(health.findResponse("GET", "/up")).to.equal(undefined);
  });

  it("returns no promise when there is no subsystem to probe", () => {
    const { health } = setUp({ subsystems: [new Recorded("database")] });

    const answers = ["/up", "/up/live", "/up/ready"].map((path) => health.findResponse("GET", path));

    for (const answer of answers) expect(answer).to.not.be.instanceOf(Promise);
  });
});

describe("Health with probes", () => {
  it("lists the checks sorted by name, without subsystems that cannot be probed", async () => {
    const subsystems = [
      new Probed("storage"),
      new Probed("database", up, "write"),
      new Recorded("mail"),
      new Probed("database", up, "read"),
      new Probed("cache"),
    ];
    const { health } = setUp({ subsystems });

    const { status, body } = await ask(health, "/up/ready");

    expect(status).to.equal(200);
    const each = ["cache", "database:read", "database:write", "storage"].map((name) => `"${name}":{"status":"up"}`);
    expect(body).to.equal(`{"state":"ready","ready":true,"checks":{${each.join(",")}}}`);
  });

  it("adds liveness to the overall response", async () => {
    const { health } = setUp({ subsystems: [new Probed("mail", refuse("no route"))] });

    const { status, body } = await ask(health, "/up");

    expect(status).to.equal(503);
    expect(JSON.parse(body)).to.deep.equal({
      state: "ready",
      ready: false,
      checks: { mail: { status: "down", reason: "no route" } },
      live: true,
    });
  });

  it("never probes for liveness", async () => {
    let probed = 0;
    const { health } = setUp({ subsystems: [new Probed("database", () => (probed += 1))] });

    await ask(health, "/up/live");

    expect(probed).to.equal(0);
  });

  for (const state of ["booting", "draining", "stopped"] as const) {
    it(`runs no probe when ${state}`, async () => {
      let probed = 0;
      const { health } = setUp({ state, subsystems: [new Probed("database", () => (probed += 1))] });

      await ask(health, "/up/ready");
      await ask(health, "/up");

      expect(probed).to.equal(0);
    });
  }

  it("is not ready when one probe fails, and names that probe only", async () => {
    const subsystems = [new Probed("database"), new Probed("cache", () => Promise.reject(new Error("gone")))];
    const { health } = setUp({ subsystems });

    const { status, body } = await ask(health, "/up/ready");

    expect(status).to.equal(503);
    expect(JSON.parse(body)).to.deep.equal({
      state: "ready",
      ready: false,
      checks: { cache: { status: "down", reason: "gone" }, database: { status: "up" } },
    });
  });

  const thrown: readonly (readonly [what: string, value: unknown, debug: string])[] = [
    ["an error", new Error("password wrong"), "password wrong"],
    ["a string", "nope", "nope"],
    ["null", null, "null"],
    ["an object without a message", Object.create(null), "a value that cannot be read"],
    [
      "refusals of several addresses",
      new AggregateError([new Error("refused on ::1"), new Error("refused on 127.0.0.1")]),
      "refused on ::1; refused on 127.0.0.1",
    ],
    ["an error without a message", new TypeError(""), "TypeError"],
  ];

  for (const [what, value, debug] of thrown) {
    it(`gives the text of ${what} as the reason in debug, and hides it in release`, async () => {
      const subsystems = [new Probed("database", () => Promise.reject(value))];

      const told = await ask(setUp({ subsystems, profile: "debug" }).health, "/up/ready");
      const untold = await ask(setUp({ subsystems, profile: "release" }).health, "/up/ready");

      expect(JSON.parse(told.body)).to.have.nested.property("checks.database.reason", debug);
      expect(JSON.parse(untold.body)).to.have.nested.property("checks.database.reason", "failed");
    });
  }

  for (const [profile, reason] of [
    ["debug", "timed out after 1000 ms"],
    ["release", "timed out"],
  ] as const) {
    it(`runs the probes in parallel and aborts each after one second, in ${profile}`, async () => {
      const signals: AbortSignal[] = [];
      const hang = (signal: AbortSignal) => {
        signals.push(signal);
        return never();
      };
      const subsystems = [new Probed("database", hang), new Probed("cache", hang), new Probed("mail")];
      const { clock, health } = setUp({ subsystems, profile });

      const asking = ask(health, "/up/ready");
      await clock.advanceAsync(999);
      const early = signals.map(({ aborted }) => aborted);
      await clock.advanceAsync(1);

      expect(early).to.deep.equal([false, false]);
      expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
      const down = { status: "down", reason };
      expect(JSON.parse((await asking).body)).to.have.deep.property("checks", {
        cache: down,
        database: down,
        mail: { status: "up" },
      });
      expect(clock.pending).to.equal(0);
    });
  }

  it("does not abort the signal of a probe that has ended", async () => {
    const signals: AbortSignal[] = [];
    const { clock, health } = setUp({ subsystems: [new Probed("mail", (signal) => signals.push(signal))] });

    await ask(health, "/up/ready");
    await clock.advanceAsync(5_000);

    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
  });

  it("shares a running probe among all requests, and caches no result", async () => {
    let probed = 0;
    const { clock, health } = setUp({
      subsystems: [
        new Probed("database", () => {
          probed += 1;
          return new Promise<void>((resolve) => void clock.setTimeout(resolve, 100));
        }),
      ],
    });

    const first = [ask(health, "/up/ready"), ask(health, "/up"), ask(health, "/up/ready", "HEAD")];
    await clock.advanceAsync(100);
    await Promise.all(first);
    const together = probed;
    const second = ask(health, "/up/ready");
    await clock.advanceAsync(100);
    await second;

    expect(together).to.equal(1);
    expect(probed).to.equal(2);
  });

  it("reports draining when the drain starts while probes run", async () => {
    const { clock, lifecycle, health } = setUp({ subsystems: [new Probed("database", never)] });

    const asking = ask(health, "/up/ready");
    lifecycle.beginDrain();
    await clock.advanceAsync(1_000);

    expect(await asking).to.include({ status: 503, body: '{"state":"draining","ready":false}' });
  });
});

describe("checkHealthPrefix", () => {
  for (const prefix of ["/up", "/health", "/internal/up", "/.well-known/up", "/a%20b", "/v1.0/~up", "/..."]) {
    it(`accepts ${prefix}`, () => {
      expect(checkHealthPrefix(prefix)).to.equal(undefined);
    });
  }

  const refused = [
    "",
    "/",
    "up",
    "/up/",
    "//up",
    "/a//b",
    "up/",
    "/.",
    "/a/../b",
    "/up?x",
    "/up#x",
    "/u p",
    "/{id}",
    "/ü",
    "/a%2",
    "/a\\b",
    "/a\n",
  ];
  for (const prefix of refused) {
    it(`refuses ${JSON.stringify(prefix)}`, () => {
      const diagnostic = checkHealthPrefix(prefix);

      expect(diagnostic?.code).to.equal("E_HEALTH_PREFIX");
      expect(diagnostic?.what).to.contain(JSON.stringify(prefix));
    });
  }
});

describe("Readiness", () => {
  for (const state of ["booting", "ready", "draining", "stopped"] as const) {
    it(`has the state ${state}, and reports whether it is ready`, () => {
      const { readiness } = setUp({ state });

      expect(readiness.state).to.equal(state);
      expect(readiness.isReady).to.equal(state === "ready");
    });
  }

  it("reports the same as the readiness endpoint", async () => {
    const { health, readiness } = setUp({ subsystems: [new Probed("database")] });

    const report = await readiness.report();

    expect(JSON.stringify(report)).to.equal((await ask(health, "/up/ready")).body);
  });
});
