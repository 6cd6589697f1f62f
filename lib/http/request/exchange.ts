/**
 * One request and its answer, as the stages see them: this class adds the request to `Answer`. It knows the client connection, the
 * end of the request and the listeners for it. Not for applications: they use `Context`, which adds the public accessors.
 */
import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AbortListener } from "../../runtime/abortable.js";
import type { Clock } from "../../runtime/clock.js";
import { ClientGoneError } from "../../errors/framework-error.js";
import { currentFlow, resumeFlow, type Flow } from "../../tracing/flow.js";
import { ResponseState } from "../response/response-state.js";
import type { TrustedProxies } from "./client-address.js";
import type { Connection } from "../connection/connection.js";
import type { ResponseHead, HeadCompleter } from "../response/response-head.js";
import type { Schema } from "../body/schema.js";
import type { UploadLimits } from "../body/uploads.js";

export interface ClientGoneListener {
  clientGone(): void;
}

/** The part of a route that events name. */
export interface MatchedRoute {
  readonly method: string;
  readonly path: { readonly template: string };
}

/** Reads the multipart forms of an application. */
export interface UploadReader {
  /** The form, or the schema's output for it. */
  readUploads(exchange: Exchange, schema: Schema | undefined, limits: UploadLimits | undefined): Promise<unknown>;
}

/** @internal */
export type UnhandledErrorReporter = (what: string, thrown: unknown) => void;

export abstract class Exchange extends ResponseState {
  /** Set once for an application, on the prototype of its contexts. @internal */
  declare readonly clock: Clock;
  /** @internal */
  declare readonly proxies: TrustedProxies;
  /** @internal */
  declare readonly readLimit: number;
  /** @internal */
  declare readonly uploadReader: UploadReader;
  /** Learns of an unhandled error when there is no log subscriber; set where the application is the process. @internal */
  declare readonly reportUnhandled: UnhandledErrorReporter | undefined;

  /** @internal */
  extensions: unknown[] | undefined = undefined;
  /** By the monotonic clock, when the outermost stage that measures saw the request. @internal */
  startedAt: number | undefined = undefined;
  /** Where the request's spans are, once a stage has opened one. @internal */
  flow: Flow | undefined = undefined;
  /** The innermost stage or middleware with a time limit that the request has reached; or a value that stops all of them. @internal */
  activeTimeout: unknown = undefined;
  /** The matched route, for events. @internal */
  matchedRoute: MatchedRoute | undefined = undefined;
  /** The step of the innermost layer of the application that the request has reached. @internal */
  layerStep: unknown = undefined;
  /** The client waits for `100 Continue` before it sends the body. @internal */
  owesContinue = false;
  /** Bytes of a body that are read at most; `undefined`: the readers' own limit. @internal */
  bodyLimit: number | undefined = undefined;
  /** The application holds Node's request. @internal */
  requestIsShared = false;

  private completers: HeadCompleter[] | undefined = undefined;
  private controller: AbortController | undefined = undefined;
  private abortListeners: AbortListener[] | undefined = undefined;
  private signalFlow: Flow | undefined = undefined;
  private abortReason: Error | undefined = undefined;
  private clientGoneListener: ClientGoneListener | undefined = undefined;
  private moreClientGoneListeners: ClientGoneListener[] | undefined = undefined;

  /** @internal */
  constructor(
    /** @internal */
    readonly incoming: IncomingMessage,
    raw: ServerResponse,
    /** @internal */
    readonly connection: Connection,
  ) {
    super(raw);
    connection.addRequest(this);
  }

  // --- the head ---

  /** Has `completer` add to the head when it is sent, also of a refusal and of a head that is written by hand. @internal */
  completeHeadWith(completer: HeadCompleter): void {
    (this.completers ??= []).push(completer);
  }

  /** Whether a stage adds to the head. @internal */
  get hasCompleters(): boolean {
    return this.completers !== undefined;
  }

