/**
 * One client connection, and the requests in flight on it. The connection listens to its socket's `close` once, so that no request pays for
 * a separate listener. `Connections` contains all connections of one server.
 */
import { endUnobserved } from "#node-internals";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import type { Clock } from "../../runtime/clock.js";
import { nodeHttp } from "../../runtime/node-http.js";
import { isHalfClosed } from "./half-close.js";
import { readPeer } from "../request/address-blocks.js";
import { QueuedRequests } from "./queued-requests.js";

/** A request in flight: it was accepted, and Node does not have its whole response yet. */
export interface InFlightRequest {
  /** @internal */
  readonly incoming: IncomingMessage;
  /** @internal */
  clientGone(): void;
  /** @internal */
  abort(reason: Error): void;
}

const CONNECTION_KEY = Symbol("connection");

interface ConnectedSocket extends Socket {
  [CONNECTION_KEY]?: Connection;
}

const upgraded = new WeakSet<Duplex>();

/** Every connection of one server, for the drain. */
export class Connections {
  private readonly connections = new Set<Connection>();
  /** Called when the drain starts. They end the responses that do not end by themselves, such as event streams. */
  readonly drainListeners = new Set<() => void>();
  /** The drain has started: the last response of each connection carries `Connection: close`. */
  isDraining = false;
  /** The last of this number of responses of a connection carries `Connection: close`. */
  responsesPerConnection = Infinity;

  beginDrain(): void {
    this.isDraining = true;
    for (const end of this.drainListeners) end();
  }

  add(connection: Connection): void {
    this.connections.add(connection);
  }

  delete(connection: Connection): void {
    this.connections.delete(connection);
  }

  get size(): number {
    return this.connections.size;
  }

  get inFlight(): number {
    let sum = 0;
    for (const connection of this.connections) sum += connection.inFlight;
    return sum;
  }

  *listRequests(): IterableIterator<InFlightRequest> {
    for (const connection of this.connections) yield* connection.listRequests();
  }

  /**
   * Runs `sweep`, in which Node closes its idle connections, and protects two kinds of connections from it. Node counts a connection as
   * idle as soon as `end()` was called, although its response is not sent yet: the response would be lost. Node also counts a half-closed
   * connection as idle.
   */
  sweepIdle(sweep: () => void): void {
    const sockets = [...this.connections].map(({ socket }) => socket);
    spare(
      sockets.filter((socket) => isHalfClosed(socket) || findCurrentResponse(socket) !== undefined),
      sweep,
    );
  }

  /** Destroys the connections that are still open. */
  destroyAll(): void {
    for (const { socket } of this.connections) socket.destroy();
  }

  /** Resolves when the connections that are open now have closed and their requests in flight were notified. */
  async waitUntilClosed(): Promise<void> {
    await Promise.all(
      [...this.connections].map(({ socket }) => new Promise((resolve) => socket.once("close", resolve))),
    );
  }
}

/** Runs `sweep`, which does not destroy these sockets. @internal */
export function spare(sockets: readonly Duplex[], sweep: () => void): void {
  for (const socket of sockets) socket.destroy = () => socket;
  sweep();
  // Without this property the socket has the `destroy` of its class again.
  for (const socket of sockets) Reflect.deleteProperty(socket, "destroy");
}

/** Whether Node queues a response until the earlier responses of its connection are sent. @internal */
export function isQueued({ socket, writableEnded }: ServerResponse): boolean {
  return socket === null && !writableEnded;
}

/** The first response of a connection that Node has not sent whole. @internal */
export function findCurrentResponse(socket: Duplex): ServerResponse | undefined {
  const { [CONNECTION_KEY]: connection } = socket as Duplex & { readonly [CONNECTION_KEY]?: Connection };
  return connection?.currentResponse;
}

/** Whether a socket under Node's parser has no request in flight and no response that is still to be sent. @internal */
export function hasNoPendingResponse(socket: Socket): boolean {
  const { [CONNECTION_KEY]: connection }: ConnectedSocket = socket;
  if (connection !== undefined && connection.inFlight > 0) return false;
  return !isUpgraded(socket) && findCurrentResponse(socket) === undefined && !socket.writableEnded;
}

/** Call it when Node has passed the socket to a listener for `upgrade` or `CONNECT`. @internal */
export function markUpgraded(socket: Duplex): void {
  upgraded.add(socket);
}

/** @internal */
export function isUpgraded(socket: Duplex): boolean {
  return upgraded.has(socket);
}

function isUnsent({ writableFinished, destroyed }: ServerResponse): boolean {
  return !writableFinished && !destroyed;
}

