/**
 * One request and its response, as the stages see them. This class adds the request to `ResponseState`: the client connection, the abort
 * signal, and the listeners for the end of the request. Not for applications: they use `Context`, which adds the public accessors.
 */
import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AbortListener } from "../../runtime/abortable.js";
import type { Clock } from "../../runtime/clock.js";
import { ClientGoneError, type ValidationError } from "../../errors/framework-error.js";
import type { Problem } from "../../errors/problem.js";
import { currentFlow, resumeFlow, type Flow } from "../../tracing/flow.js";
import { ResponseState } from "../response/response-state.js";
import type { TrustedProxies } from "./client-address.js";
import type { Connection } from "../connection/connection.js";
import type { ResponseHead, HeadCompleter } from "../response/response-head.js";
import type { Schema } from "../../runtime/standard-schema.js";
import type { UploadLimits } from "../body/uploads.js";

export interface ClientGoneListener {
  clientGone(): void;
}

/** The part of a route that events name. */
export interface MatchedRoute {
  readonly method: string;
  readonly path: { readonly template: string };
  readonly isDeprecated: boolean;
}

/** Reads the multipart forms of an application. */
export interface UploadReader {
  /** The form, or the schema's output for it. */
  readUploads(exchange: Exchange, schema: Schema | undefined, limits: UploadLimits | undefined): Promise<unknown>;
}

/** Translates the refusals of an application that has languages. */
export interface ProblemTranslator {
  /** The language of the request, as far as it is known without waiting. */
  getLanguageTag(exchange: Exchange): string;
  translateProblem(exchange: Exchange, problem: Problem): Problem;
  translateFields(exchange: Exchange, errors: ValidationError["errors"]): ValidationError["errors"];
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
  /** @internal */
  declare readonly problemTranslator: ProblemTranslator | undefined;
  /** Reports an unhandled error when there is no log subscriber. Only `run()` sets it. @internal */
  declare readonly reportUnhandled: UnhandledErrorReporter | undefined;

  /** @internal */
  extensions: unknown[] | undefined = undefined;
  /** The time of the monotonic clock at which the outermost measuring stage received the request. @internal */
  startedAt: number | undefined = undefined;
  /** The flow of the request's spans. The first stage that opens a span sets it. @internal */
  flow: Flow | undefined = undefined;
  /**
   * The innermost timeout, of a stage or a middleware, that the request has reached. Any other value suspends all timeouts of the request.
   * @internal
   */
  activeTimeout: unknown = undefined;
  /** The matched route, for events. @internal */
  matchedRoute: MatchedRoute | undefined = undefined;
  /** The step of the innermost layer of the application that the request has reached. @internal */
  layerStep: unknown = undefined;
  /** The maximum of body bytes that are read; `undefined`: the default limit of the readers. @internal */
  bodyLimit: number | undefined = undefined;
  /** The application has accessed Node's request. @internal */
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
  }

  // --- the head ---

  /**
   * Registers a completer, which adds headers when the head is sent. This includes refusals and heads that are written by hand. @internal
   */
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
    // The innermost stage adds its headers first, in the order in which the response passes the stages.
    for (let at = completers.length - 1; at >= 0; at--) completers[at]?.complete(this, head);
  }

  // --- abort and end ---

  /** The signal of `ctx.signal`. It is created at the first access. @internal */
  get abortSignal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      // A handler may pass the signal to many calls at once. Node would warn of the eleventh listener.
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

  /** Calls `listener` on abort. No signal is created for it. @internal */
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
    if (this.phase !== "closed") this.stopHandler(reason);
  }

  private stopHandler(reason: Error): void {
    if (this.abortReason !== undefined) return;
    this.abortReason = reason;
    const { controller, abortListeners: listeners } = this;
    if (controller === undefined && listeners === undefined) return;
    this.abortListeners = undefined;
    // Listeners log as part of this request, whichever code aborts it.
    resumeFlow(this.signalFlow, abortWith, { controller, listeners, reason });
  }

  /** Whether `error` is the reason that the signal was aborted with. @internal */
  isAbortedWith(error: Error): boolean {
    return error === this.abortReason;
  }

  /** @internal */
  clientGone(): void {
    if (this.phase === "closed") return;
    this.endReason = "client gone";
    this.stopHandler(new ClientGoneError());
    this.clientGoneListener?.clientGone();
    for (const listener of this.moreClientGoneListeners ?? []) listener.clientGone();
    if (this.raw.socket === null) closeQueued(this.raw);
  }

  /** Calls `listener` if the client leaves before Node has the whole response. @internal */
  onClientGone(listener: ClientGoneListener): void {
    if (this.clientGoneListener === undefined) this.clientGoneListener = listener;
    else (this.moreClientGoneListeners ??= []).push(listener);
  }

  /** Calls `work` when the response is sent or the client has left, or at once if that has already happened. @internal */
  afterResponse(work: () => void): void {
    // Node emits `close` only once, and a handler may run on after its response: after a timeout, or after its client has left.
    if (this.raw.destroyed) return work();
    const flow = currentFlow();
    this.raw.once("close", () => resumeFlow(flow, work, undefined));
  }

  /** Ends the request: Node has the whole response, or no response will follow. @internal */
  finish(): void {
    this.endReason ??= "handed over";
    this.connection.removeRequest(this);
  }
}

/**
 * Node 20 and 22 close only the response that they write to the socket now, and drop the responses that are queued behind it. Without this
 * call, a file or a database cursor that is piped into a queued response would wait for ever.
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