  /** @internal */
  completeHead(head: ResponseHead): void {
    const { completers } = this;
    if (completers === undefined) return;
    // The innermost stage adds its headers first, in the order in which the answer passes the stages.
    for (let at = completers.length - 1; at >= 0; at--) completers[at]?.complete(this, head);
  }

  // --- the end, early or late ---

  /** The signal behind `ctx.signal`, made when first asked for. @internal */
  get abortSignal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      // A handler may ask for many things at once. Node would warn of the eleventh listener.
      setMaxListeners(0, this.controller.signal);
      this.signalFlow ??= currentFlow()?.request;
      if (this.abortReason !== undefined) this.controller.abort(this.abortReason);
    }
    return this.controller.signal;
  }

  /** @throws the reason of the signal, if it is aborted @internal */
  throwIfAborted(): void {
    if (this.abortReason !== undefined) throw this.abortReason;
  }

  /** Tells `listener` of the abort, without making a signal. @internal */
  onAbort(listener: AbortListener): void {
    this.signalFlow ??= currentFlow()?.request;
    if (this.abortListeners === undefined) this.abortListeners = [listener];
    else this.abortListeners.push(listener);
  }

  /** @internal */
  offAbort(listener: AbortListener): void {
    const listeners = this.abortListeners;
    const at = listeners?.lastIndexOf(listener) ?? -1;
    if (listeners === undefined || at === -1) return;
    const last = listeners.pop();
    if (last !== undefined && last !== listener) listeners[at] = last;
  }

  /** @internal */
  abort(reason: Error): void {
    if (this.phase !== "over") this.stopHandler(reason);
  }

  private stopHandler(reason: Error): void {
    if (this.abortReason !== undefined) return;
    this.abortReason = reason;
    const { controller, abortListeners: listeners } = this;
    if (controller === undefined && listeners === undefined) return;
    this.abortListeners = undefined;
    // Listeners log for this request, wherever the abort comes from.
    resumeFlow(this.signalFlow, abortWith, { controller, listeners, reason });
  }

  /** Whether `error` is the reason that the signal was aborted with. @internal */
  isAbortedWith(error: Error): boolean {
    return error === this.abortReason;
  }

  /** @internal */
  clientGone(): void {
    if (this.phase === "over") return;
    this.endReason = "client gone";
    this.stopHandler(new ClientGoneError());
    this.clientGoneListener?.clientGone();
    for (const listener of this.moreClientGoneListeners ?? []) listener.clientGone();
    if (this.raw.socket === null) closeQueued(this.raw);
  }

  /** Tells `listener` when the client leaves before the answer was handed over. @internal */
  onClientGone(listener: ClientGoneListener): void {
    if (this.clientGoneListener === undefined) this.clientGoneListener = listener;
    else (this.moreClientGoneListeners ??= []).push(listener);
  }

  /** Calls `work` once the answer is sent or the client has left, at once where that is so already. @internal */
  afterResponse(work: () => void): void {
    // Node emits `close` once: a handler may go on after a timeout, after its client has left, or beside its answer.
    if (this.raw.destroyed) return work();
    const flow = currentFlow();
    this.raw.once("close", () => resumeFlow(flow, work, undefined));
  }

  /** The answer is handed over, or will never be. @internal */
  finish(): void {
    this.endReason ??= "handed over";
    this.connection.removeRequest(this);
  }
}

/**
 * Node 20 and 22 close only the answer whose turn it is on the socket, and forget those that wait behind it: a file or a database that is
 * read into one of them would wait for ever.
 */
function closeQueued(raw: ServerResponse): void {
  raw.destroy();
  // A newer Node has emitted `close` by then.
  process.nextTick(() => void (raw.closed || raw.emit("close")));
}

interface Abort {
  readonly controller: AbortController | undefined;
  readonly listeners: readonly AbortListener[] | undefined;
  readonly reason: Error;
}

function abortWith({ controller, listeners = [], reason }: Abort): void {
  for (const listener of listeners) listener.handleEvent();
  controller?.abort(reason);
}
