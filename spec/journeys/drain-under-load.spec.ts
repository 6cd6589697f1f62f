/** SIGTERM under load: no accepted request is lost, and readiness is 503 before the listener stops. */
import { execFile } from "node:child_process";
import http from "node:http";
import { promisify } from "node:util";
import { expect } from "chai";
import { alone } from "../support/alone.js";
import { Child } from "../support/child.js";
import { needs } from "../support/machine.js";
import { until } from "../support/until.js";

const run = promisify(execFile);
const CONNECTIONS = 64;
/** So many responses show that there is load. */
const ENOUGH = 200;

/** `cut`: a response began and is incomplete. */
type Outcome = "served" | "refused" | "cut";

/** One client with its own keep-alive connection, which sends requests until the listener stops. */
async function askUntilRefused(port: number, outcomes: Outcome[]): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (;;) {
    const outcome = await ask(port, agent);
    outcomes.push(outcome);
    if (outcome !== "served") break;
  }
  agent.destroy();
}

function ask(port: number, agent: http.Agent): Promise<Outcome> {
  return new Promise((resolve) => {
    const request = http.get({ port, host: "127.0.0.1", path: "/quick", agent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("end", () => resolve(response.statusCode === 200 && text === "done" ? "served" : "cut"));
      response.on("error", () => resolve("cut"));
    });
    request.on("error", () => resolve("refused"));
  });
}

/** The number of requests that have reached the handler. */
async function handledBy({ url }: Child): Promise<number> {
  return Number(await (await fetch(`${url}/count`)).text());
}

async function watchReadiness(port: number, seen: number[]): Promise<void> {
  for (;;) {
    try {
      seen.push((await fetch(`http://127.0.0.1:${port}/up/ready`)).status);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("a drain under load", function () {
  this.timeout(120_000);
  this.slow(5000);
  before(alone());

  it("loses no request that was accepted, and shows 503 on readiness first", async () => {
    await using child = await Child.start("../journeys/process-application.js", { DELAY: "held" });
    await child.says("listening on", "errors");
    const outcomes: Outcome[] = [];
    const readiness: number[] = [];
    const clients = Array.from({ length: 16 }, () => askUntilRefused(child.port, outcomes));
    const watching = watchReadiness(child.port, readiness);
    await until(() => outcomes.length > ENOUGH);
    child.kill("SIGTERM");
    await until(() => readiness.at(-1) === 503);
    const later = outcomes.length + ENOUGH;
    await until(() => outcomes.length > later);
    child.endInput();
    await Promise.all([...clients, watching]);

    expect(await child.exitCode()).to.equal(0);

    // The kernel refuses a connection that the process has not accepted, with one of several errors.
    const served = outcomes.filter((outcome) => outcome === "served").length;
    expect(child.output).to.contain(`quick requests: ${served}\n`);
    expect(served).to.be.at.least(2 * ENOUGH);
    expect(outcomes.filter((outcome) => outcome === "cut")).to.have.length(0);
    expect(readiness[0]).to.equal(200);
    expect(readiness.at(-1)).to.equal(503);
  });

  describe("from wrk, which ends before the listener stops", () => {
    before(needs("wrk"));

    it("has no socket error, shows 503 on readiness until the listener stops, and ends in time", async () => {
      await using child = await Child.start("../journeys/process-application.js", { DELAY: "held" });
      await child.says("listening on", "errors");
      const readiness: number[] = [];
      const watching = watchReadiness(child.port, readiness);
      const wrk = run("wrk", ["-t1", `-c${CONNECTIONS}`, "-d1s", `${child.url}/quick`]);
      // There is load. How much wrk sends in its second depends on the machine.
      await until(async () => (await handledBy(child)) > CONNECTIONS);
      child.kill("SIGTERM");
      const { stdout } = await wrk;
      const ready = readiness.length;
      await until(() => readiness.length > ready + 10);
      const released = performance.now();
      child.endInput();
      await watching;
      const code = await child.exitCode();
      const took = performance.now() - released;

      const responses = Number(/(\d+) requests in/.exec(stdout)?.[1]);
      const handled = Number(/quick requests: (\d+)/.exec(child.output)?.[1]);
      expect(stdout).to.not.match(/Socket errors|Non-2xx/);
      expect(responses).to.be.above(0);
      // wrk does not count the requests in flight at its end.
      expect(handled - responses).to.be.within(0, CONNECTIONS);
      expect(readiness.lastIndexOf(200)).to.be.below(readiness.indexOf(503));
      expect(readiness.slice(ready))
        .to.have.length.above(10)
        .and.satisfy((seen: readonly number[]) => seen.every((status) => status === 503));
      expect(code).to.equal(0);
      // Idle connections are closed within a second. The deadline is half a minute.
      expect(took).to.be.below(15_000);
    });
  });
});
