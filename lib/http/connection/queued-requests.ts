/**
 * Pipelined requests: a client sends them before it has the answers to its earlier requests (RFC 9112 section 9.3.2). The application
 * handles at most 64 requests of one connection at a time, besides the request whose answer is being written. Requests beyond these
 * wait. Meanwhile the socket is not read, so that the client holds back its further requests, and Node notices that the client has
 * left only when a write fails.
 */
import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../runtime/clock.js";
import { halfClose, isHalfClosed } from "./half-close.js";

const MAX_STARTED = 64;

export class QueuedRequests {
  /** The requests whose answer is not finished, started or not. */
  private unfinished = 0;
  private waiting: (() => void)[] = [];
  private willStartWaiting = false;

  constructor(
    private readonly socket: Socket,
    clock: Clock,
  ) {
    const destroySoon = socket.destroySoon.bind(socket);
    // Node calls this after an answer that closes the connection.
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
    // Before Node's own listener, which may close the connection.
    response.prependOnceListener("finish", () => this.countFinished());
    response.once("socket", (socket: Socket) => closeCut(response, socket));
    if (this.waiting.length === 0 && this.unfinished <= MAX_STARTED) {
      start();
      return;
    }
    if (this.waiting.length === 0) this.socket.on("resume", pause).pause();
    // The answer to another request starts it, but its log lines and spans do not belong to that request.
    this.waiting.push(AsyncResource.bind(start));
  }

  /** Drops the waiting requests. Called when the connection sends no further answers. */
  dropWaiting(): void {
    this.waiting = [];
    this.socket.off("resume", pause);
  }

  private countFinished(): void {
    this.unfinished -= 1;
    if (this.waiting.length === 0 || this.willStartWaiting) return;
    this.willStartWaiting = true;
    // Not at once, so that other connections get their turn.
    setImmediate(() => this.startWaiting());
  }

  private startWaiting(): void {
    this.willStartWaiting = false;
    if (isHalfClosed(this.socket)) this.dropWaiting();
    if (this.waiting.length === 0) return;
    // One by one, because an answer must know whether requests still wait after it.
    while (this.waiting.length > 0 && this.unfinished - this.waiting.length < MAX_STARTED) this.waiting.shift()?.();
    if (this.waiting.length === 0) this.socket.off("resume", pause).resume();
  }
}

/**
 * An answer that was cut off while it waited has its turn now. It never ends, so its connection closes. Node 20 and 22 close it
 * themselves. A newer Node sends what was written and leaves the connection open for ever, with all requests behind it.
 */
function closeCut({ destroyed }: ServerResponse, socket: Socket): void {
  if (destroyed) socket.destroy();
}

/** Node resumes the socket when a request ends and when an answer is written; this pauses it again. */
function pause(this: Socket): void {
  if (!isHalfClosed(this)) this.pause();
}
