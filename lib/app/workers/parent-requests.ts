/** Requests of a worker to its parent over their link, each with one response. A response that comes too late is dropped. */
import { type Clock, within } from "../../runtime/clock.js";
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

  /** Resolves to the response of the parent, or to `OVERDUE`. */
  async send(body: unknown, limitMs: number): Promise<unknown> {
    const id = ++this.lastId;
    const response = new Promise<unknown>((resolve) => this.open.set(id, resolve));
    this.parent.tell(this.topic, { id, body });
    try {
      return await within(this.clock, limitMs, response);
    } finally {
      this.open.delete(id);
    }
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
