import { expect } from "chai";
import { findProcessors } from "../../../lib/app/workers/processors.js";
import { checkWorkersOptions, type WorkersOptions } from "../../../lib/app/workers/workers-options.js";

type Files = Readonly<Record<string, string>>;

const ROOT = "/sys/fs/cgroup";

const LIMITS: readonly (readonly [title: string, files: Files, count: number, source: string])[] = [
  ["no control groups", {}, 8, "processors that Node may use"],
  [
    "version 2 in a container",
    { "/proc/self/cgroup": "0::/\n", [`${ROOT}/cpu.max`]: "250000 100000\n" },
    2,
    `limit of ${ROOT}/cpu.max`,
  ],
  [
    "version 2 without a limit",
    { "/proc/self/cgroup": "0::/\n", [`${ROOT}/cpu.max`]: "max 100000\n" },
    8,
    "processors",
  ],
  [
    "version 2, a limit of a group above",
    {
      "/proc/self/cgroup": "0::/system.slice/shop.service\n",
      [`${ROOT}/system.slice/shop.service/cpu.max`]: "max 100000",
      [`${ROOT}/system.slice/cpu.max`]: "300000 100000",
    },
    3,
    `limit of ${ROOT}/system.slice/cpu.max`,
  ],
  [
    "version 1",
    {
      "/proc/self/cgroup": "4:cpu,cpuacct:/\n0::/\n",
      [`${ROOT}/cpu,cpuacct/cpu.cfs_quota_us`]: "50000",
      [`${ROOT}/cpu,cpuacct/cpu.cfs_period_us`]: "100000",
    },
    1,
    "cpu.cfs_quota_us",
  ],
  [
    "version 1 without a limit",
    {
      "/proc/self/cgroup": "1:cpu:/\n",
      [`${ROOT}/cpu/cpu.cfs_quota_us`]: "-1",
      [`${ROOT}/cpu/cpu.cfs_period_us`]: "100000",
    },
    8,
    "processors",
  ],
  [
    "a limit above the machine",
    { "/proc/self/cgroup": "0::/", [`${ROOT}/cpu.max`]: "1600000 100000" },
    8,
    "processors that Node may use",
  ],
  ["texts that are no limits", { "/proc/self/cgroup": "0::/\nx", [`${ROOT}/cpu.max`]: "many" }, 8, "processors"],
];

describe("the number of processors", () => {
  for (const [title, files, count, source] of LIMITS) {
    it(`is ${count} with ${title}`, () => {
      const found = findProcessors({ available: 8, read: (path) => files[path] });

      expect(found.count).to.equal(count);
      expect(found.source).to.include(source);
    });
  }
});

describe("the options of runWorkers()", () => {
  it("take auto", () => {
    expect(checkWorkersOptions({ workers: "auto" }).count).to.be.within(1, 512);
  });

  for (const workers of [0, -1, 1.5, 513, NaN, "2", undefined]) {
    it(`refuse ${String(workers)} workers`, () => {
      // As a program in JavaScript gives it.
      const options = { workers } as unknown as WorkersOptions;
      expect(() => checkWorkersOptions(options)).to.throw(/cannot have .* workers; fix: give "auto" or a whole number/);
    });
  }

  it("say that a number was given as a text", () => {
    const options = { workers: "2" } as unknown as WorkersOptions;
    expect(() => checkWorkersOptions(options)).to.throw('cannot have "2" workers; fix: give "auto" or a whole number');
  });

  for (const option of [{ unresponsiveAfterMs: 10 }, { startTimeoutMs: 0 }, { responsesPerConnection: 0 }]) {
    it(`refuse ${JSON.stringify(option)}`, () => {
      expect(() => checkWorkersOptions({ workers: 2, ...option })).to.throw(
        /of runWorkers\(\) cannot be .*; fix: give/,
      );
    });
  }
});
