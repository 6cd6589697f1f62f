/** The gate on the cost of a request: its verdicts, and the program with a `perf` that is a script. */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { ROOT } from "../../support/sources.js";
import { type Figures, judge, withCosts } from "./figures.js";

const MACHINE = `${process.version.split(".")[0]} ${process.arch}`;
const REQUESTS = 50;

/** Prints a fixed count: for a command at once, for a process at the signal that ends the count. */
const PERF = `#!/bin/sh
count() { echo "$INSTRUCTIONS,,instructions:u,1000,100.00,," >&2; exit 0; }
case "$*" in
  *--pid*) trap count INT; while :; do sleep 0.02; done ;;
  *) count ;;
esac
`;

/** Runs the server with a hook that counts its requests, and writes the sum as valgrind does: for each request, and for the start. */
const VALGRIND = `#!/bin/sh
[ -n "$BY_VALGRIND" ] || exit 1
[ "$1" != --version ] || exit 0
for option in "$@"; do case "$option" in --log-file=*) export LOG="\${option#--log-file=}" ;; esac; done
while [ "\${1#--}" != "$1" ]; do shift; done
node=$1; shift
exec "$node" --import "$(dirname "$0")/counting.mjs" "$@"
`;

const COUNTING = `
import { subscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
let sum = 1e9;
subscribe("http.server.request.start", () => (sum += Number(process.env.BY_VALGRIND)));
process.on("exit", () => writeFileSync(process.env.LOG, "==1== I   refs:      " + sum.toLocaleString("en") + "\\n"));
`;

describe("the verdict on the cost of a request", () => {
  for (const [what, cost, figure, line, failed] of [
    ["is passed at the figure", 100, 100, "+0.0 % of the figure 100.0", false],
    ["is passed within the tolerance", 104.9, 100, "+4.9 % of the figure 100.0", false],
    ["is failed above the tolerance", 105.1, 100, "above the tolerance of 5 %", true],
    ["asks for a new figure below the tolerance", 94, 100, "-6.0 % of the figure 100.0: write the new figure", false],
    ["is failed where nothing was counted", Number.NaN, 100, "above the tolerance", true],
    ["is passed without a figure", 100, undefined, "hello: 100.0 calls a request, without a figure", false],
  ] as const) {
    it(what, () => {
      const [only] = judge("calls", { hello: cost }, figure === undefined ? {} : { hello: figure }, 0.05);

      expect(only?.line).to.contain(line);
      expect(only?.failed).to.equal(failed);
    });
  }

  it("keeps the figures of other machines and scenarios", () => {
    const before: Figures = { calls: { param: 2 }, instructions: { "v1 old": { hello: 3 } } };

    const after = withCosts(before, { hello: 1.26 }, "v2 new", { full: 4 });

    expect(after).to.deep.equal({
      calls: { hello: 1.3, param: 2 },
      instructions: { "v1 old": { hello: 3 }, "v2 new": { full: 4 } },
    });
    expect(withCosts(before, {}, "v2 new", {}).instructions).to.deep.equal(before.instructions);
  });
});

describe("npm run cost", function () {
  this.timeout(60_000);
  this.slow(10_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "cost-"));
    writeFileSync(join(folder, "counting.mjs"), COUNTING);
    for (const [name, script] of Object.entries({ perf: PERF, valgrind: VALGRIND })) {
      writeFileSync(join(folder, name), script);
      chmodSync(join(folder, name), 0o755);
    }
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /** The counts that the scripts give: `perf` for a round, `valgrind` for a request. A script without one cannot count. */
  interface Counts {
    readonly perf?: string;
    readonly valgrind?: string;
  }

  /** Counts the scenario hello. */
  async function run({ perf = "<not supported>", valgrind }: Counts, figures: Figures, ...more: readonly string[]) {
    const file = join(folder, "figures.json");
    writeFileSync(file, JSON.stringify(figures));
    const program = join(ROOT, "dist/spec/tools/cost/run.js");
    const args = [program, "--figures", file, "--requests", String(REQUESTS), "--only", "hello", ...more];
    const PATH = `${folder}${delimiter}${process.env["PATH"]}`;
    const CI = valgrind === undefined ? "" : "true";
    const env = { ...process.env, CI, PATH, INSTRUCTIONS: perf, BY_VALGRIND: valgrind ?? "1000" };
    const { stdout, stderr, code } = await promisify(execFile)(process.execPath, args, { env }).then(
      (said) => ({ ...said, code: 0 }),
      // The error of execFile has the output and the exit code.
      (error: unknown) => error as { readonly stdout: string; readonly stderr: string; readonly code: number },
    );
    return { stdout, stderr, code, written: JSON.parse(readFileSync(file, "utf8")) as Figures };
  }

  it("fails with a line that names the scenario where its instructions are above the figure", async () => {
    const { stdout, stderr, code } = await run(
      { perf: "5400000" },
      {
        calls: {},
        instructions: { [MACHINE]: { hello: 100_000 } },
      },
    );

    expect(stdout).to.match(/^hello: \d+\.\d calls a request, without a figure$/m);
    expect(stdout).to.match(/^hello: 108000 instructions a request, \+8\.0 % .* above the tolerance of 5 %$/m);
    expect(stderr).to.contain("npm run cost -- --write");
    expect(code).to.equal(1);
  });

  it("writes the figures of this machine", async () => {
    const { code, written } = await run(
      { perf: "5000000" },
      { calls: {}, instructions: { other: { full: 1 } } },
      "--write",
    );

    expect(code).to.equal(0);
    expect(written.calls.hello).to.be.within(20, 500);
    expect(written.instructions).to.deep.equal({ other: { full: 1 }, [MACHINE]: { hello: 100_000 } });
  });

  it("counts by valgrind where the processor does not count for perf, with figures of its own", async () => {
    const { stdout, code, written } = await run(
      { valgrind: "104000" },
      {
        calls: {},
        instructions: { [MACHINE]: { hello: 1 }, [`${MACHINE} valgrind`]: { hello: 100_000 } },
      },
    );

    expect(stdout).to.match(/^hello: 104000 instructions a request, \+4\.0 % .* above the tolerance of 3 %$/m);
    expect(code).to.equal(1);
    expect(written.instructions[MACHINE]).to.deep.equal({ hello: 1 });
  });

  it("says in one line that the machine does not count instructions, and judges the calls", async () => {
    const { stdout, code } = await run(
      {},
      {
        calls: { hello: 1 },
        instructions: { [MACHINE]: { hello: 1 } },
      },
    );

    expect(stdout.split("\n")[0]).to.match(/^instructions are not counted: /);
    expect(stdout).to.match(/^hello: \d+\.\d calls a request, \+\d+\.\d % .* above the tolerance of 2 %$/m);
    expect(stdout).not.to.contain("instructions a request");
    expect(code).to.equal(1);
  });
});
