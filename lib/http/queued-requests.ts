/**
 * Pipelined requests: those that come before the answer to the one in front of them is out (RFC 9112 section 9.3.2). The application
 * handles at most 64 of one connection at a time, beside the one whose answer is being written. Further requests that were read
 * already wait, and the socket is not read meanwhile, so that the client keeps what is still to come. While it is not read, Node
 * notices only by a failed write that the client has left.
 */
import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../runtime/clock.js";
import { halfClose, isHalfClosed } from "./half-close.js";

const MOST_STARTED = 64;

export class QueuedRequests {
  /** Started or not, without those whose answer is out. */
  private unanswered = 0;
  private waiting: (() => void)[] = [];
  private isToContinue = false;

  constructor(
    private readonly socket: Socket,
    clock: Clock,
  ) {
    const destroySoon = socket.destroySoon.bind(socket);
    // Node calls this behind an answer that closes the connection.
    socket.destroySoon = () => {
      if (this.unanswered > 0 || socket.isPaused()) halfClose(socket, clock);
      else destroySoon();
    };
  }

  /** Requests that are not started. */
  get length(): number {
    return this.waiting.length;
  }

  add(response: ServerResponse, start: () => void): void {
    this.unanswered += 1;
    // Before Node's own listener, which may close the connection.
    response.prependOnceListener("finish", () => this.answered());
    if (this.waiting.length === 0 && this.unanswered <= MOST_STARTED) {
      start();
      return;
    }
    if (this.waiting.length === 0) this.socket.on("resume", pause).pause();
    // It starts behind another request, and is no part of that one.
    this.waiting.push(AsyncResource.bind(start));
  }

  /** To be called when nothing more is answered. */
  forgetWaiting(): void {
    this.waiting = [];
    this.socket.off("resume", pause);
  }

  private answered(): void {
    this.unanswered -= 1;
    if (this.waiting.length === 0 || this.isToContinue) return;
    this.isToContinue = true;
    // Other connections have their turn between two rounds.
    setImmediate(() => this.startWaiting());
  }

  private startWaiting(): void {
    this.isToContinue = false;
    if (isHalfClosed(this.socket)) this.forgetWaiting();
    if (this.waiting.length === 0) return;
    // One by one: an answer that is the last of its connection has to know whether others wait behind it.
    while (this.waiting.length > 0 && this.unanswered - this.waiting.length < MOST_STARTED) this.waiting.shift()?.();
    if (this.waiting.length === 0) this.socket.off("resume", pause).resume();
  }
}

/** Node resumes the socket at the end of every request, and when answers are written. */
function pause(this: Socket): void {
  if (!isHalfClosed(this)) this.pause();
}
