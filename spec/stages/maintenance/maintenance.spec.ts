import { expect } from "chai";
import { MaintenanceLayer, Maintenance } from "../../../lib/stages/maintenance/maintenance.js";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { obeysLayerContract } from "../../../lib/testing/contracts/obeys-layer-contract.js";
import { errorOf } from "../../support/error-of.js";
import { Stack } from "../../support/stack.js";

describe("Maintenance", () => {
  it("starts disengaged, and can be switched any number of times", () => {
    const maintenance = new Maintenance();

    const seen = [maintenance.isEngaged];
    for (const step of ["engage", "engage", "disengage", "disengage", "engage"] as const) {
      maintenance[step]();
      seen.push(maintenance.isEngaged);
    }

    expect(seen).to.deep.equal([false, true, true, false, false, true]);
    expect(Maintenance.engaged().isEngaged).to.equal(true);
  });

  describe("allow", () => {
    const rows: readonly (readonly [string, string, boolean])[] = [
      ["/status", "/status", true],
      ["/status", "/status/", true],
      ["/status", "/status/db/1", true],
      ["/status", "/statuses", false],
      ["/status", "/stat", false],
      ["/status", "/Status", false],
      ["/status", "//status", false],
      ["/status", "/%73tatus", false],
      ["/status", "/", false],
      ["status", "/status", true],
      ["//status//", "/status/x", true],
      ["/a/b", "/a/b", true],
      ["/a/b", "/a", false],
      ["/", "/anything/at/all", true],
      ["///", "/", true],
    ];

    for (const [allowed, path, through] of rows) {
      it(`${JSON.stringify(allowed)} ${through ? "lets" : "does not let"} ${path} through`, () => {
        expect(new Maintenance().allow(allowed).allows(path)).to.equal(through);
      });
    }

    it("allows several paths", () => {
      const maintenance = new Maintenance().allow("/status").allow("/pay");

      expect(["/status", "/pay/1", "/home"].map((path) => maintenance.allows(path))).to.deep.equal([true, true, false]);
    });

    for (const path of ["", "/a?b", "/a#b", "/a b", "/a\n"]) {
      it(`refuses ${JSON.stringify(path)}, which matches no request`, () => {
        const error = errorOf(() => new Maintenance().allow(path));

        expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_MAINTENANCE_PATH");
        expect(error.message).to.contain(JSON.stringify(path));
      });
    }
  });

  const patterns: readonly (readonly [string, string])[] = [
    ["/admin/*", 'allow("/admin") lets all paths below it'],
    ["/admin*", 'allow("/admin") lets all paths below it'],
    ["/a/*/b", 'allow("/a") lets all paths below it'],
    ["*", 'allow("/") lets all paths through'],
  ];
  for (const [path, fix] of patterns) {
    it(`refuses the pattern ${JSON.stringify(path)}, and names the fix`, () => {
      const error = errorOf(() => new Maintenance().allow(path));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_MAINTENANCE_PATH");
      expect(error.message).to.contain(JSON.stringify(path)).and.to.contain(fix);
    });
  }

  it("refuses a path that is not a string", () => {
    const error = errorOf(() => new Maintenance().allow(undefined as unknown as string));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_MAINTENANCE_PATH");
  });

  for (const seconds of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`refuses a Retry-After of ${seconds}`, () => {
      const error = errorOf(() => new Maintenance().retryAfter(seconds));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_MAINTENANCE_RETRY_AFTER");
      expect(error.message).to.contain(String(seconds));
    });
  }
});

describe("MaintenanceLayer", () => {
  it("obeys the layer contract", () =>
    obeysLayerContract(new MaintenanceLayer(Maintenance.engaged().allow("/open")), {
      request: { path: "/open" },
      refused: { path: "/closed" },
    }));

  it("responds with 503, Retry-After and a problem, without a call of the handler", async () => {
    let woken = 0;
    await using stack = await Stack.of([new MaintenanceLayer(Maintenance.engaged())], () => ++woken);

    const answer = await stack.ask("/links/7");

    expect(answer.status).to.equal(503);
    expect(answer.headers["retry-after"]).to.equal("60");
    expect(answer.headers["content-type"]).to.equal("application/problem+json");
    expect(JSON.parse(answer.text)).to.deep.equal({
      type: "urn:framework:problem:unavailable",
      title: "Service unavailable",
      status: 503,
      detail: "The application is down for maintenance. Please try again shortly.",
    });
    expect(woken).to.equal(0);
  });

  it("responds with the given Retry-After", async () => {
    await using stack = await Stack.of([new MaintenanceLayer(Maintenance.engaged().retryAfter(5))]);

    expect((await stack.ask()).headers["retry-after"]).to.equal("5");
  });

  it("lets allowed paths through, with any query", async () => {
    const layer = new MaintenanceLayer(Maintenance.engaged().allow("/status"));
    await using stack = await Stack.of([layer], () => "fine");

    expect((await stack.ask("/status?verbose=1")).text).to.equal("fine");
    expect((await stack.ask("/home?/status")).status).to.equal(503);
  });

  it("follows the switch while the application runs", async () => {
    const maintenance = new Maintenance();
    await using stack = await Stack.of([new MaintenanceLayer(maintenance)], () => "fine");

    const before = await stack.ask();
    maintenance.engage();
    const during = await stack.ask();
    maintenance.disengage();
    const after = await stack.ask();

    expect([before.status, during.status, after.status]).to.deep.equal([200, 503, 200]);
  });

  it("lets a request finish that is already in progress", async () => {
    const maintenance = new Maintenance();
    await using stack = await Stack.of([new MaintenanceLayer(maintenance)], () => {
      maintenance.engage();
      return "finished";
    });

    expect((await stack.ask()).text).to.equal("finished");
    expect((await stack.ask()).status).to.equal(503);
  });

  it("responds to HEAD with the same head", async () => {
    await using stack = await Stack.of([new MaintenanceLayer(Maintenance.engaged())]);

    const answer = await stack.ask("/", { method: "HEAD" });

    expect(answer.status).to.equal(503);
    expect(answer.headers["retry-after"]).to.equal("60");
    expect(answer.text).to.equal("");
  });
});
