/**
 * One client connection and what is in flight on it. The socket's `close` is listened to once a connection, not once a request,
 * so that noticing a client that leaves costs a request next to nothing.
 */
import { IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Duplex } from "node:stream";
import type { Clock } from "../runtime/clock.js";
import { isHalfClosed } from "./half-close.js";
import { readPeer } from "./client-address.js";
import { QueuedRequests } from "./queued-requests.js";

/** A request that was accepted and whose answer is not yet handed over. */
export interface Flight {
  /** @internal */
  readonly incoming: IncomingMessage;
  /** @internal */
  clientGone(): void;
  /** @internal */
  abort(reason: Error): void;
}

const connectionOf = Symbol("connection");

interface ConnectedSocket extends Socket {
  [connectionOf]?: Connection;
  /** Node's; gone where the connection was upgraded. */
  readonly parser?: unknown;
}

/** Every connection of one server, for the drain. */
export class Connections {
  private readonly open = new Set<Connection>();
  /** Set by the drain: from now on an answer behind which none is owed carries `Connection: close`. */
  closing = false;

  add(connection: Connection): void {
    this.open.add(connection);
  }

  delete(connection: Connection): void {
    this.open.delete(connection);
  }

  get size(): number {
    return this.open.size;
  }

  get inFlight(): number {
    let sum = 0;
    for (const connection of this.open) sum += connection.inFlight;
    return sum;
  }

  *flights(): IterableIterator<Flight> {
    for (const connection of this.open) yield* connection.flights();
  }

  /**
   * Runs `sweep`, which has Node close its idle connections, and keeps it off those whose answer is handed over and not yet sent:
   * Node takes them for idle as soon as `end()` was called, and the answer would be lost. The same holds for those that are half closed.
   */
  sparing(sweep: () => void): void {
    const sockets = [...this.open].map(({ socket }) => socket);
    const leaving = sockets.flatMap((socket) => messageOn(socket) ?? []).filter(isLeaving);
    const closing = sockets.filter(isHalfClosed);
    for (const message of leaving) message.finished = false;
    for (const socket of closing) socket.destroy = () => socket;
    sweep();
    for (const message of leaving) message.finished = true;
    // What stays is the method of its class.
    for (const socket of closing) Reflect.deleteProperty(socket, "destroy");
  }

  /** Destroys whatever is still open. */
  destroyAll(): void {
    for (const { socket } of this.open) socket.destroy();
  }

  /** Resolves when the sockets that are open now have closed, and everyone in flight on them has been told. */
  async closed(): Promise<void> {
    await Promise.all([...this.open].map(({ socket }) => new Promise((resolve) => socket.once("close", resolve))));
  }
}

/** Whether Node keeps a response back until those before it on its connection are out. @internal */
export function isQueued(response: ServerResponse, socket: Socket): boolean {
  return response.socket === null && messageOn(socket) !== undefined;
}

/** The answer that a socket is at; there is no public name for it. @internal */
export function messageOn(socket: Duplex): ServerResponse | undefined {
  const { _httpMessage: message } = socket as Duplex & { readonly _httpMessage?: ServerResponse | null };
  return message ?? undefined;
}

/** Whether a client waits for nothing on a socket that Node parses: no request is in flight, and no answer is on its way. @internal */
export function owesNothing(socket: Socket): boolean {
  const { [connectionOf]: connection }: ConnectedSocket = socket;
  if (connection !== undefined && connection.inFlight > 0) return false;
  return !isUpgraded(socket) && messageOn(socket) === undefined && !socket.writableEnded;
}

/** Whether Node has handed the socket over, to a listener for `upgrade` or `CONNECT`. @internal */
export function isUpgraded({ parser }: ConnectedSocket): boolean {
  return parser === undefined || parser === null;
}

// `writableEnded` and its kin are derived from `finished`; that is the one Node's sweep looks at.
function isLeaving(message: ServerResponse): boolean {
  return message.writableEnded && !message.writableFinished;
}

