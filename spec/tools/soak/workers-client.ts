/** Clients of workers: they send one request after the other, and record each response, and each request that got none. */
import http from "node:http";
import type https from "node:https";
import { text } from "node:stream/consumers";

/** Above all times of the server: a request without an outcome by then hangs. */
const HANGS_MS = 60_000;

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A request without a whole response. */
export interface Loss {
  readonly path: string;
  readonly error: string;
  /** The client's end of the connection; 0 if there was none. */
  readonly port: number;
}

export interface Ask {
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly agent: http.Agent | false;
}

export type Send = (options: https.RequestOptions) => http.ClientRequest;

/** Resolves to the response, or to the loss. */
export function ask(send: Send, { path, method, agent }: Ask): Promise<Answer | Loss> {
  return new Promise((resolve) => {
    let port = 0;
    const lose = (error: Error): void => resolve({ path, error: error.message, port });
    const request = send({ path, method, agent, timeout: HANGS_MS });
    request.once("socket", (socket) => {
      const read = (): void => void (port = socket.localPort ?? port);
      if (socket.connecting) socket.once("connect", read);
      else read();
    });
    request.once("response", (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), lose);
    });
    request.once("timeout", () => request.destroy(new Error("no response, the request hangs")));
    request.once("error", lose);
    request.end(method === "POST" ? "four" : undefined);
  });
}

/** How a client of a soak asks. */
export interface ClientKind {
  readonly keepsAlive: boolean;
  /** In turn. */
  readonly requests: readonly Pick<Ask, "path" | "method">[];
  /** Milliseconds between a response and the next request, at most. */
  readonly pauseMs: number;
}

export class SteadyClient {
  readonly losses: Loss[] = [];
  /** Times of the responses of each process, by its id, which is their body. */
  readonly times = new Map<number, number[]>();
  /** Statuses other than 200. */
  readonly refusals: Answer[] = [];

  constructor(
    private readonly send: Send,
    private readonly kind: ClientKind,
    private readonly onLoss: (loss: Loss) => void = () => undefined,
  ) {}

  get answers(): number {
    return [...this.times.values()].reduce((sum, { length }) => sum + length, 0);
  }

  async run(agentOf: () => http.Agent, isOver: () => boolean): Promise<void> {
    const { keepsAlive, requests, pauseMs } = this.kind;
    const agent = keepsAlive ? agentOf() : undefined;
    for (let turn = 0; !isOver(); turn++) {
      const request = requests[turn % requests.length];
      if (request !== undefined) this.take(await ask(this.send, { ...request, agent: agent ?? false }));
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * pauseMs));
    }
    agent?.destroy();
  }

  private take(outcome: Answer | Loss): void {
    if ("error" in outcome) {
      this.losses.push(outcome);
      this.onLoss(outcome);
    } else if (outcome.status === 200) {
      const pid = Number(outcome.body);
      const times = this.times.get(pid);
      if (times === undefined) this.times.set(pid, [performance.now()]);
      else times.push(performance.now());
    } else {
      this.refusals.push(outcome);
    }
  }
}
