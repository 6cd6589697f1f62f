/** The requests of a scenario, sent to a server that is a process of its own. */
import type { ChildProcess } from "node:child_process";
import { Agent, request as send } from "node:http";
import { createInterface } from "node:readline";
import type { BenchRequest } from "../bench/load.js";
import { SCENARIOS } from "../bench/scenario.js";
import type { Scenario } from "./figures.js";

const CONNECTIONS = 8;

/** Of a server as a process: the port of its line `ready <port>`. */
export async function announcedPort({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error("no standard output");
  for await (const line of createInterface({ input: stdout })) {
    const port = /^ready (\d+)$/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error("the server ended before it was ready");
}

/** Sends requests in turn, over connections that stay open. */
export async function ask(scenario: Scenario, port: number, count: number, connections = CONNECTIONS): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const requests = SCENARIOS.find(({ name }) => name === scenario)?.requests ?? [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const request = requests[index % requests.length];
      if (request !== undefined) await exchange(port, agent, request);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
}

function exchange(port: number, agent: Agent, { method, path, headers, body }: BenchRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = send({ host: "127.0.0.1", port, path, method, headers, agent }, (response) => {
      response.resume().once("end", resolve).once("error", reject);
      if (response.statusCode !== 200) reject(new Error(`${method} ${path} got the status ${response.statusCode}`));
    });
    asked.once("error", reject).end(body);
  });
}
