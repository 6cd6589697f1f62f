/**
 * The messages between the parent and one worker: both ends tell and hear topics. The parent has one link per worker, a worker has one link
 * to the parent. Messages arrive in the order in which they were told, and may be lost only when a process ends. A body is copied by the
 * structured clone algorithm, so it may contain maps, sets, dates, errors and typed arrays, but no functions.
 *
 * @example
 * link.hear("metrics.delta", (body) => totals.add(readDelta(body))); // a worker may be of another release: check what it tells
 * link.tell("maintenance", { on: true });
 */
import type { Socket } from "node:net";

export interface WorkerLink {
  /**
   * Sends `body` to the other end. Does nothing if the other process has ended. If {@link MAX_WAITING} messages wait for a worker that does
   * not read, the parent replaces that worker.
   */
  tell(topic: string, body?: unknown): void;
  /** Calls `listener` for each message with this topic. The first message of a worker comes after `forked` of the parts of the parent. */
  hear(topic: string, listener: (body: unknown) => void): void;
}

/** A connection passes from the parent to a worker beside a message. */
export type MessageListener = (body: unknown, socket: Socket | undefined) => void;

/** Writes to the channel of Node, and calls `sent` when the message has left this process, or cannot leave it. */
export type Send = (message: object, socket: Socket | undefined, sent: () => void) => void;

/** Messages that wait in this process for a reader. */
const MAX_WAITING = 1000;

/** Other users of the channel have other messages. */
const TOPIC = "stagecraft:topic";

export class MessageLink implements WorkerLink {
  private readonly listeners = new Map<string, MessageListener[]>();
  private waiting = 0;
  private readonly whenEmpty: (() => void)[] = [];

  /** @param overflow called for a message that finds `MAX_WAITING` others. The message is lost. */
  constructor(
    private readonly send: Send,
    private readonly overflow: () => void,
  ) {}

  tell(topic: string, body?: unknown, socket?: Socket): void {
    if (this.waiting >= MAX_WAITING) {
      this.overflow();
      return;
    }
    this.waiting += 1;
    this.send({ [TOPIC]: topic, body }, socket, () => {
      this.waiting -= 1;
      if (this.waiting === 0) for (const resolve of this.whenEmpty.splice(0)) resolve();
    });
  }

  /** Resolves when no message waits in this process. */
  flush(): Promise<void> {
    if (this.waiting === 0) return Promise.resolve();
    return new Promise((resolve) => this.whenEmpty.push(resolve));
  }

  hear(topic: string, listener: MessageListener): void {
    const listeners = this.listeners.get(topic);
    if (listeners === undefined) this.listeners.set(topic, [listener]);
    else listeners.push(listener);
  }

  /** Takes a message of the channel. Ignores those of other users of the channel. */
  receive(message: unknown, handle: unknown): void {
    if (typeof message !== "object" || message === null || !(TOPIC in message)) return;
    const { [TOPIC]: topic, body } = message as { readonly [TOPIC]: unknown; readonly body?: unknown };
    if (typeof topic !== "string") return;
    // `handle` is what the other end of this class has sent, or nothing.
    for (const listener of this.listeners.get(topic) ?? []) listener(body, handle as Socket | undefined);
  }
}
