/**
 * Pipelined requests: a client sends them before it has the responses to its earlier requests (RFC 9112 section 9.3.2). The application
 * handles at most 64 requests of one connection at a time, besides the request whose response is being written. Further requests wait.
 * Meanwhile the socket is not read, so the client stops sending, and Node notices that the client has left only when a write fails.
 */
import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../runtime/clock.js";
import { halfClose, isHalfClosed } from "./half-close.js";

const MAX_STARTED = 64;

export class QueuedRequests {
  /** The number of requests without a finished response, started or not. */
  private unfinished = 0;
  private waiting: (() => void)[] = [];
  private willStartWaiting = false;

  constructor(
    private readonly socket: Socket,
    clock: Clock,
  ) {
    const destroySoon = socket.destroySoon.bind(socket);
    // Node calls this after a response that closes the connection.
    socket.destroySoon = () => {
      if (this.unfinished > 0 || socket.isPaused()) halfClose(socket, clock);
      else destroySoon();
    };
  }

  /** The number of requests that are not started. */
  get length(): number {
    return this.waiting.length;
  }

  add(response: ServerResponse, start: () => void): void {
    this.unfinished += 1;
    // Before the listener of Node, which may close the connection.
    response.prependOnceListener("finish", () => this.countFinished());
    response.once("socket", (socket: Socket) => closeDestroyed(response, socket));
    if (this.waiting.length === 0 && this.unfinished <= MAX_STARTED) {
      start();
      return;
    }
    if (this.waiting.length === 0) this.socket.on("resume", pause).pause();
    // The end of another response starts this request, but its log lines and spans do not belong to that other request.
    this.waiting.push(AsyncResource.bind(start));
  }

  /** Drops the waiting requests. Called when the connection sends no further responses. */
  dropWaiting(): void {
    this.waiting = [];
    this.socket.off("resume", pause);
  }

  private countFinished(): void {
    this.unfinished -= 1;
    if (this.waiting.length === 0 || this.willStartWaiting) return;
    this.willStartWaiting = true;
    // Deferred, so that other connections are served in between.
    setImmediate(() => this.startWaiting());
  }

  private startWaiting(): void {
    this.willStartWaiting = false;
    if (isHalfClosed(this.socket)) this.dropWaiting();
    if (this.waiting.length === 0) return;
    // One by one, because a response must know whether requests still wait after it.
    while (this.waiting.length > 0 && this.unfinished - this.waiting.length < MAX_STARTED) this.waiting.shift()?.();
    if (this.waiting.length === 0) this.socket.off("resume", pause).resume();
  }
}

/**
 * Closes the connection when Node comes to a response that was destroyed while it was queued. Such a response never ends. Node 20 and 22
 * close the connection themselves. A newer Node sends the written part and leaves the connection open for ever, with all requests behind
 * it.
 */
function closeDestroyed({ destroyed }: ServerResponse, socket: Socket): void {
  if (destroyed) socket.destroy();
}

/** Node resumes the socket when a request ends and when a response is written; this function pauses it again. */
function pause(this: Socket): void {
  if (!isHalfClosed(this)) this.pause();
}
