/** Counts what one request costs: a server as a process, a warm-up, and a fixed number of requests. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { ours } from "../bench/contender.js";
import { instructionsOf } from "../bench/instructions.js";
import { startServer } from "../bench/server.js";
import type { Scenario } from "./figures.js";
import { announcedPort, ask } from "./requests.js";

const CALLED_REQUESTS = 100;

export interface Counting {
  /** Before the first round: V8 compiles. */
  readonly warmUp: number;
  /** Requests of one round. */
  readonly requests: number;
  readonly rounds: number;
}

/** The lowest of the rounds, because a collection of garbage or a compilation only adds. */
export async function instructionsPerRequest(
  scenario: Scenario,
  { warmUp, requests, rounds }: Counting,
): Promise<number> {
  const server = await startServer(ours(), scenario);
  try {
    await ask(scenario, server.port, warmUp);
    let lowest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round += 1) {
      const counted = await instructionsOf(server.pid, () => ask(scenario, server.port, requests));
      lowest = Math.min(lowest, counted / requests);
    }
    return lowest;
  } finally {
    await server.stop();
  }
}

export async function callsPerRequest(scenario: Scenario): Promise<number> {
  const counter = new URL("call-counter.js", import.meta.url).href;
  const child = spawn(process.execPath, ["--import", counter, ours().script, scenario], {
    stdio: ["ignore", "pipe", "ignore", "ipc"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  try {
    const port = await announcedPort(child);
    await ask(scenario, port, CALLED_REQUESTS);
    await request(child, "begin");
    await ask(scenario, port, CALLED_REQUESTS);
    return Number(await request(child, "end")) / CALLED_REQUESTS;
  } finally {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
}

/** The reply of the counter to a message. */
async function request(child: ChildProcess, message: string): Promise<unknown> {
  const reply = once(child, "message");
  child.send(message);
  return (await reply)[0] as unknown;
}
