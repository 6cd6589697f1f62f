/** SIGTERM under load: no accepted request is lost, and readiness is 503 before the listener stops. */
import { execFile } from "node:child_process";
import http from "node:http";
import { promisify } from "node:util";
import { expect } from "chai";
import { alone } from "../support/alone.js";
import { Child } from "../support/child.js";
import { needs } from "../support/machine.js";

const run = promisify(execFile);
/** Much longer than wrk runs after the signal. */
const DELAY_MS = 1500;
const CONNECTIONS = 64;

/** `cut`: an answer began and is incomplete. */
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
  this.timeout(20_000);
  this.slow(5000);
  before(alone());

  it("loses no request that was accepted, and shows 503 on readiness first", async () => {
    await using child = await Child.start("../journeys/process-application.js", { DELAY_MS: "500" });
    await child.says("listening on", "errors");
    const outcomes: Outcome[] = [];
    const readiness: number[] = [];
    const clients = Array.from({ length: 16 }, () => askUntilRefused(child.port, outcomes));
    const watching = watchReadiness(child.port, readiness);
    await new Promise((resolve) => setTimeout(resolve, 500));

    child.kill("SIGTERM");
    await Promise.all([...clients, watching]);

    expect(await child.exitCode()).to.equal(0);

    // The kernel refuses a connection that the process has not accepted, with one of several errors.
    const served = outcomes.filter((outcome) => outcome === "served").length;
    expect(child.output).to.contain(`quick requests: ${served}\n`);
    expect(served).to.be.greaterThan(100);
    expect(outcomes.filter((outcome) => outcome === "cut")).to.have.length(0);
    expect(readiness[0]).to.equal(200);
    expect(readiness.at(-1)).to.equal(503);
  });

  describe("from wrk, which ends before the listener stops", () => {
    before(needs("wrk"));

    it("has no socket error, shows 503 on readiness until the listener stops, and ends in time", async () => {
      await using child = await Child.start("../journeys/process-application.js", { DELAY_MS: String(DELAY_MS) });
      await child.says("listening on", "errors");
      const readiness: number[] = [];
      const watching = watchReadiness(child.port, readiness);
      const wrk = run("wrk", ["-t1", `-c${CONNECTIONS}`, "-d1s", `${child.url}/quick`]);
      await new Promise((resolve) => setTimeout(resolve, 400));

      child.kill("SIGTERM");
      const signalled = performance.now();
      const { stdout } = await wrk;
      const ready = readiness.length;
      await watching;
      const code = await child.exitCode();
      const took = performance.now() - signalled;

      const answers = Number(/(\d+) requests in/.exec(stdout)?.[1]);
      const handled = Number(/quick requests: (\d+)/.exec(child.output)?.[1]);
      expect(stdout).to.not.match(/Socket errors|Non-2xx/);
      expect(answers).to.be.above(1000);
      // wrk does not count the requests in flight at its end.
      expect(handled - answers).to.be.within(0, CONNECTIONS);
      expect(readiness.lastIndexOf(200)).to.be.below(readiness.indexOf(503));
      expect(readiness.slice(ready))
        .to.have.length.above(10)
        .and.satisfy((seen: readonly number[]) => seen.every((status) => status === 503));
      expect(code).to.equal(0);
      expect(took).to.be.within(DELAY_MS, DELAY_MS + 1500);
    });
  });
});
