/** Requests of a worker to its parent over their link, each with one response. A response that comes too late is dropped. */
import { type Clock, OVERDUE } from "../../runtime/clock.js";
import type { WorkerLink } from "../../server/workers/worker-link.js";

export class ParentRequests {
  private readonly open = new Map<number, (response: unknown) => void>();
  private lastId = 0;

  constructor(
    private readonly parent: WorkerLink,
    private readonly topic: string,
    private readonly clock: Clock,
  ) {
    parent.hear(topic, (message) => {
      const { id, body } = readNumbered(message) ?? { id: 0 };
      this.open.get(id)?.(body);
    });
  }

  /** Resolves to the response of the parent, or to `OVERDUE`. A request to a parent that has ended does not keep the process alive. */
  send(body: unknown, limitMs: number): Promise<unknown> {
    const id = ++this.lastId;
    return new Promise((resolve) => {
      const settle = (response: unknown): void => {
        limit.cancel();
        this.open.delete(id);
        resolve(response);
      };
      const limit = this.clock.setTimeout(() => settle(OVERDUE), limitMs, { background: true });
      this.open.set(id, settle);
      this.parent.tell(this.topic, { id, body });
    });
  }
}

/** In the parent: calls `respond` for each request of the worker with this topic. */
export function hearRequests(worker: WorkerLink, topic: string, respond: (body: unknown) => unknown): void {
  worker.hear(topic, (message) => {
    const request = readNumbered(message);
    if (request === undefined) return;
    const response = respond(request.body);
    if (response instanceof Promise)
      void response.then((body: unknown) => worker.tell(topic, { id: request.id, body }));
    else worker.tell(topic, { id: request.id, body: response });
  });
}

function readNumbered(message: unknown): { readonly id: number; readonly body?: unknown } | undefined {
  if (typeof message !== "object" || message === null || !("id" in message) || typeof message.id !== "number")
    return undefined;
  return { id: message.id, body: "body" in message ? message.body : undefined };
}
