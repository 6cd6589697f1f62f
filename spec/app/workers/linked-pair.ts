/** A link between a parent and a worker in one process. Messages are copied as those of processes are, and arrive later, in order. */
import { deserialize, serialize } from "node:v8";
import { MessageLink } from "../../../lib/server/workers/worker-link.js";
import type { LinkedWorker, WorkerState } from "../../../lib/server/workers/worker-process.js";

function ignore(): void {}

export class LinkedPair {
  readonly worker: MessageLink;
  readonly parent: LinkedWorker;
  state: WorkerState = "starting";
  /** While it is false, messages to the worker wait. */
  isRead = true;
  /** Decides which messages of the worker arrive. */
  arrives: (message: unknown) => boolean = () => true;
  private readonly unread: unknown[] = [];

  constructor(readonly id: number) {
    const end = new MessageLink((message, _socket, sent) => {
      sent();
      this.unread.push(deserialize(serialize(message)));
      this.read();
    }, ignore);
    this.worker = new MessageLink((message, _socket, sent) => {
      sent();
      const copy: unknown = deserialize(serialize(message));
      if (this.arrives(copy)) setImmediate(() => end.receive(copy, undefined));
    }, ignore);
    this.parent = {
      id,
      pid: id,
      state: this.state,
      tell: (topic, body) => end.tell(topic, body),
      hear: (topic, listener) => end.hear(topic, listener),
    };
  }

  /** Delivers the messages that wait. */
  read(): void {
    setImmediate(() => {
      while (this.isRead && this.unread.length > 0) this.worker.receive(this.unread.shift(), undefined);
    });
  }
}
