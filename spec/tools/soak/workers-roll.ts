/** Rolling restarts of workers under load, bare or behind HAProxy with the file of the guide: no request may fail. */
import http from "node:http";
import https from "node:https";
import { WorkersUnderTest } from "../../app/workers/workers-under-test.js";
import { Certificate } from "../../support/certificate.js";
import { ProxyServer, USER } from "../../support/proxy-server.js";
import { until } from "../../support/until.js";
import { SteadyClient, type ClientKind, type Send } from "./workers-client.js";

export interface RollOptions {
  readonly rolls: number;
  readonly through: "nothing" | "haproxy";
  readonly say: (line: string) => void;
}

export interface RollFigures {
  readonly rolls: number;
  readonly answers: number;
  /** Losses and responses that are not 200, as text. */
  readonly failures: readonly string[];
  /** Processes that sent responses. */
  readonly processes: number;
}

/** Far above the pauses of the clients, also on a busy machine. */
const DELAY_MS = 2000;
const WORKERS = 2;
/** So many responses to each client show that there is load. */
const ENOUGH = 5;

const GET = { path: "/pid", method: "GET" } as const;
const POST = { path: "/pid", method: "POST" } as const;
const SLOW = { path: "/slow", method: "GET" } as const;
const CLIENTS: readonly ClientKind[] = [true, false].flatMap((keepsAlive) => [
  { keepsAlive, requests: [GET, POST], pauseMs: 0 },
  { keepsAlive, requests: [GET, POST], pauseMs: 0 },
  { keepsAlive, requests: [GET, POST], pauseMs: 50 },
  { keepsAlive, requests: [GET, POST, SLOW], pauseMs: 5 },
]);

export async function rollWorkers({ rolls, through, say }: RollOptions): Promise<RollFigures> {
  await using workers = await WorkersUnderTest.start(WORKERS, { NODE_ENV: "production", DELAY: String(DELAY_MS) });
  await using front = await startFront(workers.parent.port, through);
  const clients = CLIENTS.map((kind) => new SteadyClient(front.send, kind));
  let isOver = false;
  const loads = clients.map((client) => client.run(front.agentOf, () => isOver));
  const areLoaded = async (): Promise<void> => {
    const counts = clients.map(({ answers }) => answers);
    await until(() => clients.every(({ answers }, index) => answers >= (counts[index] ?? 0) + ENOUGH));
  };
  await areLoaded();
  for (let roll = 1; roll <= rolls; roll++) {
    workers.parent.kill("SIGHUP");
    await workers.says("workers replaced", roll);
    say(`roll ${roll}`);
  }
  await areLoaded();
  isOver = true;
  await Promise.all(loads);
  const failures = clients.flatMap(({ losses, refusals }) => [...losses, ...refusals]);
  return {
    rolls,
    answers: clients.reduce((sum, { answers }) => sum + answers, 0),
    failures: failures.map((failure) => JSON.stringify(failure)),
    processes: new Set(clients.flatMap(({ times }) => [...times.keys()])).size,
  };
}

interface Front extends AsyncDisposable {
  readonly send: Send;
  readonly agentOf: () => http.Agent;
}

const ONE_KEPT = { keepAlive: true, maxSockets: 1 } as const;

async function startFront(port: number, through: RollOptions["through"]): Promise<Front> {
  if (through === "nothing")
    return {
      send: (options) => http.request({ host: "127.0.0.1", port, ...options }),
      agentOf: () => new http.Agent(ONE_KEPT),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  const certificate = await Certificate.for(USER);
  // Both lines of the file lead to the one port.
  const proxy = await ProxyServer.start("haproxy", [port, port], certificate);
  return {
    send: (options) => https.request({ ...proxy.from, ...options }),
    agentOf: () => new https.Agent(ONE_KEPT),
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await certificate[Symbol.asyncDispose]();
    },
  };
}