export class Connection {
  /** The address of the peer; `""` for a pipe, which has none. It is read once, because a socket that was reset no longer has it. */
  readonly peer: string;
  /** The client reset the connection before the framework saw its first request: no client waits, and its address is lost. */
  readonly wasReset: boolean;
  /** A response has announced that it is the last one. Requests after it are not processed (RFC 9112 section 9.6). */
  isClosing = false;

  // Nearly always one request is in flight; only pipelining needs the set. The newest request is in a separate field, because a response
  // must know whether it is the last one of its connection.
  private newest: InFlightRequest | undefined;
  private readonly older = new Set<InFlightRequest>();
  private queued: QueuedRequests | undefined;
  private accepted = 0;
  /** Those of accepted requests, in their order, until Node has sent them whole. */
  private responses: ServerResponse[] = [];

  private constructor(
    readonly socket: Socket,
    readonly registry: Connections,
    /** The request's stream in HTTP/2: a client can cancel it and keep the connection. */
    readonly stream: ServerHttp2Stream | undefined,
  ) {
    const { remoteAddress } = socket;
    this.peer = readPeer(remoteAddress ?? "");
    // A pipe has no address at either end.
    this.wasReset = remoteAddress === undefined && socket.localAddress !== undefined;
    registry.add(this);
    // This listener runs before that of Node, which closes the response and thereby ends a request whose response is written by hand. The
    // request is then still in flight, so it is notified that the client has left.
    (stream ?? socket).prependOnceListener("close", () => this.handleClose());
  }

  /** The connection of a request. Its first request creates it. */
  static of(
    { socket, stream }: IncomingMessage & { readonly stream?: ServerHttp2Stream },
    registry: Connections,
  ): Connection {
    if (stream !== undefined) return new Connection(socket, registry, stream);
    const holder: ConnectedSocket = socket;
    return (holder[CONNECTION_KEY] ??= new Connection(socket, registry, undefined));
  }

  /** The scheme that the client used on this connection. */
  get scheme(): "http" | "https" {
    return (this.socket as Partial<TLSSocket>).encrypted === true ? "https" : "http";
  }

  addRequest(request: InFlightRequest): void {
    this.accepted += 1;
    if (this.newest !== undefined) this.older.add(this.newest);
    this.newest = request;
  }

  removeRequest(request: InFlightRequest): void {
    if (this.newest === request) this.newest = undefined;
    else this.older.delete(request);
    this.dropSent();
  }

  /** Adds the response of an accepted request. */
  addResponse(response: ServerResponse): void {
    this.dropSent();
    if (!this.isClosing) this.responses.push(response);
  }

  get currentResponse(): ServerResponse | undefined {
    return this.responses.find(isUnsent);
  }

  private dropSent(): void {
    const { responses } = this;
    while (responses[0] !== undefined && !isUnsent(responses[0])) responses.shift();
  }

  /** Starts a request at once, or when enough earlier requests have their responses. */
  start(response: ServerResponse, clock: Clock, start: () => void): void {
    (this.queued ??= new QueuedRequests(this.socket, clock)).add(response, start);
  }

  /** Whether the connection closes with the response to `request`, which is in flight. */
  closesAfter(request: InFlightRequest): boolean {
    const { isDraining, responsesPerConnection } = this.registry;
    if (!isDraining && this.accepted < responsesPerConnection) return false;
    return this.stream === undefined && this.isLastRequest(request);
  }

  /** Whether `request`, which is in flight, is the last one of the connection so far. */
  isLastRequest(request: InFlightRequest): boolean {
    return this.newest === request && this.waiting === 0;
  }

  get inFlight(): number {
    return (this.newest === undefined ? 0 : 1) + this.older.size + this.waiting;
  }

  private get waiting(): number {
    return this.queued?.length ?? 0;
  }

  listRequests(): InFlightRequest[] {
    return this.newest === undefined ? [...this.older] : [...this.older, this.newest];
  }

  private handleClose(): void {
    this.registry.delete(this);
    for (const request of this.listRequests()) request.clientGone();
    this.newest = undefined;
    this.older.clear();
    this.queued?.dropWaiting();
  }
}

/**
 * A request of a server of the framework. After the response, Node reads the request to its end and notifies its listeners. For a request
 * without a body and without listeners these are eight callbacks without effect, a tenth of the cost of a small response. `endUnobserved`
 * skips them. Not for requests of a server of the caller, whose code may use the requests too.
 */
export class FrameworkRequest extends nodeHttp.IncomingMessage {
  /** Ends a request that has no body and that the application never accessed. Call it after the response is decided. */
  endUnobserved(): void {
    if (this.listenerCount("end") === 0 && this.listenerCount("close") === 0) endUnobserved(this);
  }
}
