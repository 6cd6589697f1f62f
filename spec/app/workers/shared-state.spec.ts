/** Real processes: work that one worker at a time has, a maintenance that holds in all, state that is refused. */
import http from "node:http";
import { expect } from "chai";
import { Child } from "../../support/child.js";
import { until } from "../../support/until.js";

const PROGRAM = "../app/workers/state-program.js";

interface State {
  readonly pid: number;
  readonly isEngaged: boolean;
}

/** Over a new connection, which the parent gives to the next worker. */
function ask(child: Child, path = "/switch", method = "GET"): Promise<State> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${child.url}${path}`, { method, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      // The program responds with its state.
      response.once("end", () => resolve(JSON.parse(text) as State));
    });
    request.once("error", reject).end();
  });
}

/** The states of `count` workers that respond one after the other. */
async function askAll(child: Child, count = 2): Promise<readonly State[]> {
  const states = new Map<number, State>();
  for (let at = 0; at < 20 * count && states.size < count; at++) {
    const state = await ask(child);
    states.set(state.pid, state);
  }
  return [...states.values()];
}

async function hasEverywhere(child: Child, isEngaged: boolean): Promise<boolean> {
  const states = await askAll(child);
  return states.length === 2 && states.every((state) => state.isEngaged === isEngaged);
}

async function startWorkers(environment: NodeJS.ProcessEnv = {}): Promise<Child> {
  const child = await Child.start(PROGRAM, { NODE_ENV: "production", ...environment });
  await until(() => child.errors.split('"worker ready"').length > 2);
  return child;
}

/** `["begins 12", "ended 12"]`. */
function listWork(child: Child): readonly string[] {
  return child.output.split("\n").filter((line) => /^(begins|ended)/.test(line));
}

function pidOf(line: string | undefined): number {
  return Number(line?.split(" ")[1]);
}

describe("workers", function () {
  this.timeout(60_000);

  it("have the work one at a time: the next one begins when a worker is killed, and after it has ended in a roll", async () => {
    await using child = await startWorkers();
    await child.says("begins");
    const first = pidOf(listWork(child)[0]);

    process.kill(first, "SIGKILL");
    await until(() => listWork(child).length === 2);
    await until(() => child.errors.split('"worker ready"').length > 3);
    child.kill("SIGHUP");
    await child.says('"workers replaced"', "errors");
    await until(() => listWork(child).length === 4);

    const [, killed, ended, last] = listWork(child);
    expect(killed)
      .to.match(/^begins/)
      .and.not.equal(`begins ${first}`);
    expect(ended).to.equal(`ended ${pidOf(killed)}`);
    expect(last)
      .to.match(/^begins/)
      .and.not.equal(killed);
    child.kill("SIGTERM");
    expect(await child.exitCode()).to.equal(0);
    expect(listWork(child).slice(4)).to.deep.equal([`ended ${pidOf(last)}`]);
  });

  it("have the work in each of them, and in one that replaces another", async () => {
    await using child = await startWorkers({ WORK: "each" });
    await until(() => listWork(child).length === 2);
    const [first = 0, second] = listWork(child).map(pidOf);
    process.kill(first, "SIGKILL");
    await until(() => listWork(child).length === 3);
    const third = pidOf(listWork(child)[2]);
    child.kill("SIGTERM");

    expect(await child.exitCode()).to.equal(0);
    expect(new Set([first, second, third]).size).to.equal(3);
    expect(listWork(child).slice(3)).to.have.members([`ended ${second}`, `ended ${third}`]);
  });

  it("have the work in none of them, until they have ended", async () => {
    await using child = await startWorkers({ WORK: "none" });
    process.kill((await ask(child)).pid, "SIGKILL");
    await until(() => child.errors.split('"worker ready"').length > 3);
    child.kill("SIGTERM");

    // A worker gets what the parent tells it in order: work would have begun before the drain.
    expect(await child.exitCode()).to.equal(0);
    expect(listWork(child)).to.deep.equal([]);
    expect(child.errors).to.not.include("work given to a worker");
  });

  it("are all in a maintenance that the code of one has switched, those that start later too", async () => {
    await using child = await startWorkers();

    const { pid } = await ask(child, "/switch/on", "POST");
    await until(() => hasEverywhere(child, true));
    process.kill(pid, "SIGKILL");
    await until(() => child.errors.split('"worker ready"').length > 3);

    const states = await askAll(child);
    expect(states.map(({ isEngaged }) => isEngaged)).to.deep.equal([true, true]);
    expect(states.map((state) => state.pid)).to.not.include(pid);
    await ask(child, "/switch/off", "POST");
    await until(() => hasEverywhere(child, false));
    expect(child.errors.split("maintenance has started")).to.have.lengthOf(2);
  });

  it("do not start where sessions are in memory: the parent says so, and forks none", async () => {
    await using child = await Child.start(PROGRAM, { NODE_ENV: "production", STATE: "sessions" });

    expect(await child.exitCode()).to.equal(1);
    expect(child.errors).to.include("E_WORKERS_MEMORY sessions are in memory, which 2 workers do not share");
    expect(child.errors).to.include("fix: use RedisSessionStore or DatabaseSessionStore");
    expect(child.output).to.match(/^built \d+\n$/);
  });

  it("have the warnings of the start once, and again in no worker that is replaced", async () => {
    await using child = await startWorkers({ STATE: "warning" });
    await child.says('"listening"', "errors");
    child.kill("SIGHUP");
    await child.says('"workers replaced"', "errors");

    expect(child.errors.split("the access log is on and the request id is off")).to.have.lengthOf(2);
  });

  it("start with a rate limit in memory, which one event names", async () => {
    await using child = await startWorkers({ STATE: "limit" });

    await child.says('"listening"', "errors");
    const warnings = child.errors.split("\n").filter((line) => line.includes("times a quota"));
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.include("a rate limit of 1000 per minute is in memory").and.include('"level":"WARN"');
  });
});