export class Connection {
  /** The other end's address; `""` where there is none (a pipe). Asked for once: a socket that was reset no longer knows it. */
  readonly peer: string;
  /** The client reset the connection before its first request was seen: nobody waits for an answer, and nobody could be named. */
  readonly wasReset: boolean;
  /** An answer said that it is the last: what comes behind it is not processed (RFC 9112 section 9.6). */
  isClosing = false;

  // Nearly always there is one request at a time; only pipelining needs the set. The newest request is apart until its own end, so
  // that it is known whether an answer is the last in order.
  private newest: Flight | undefined;
  private readonly older = new Set<Flight>();
  private queued: QueuedRequests | undefined;

  private constructor(
    readonly socket: Socket,
    readonly registry: Connections,
    /** Of HTTP/2, where each request has a stream, which a client can cancel alone. */
    readonly stream: Duplex | undefined,
  ) {
    const { remoteAddress } = socket;
    this.peer = readPeer(remoteAddress ?? "");
    // A pipe has no address at either end.
    this.wasReset = remoteAddress === undefined && socket.localAddress !== undefined;
    registry.add(this);
    // Before Node closes the answer: whoever writes one by hand is in flight until then, and has to hear that the client left.
    (stream ?? socket).prependOnceListener("close", () => this.closed());
  }

  /** The connection of a request; made at first sight. */
  static of({ socket, stream }: IncomingMessage & { readonly stream?: Duplex }, registry: Connections): Connection {
    if (stream !== undefined) return new Connection(socket, registry, stream);
    const holder: ConnectedSocket = socket;
    return (holder[connectionOf] ??= new Connection(socket, registry, undefined));
  }

  /** The scheme that the client used on this connection. */
  get scheme(): "http" | "https" {
    return (this.socket as Partial<TLSSocket>).encrypted === true ? "https" : "http";
  }

  begin(flight: Flight): void {
    if (this.newest !== undefined) this.older.add(this.newest);
    this.newest = flight;
  }

  end(flight: Flight): void {
    if (this.newest === flight) this.newest = undefined;
    else this.older.delete(flight);
  }

  /** Starts a request, at once or when enough of those before it are answered. */
  start(response: ServerResponse, clock: Clock, start: () => void): void {
    (this.queued ??= new QueuedRequests(this.socket, clock)).add(response, start);
  }

  /** Whether no request came behind that of `flight`, which is in flight. */
  endsWith(flight: Flight): boolean {
    return this.newest === flight && this.waiting === 0;
  }

  get inFlight(): number {
    return (this.newest === undefined ? 0 : 1) + this.older.size + this.waiting;
  }

  private get waiting(): number {
    return this.queued?.length ?? 0;
  }

  flights(): Flight[] {
    return this.newest === undefined ? [...this.older] : [...this.older, this.newest];
  }

  private closed(): void {
    this.registry.delete(this);
    for (const flight of this.flights()) flight.clientGone();
    this.newest = undefined;
    this.older.clear();
    this.queued?.forgetWaiting();
  }
}

// The requests of a server of ours. When an answer is out, Node reads what is left of its request, so that whoever listens hears of the
// end: for one without a body that is eight callbacks about nothing, a tenth of the price of a small answer. Where nobody listens,
// and nobody was handed the request who still could, it is over at once.
//
// Not for requests of somebody else's server, whose owner holds them as well.

/**
 * Node's names for a request that was read to its end; there are no public ones. Since version 24.12 it sets them itself, for all requests
 * without a body, on servers that are told to (`optimizeEmptyRequests`). Where they are missing, the request ends the long way.
 */
interface Inside {
  _dumped: boolean;
  readonly _readableState:
    Record<"ended" | "endEmitted" | "destroyed" | "closed" | "closeEmitted", boolean> | undefined;
}

export class OwnRequest extends IncomingMessage {
  /** To be called when the answer is decided, of a request without a body that was never handed out. */
  endUnheard(): void {
    if (this.listenerCount("end") > 0 || this.listenerCount("close") > 0) return;
    // Node declares only what is public.
    const inside = this as unknown as Inside;
    const { _readableState: state } = inside;
    if (state === undefined) return;
    inside._dumped = true;
    state.ended = true;
    state.endEmitted = true;
    state.destroyed = true;
    state.closed = true;
    state.closeEmitted = true;
  }
}
