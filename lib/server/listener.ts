/**
 * The listener of an application and its connections. It is either a server of the framework on a port or a socket path, or a listener
 * of the caller: an `http.Server` or `https.Server`, or a `net.Server` or `tls.Server` whose connections go to a server of the framework.
 */
import type http from "node:http";
import type https from "node:https";
import type net from "node:net";
import { hasNoPendingResponse, isUpgraded, spare } from "../http/connection/connection.js";
import { FrameworkError } from "../errors/framework-error.js";
import { hideStack } from "../errors/diagnostic.js";
import { attach, createServer, type RequestListener } from "./server.js";
import { createSetupError } from "../errors/setup-error.js";

/** The address of a listener: a port of a host, or the path of a socket or pipe. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/**
 * Extends the server of an application before it listens, for example by a listener for `upgrade`. The signal aborts when the drain starts.
 * The listener for requests of the application is already added.
 */
export type ServerAttachment = (server: http.Server, draining: AbortSignal) => void | Promise<void>;

export class Listener {
  /** Resolves when the listener has stopped and no connection is left. */
  readonly closed: Promise<void>;
  /** The number of connections that were accepted so far. */
  accepted = 0;
  /** Every TCP connection; under TLS the sockets with the encrypted bytes. */
  private readonly tcpSockets = new Set<net.Socket>();
  /** The sockets of the requests: the same ones, or under TLS the decrypted ones after their handshake. */
  private readonly httpSockets = new Set<net.Socket>();
  private readonly draining = new AbortController();
  private hasClosed = false;

  private constructor(
    private readonly listener: net.Server,
    private readonly server: http.Server,
  ) {
    listener.on("connection", (socket: net.Socket) => {
      this.accepted += 1;
      track(socket, this.tcpSockets);
    });
    listener.on(connectionEvent(listener), (socket: net.Socket) => track(socket, this.httpSockets));
    this.closed = new Promise((resolve) => {
      listener.once("close", () => {
        this.hasClosed = true;
        resolve();
      });
    });
  }

  /**
   * Creates a server, calls `attachments` one after the other, and listens on `address`.
   *
   * @throws FrameworkError `E_LISTEN`, which names the address
   */
  static async open(
    address: ListenAddress,
    requests: RequestListener,
    attachments: readonly ServerAttachment[],
  ): Promise<Listener> {
    const server = createServer(requests);
    const listener = new Listener(server, server);
    try {
      await listener.attach(attachments);
      await listen(server, address);
    } catch (error) {
      listener.beginDrain();
      // An attachment may have called `listen`.
      server.close();
      throw error;
    }
    return listener;
  }

  /**
   * Serves on a listener that listens already. An `http.Server` keeps its settings.
   *
   * @throws FrameworkError `E_SERVER_TAKEN` for a server with a request listener, `E_SERVER_HTTP2` for an HTTP/2 server
   */
  static fromExisting(listener: net.Server | http.Server | https.Server, requests: RequestListener): Listener {
    if (isHttp2(listener))
      throw createSetupError(
        "E_SERVER_HTTP2",
        "serve() cannot use an HTTP/2 server; give that server application.callback() as its request listener",
      );
    if (isHttpServer(listener)) {
      if (listener.listenerCount("request") > 0)
        throw createSetupError(
          "E_SERVER_TAKEN",
          "serve() was given an http.Server that has a request listener already; give it one without",
        );
      attach(listener, requests);
      return new Listener(listener, listener);
    }
    const server = createServer(requests);
    // Node starts to check the server's timeouts and idle connections with this event.
    server.emit("listening");
    listener.on(connectionEvent(listener), (socket) => server.emit("connection", socket));
    return new Listener(listener, server);
  }

  async attach(attachments: readonly ServerAttachment[]): Promise<void> {
    for (const attachment of attachments) await attachment(this.server, this.draining.signal);
  }

  /** Notifies the code that handles upgraded connections. */
  beginDrain(): void {
    this.draining.abort();
  }

  get address(): net.AddressInfo | string | null {
    return this.listener.address();
  }

  /** The scheme of the application's URLs. */
  get scheme(): "http" | "https" {
    return hasTls(this.listener) ? "https" : "http";
  }

  get isClosed(): boolean {
    return this.hasClosed;
  }

  /** Accepts no more connections and closes the idle ones. */
  stop(): void {
    this.beginDrain();
    this.closeExceptUnused(() => {
      this.listener.close();
      this.server.closeIdleConnections();
    });
  }

  /** Closes the connections that have served a request and wait for the next one. */
  closeIdle(): void {
    this.closeExceptUnused(() => this.server.closeIdleConnections());
  }

  /**
   * Closes the connections without a pending response that Node does not count as idle: those that have sent no byte, those that have sent
   * a part of a head, and those that have sent a part of a body whose response is already sent.
   */
  closeSilent(): void {
    for (const socket of this.tcpSockets) if (socket.bytesRead === 0) socket.destroy();
    for (const socket of this.httpSockets) if (hasNoPendingResponse(socket)) socket.destroy();
  }

  /** Ends the connections that were upgraded. Bytes that were written to them still arrive. */
  endUpgraded(): void {
    for (const socket of this.httpSockets) {
      // The code that handles the socket may still write to it, which causes an error from now on.
      if (isUpgraded(socket)) socket.on("error", () => socket.destroy()).end();
    }
  }

  /** Destroys all connections. `server.closeAllConnections()` alone leaves upgraded ones open. */
  closeAll(): void {
    this.server.closeAllConnections();
    for (const socket of this.tcpSockets) socket.destroy();
  }

  /** The number of connections, with the idle ones. */
  count(): Promise<number> {
    return new Promise((resolve) => {
      this.listener.getConnections((error, count) => resolve(error === null ? count : 0));
    });
  }

  /**
   * Runs `close`, which closes Node's idle connections, and spares those that have sent no byte: their first request may be under way. Node
   * 26 counts them as idle.
   */
  private closeExceptUnused(close: () => void): void {
    spare(
      [...this.httpSockets].filter(({ bytesRead }) => bytesRead === 0),
      close,
    );
  }
}

function listen(server: http.Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException): void => reject(createListenError(address, cause));
    // Prepended, because the listeners of an attachment may throw.
    server.prependOnceListener("error", fail);
    server.listen(address, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

function track(socket: net.Socket, sockets: Set<net.Socket>): void {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
}

/** Under TLS the requests come on another socket, which exists after the handshake. */
function connectionEvent(listener: net.Server): "connection" | "secureConnection" {
  return hasTls(listener) ? "secureConnection" : "connection";
}

// The classes of `node:https` and `node:tls` are not imported: these modules slow the start of an application that uses neither.

function isHttpServer(listener: net.Server): listener is http.Server | https.Server {
  return "closeIdleConnections" in listener;
}

function hasTls(listener: net.Server): boolean {
  return "setSecureContext" in listener;
}

/** Node does not export the classes of HTTP/2 servers. */
function isHttp2(listener: net.Server): boolean {
  return "updateSettings" in listener;
}

/** @internal */
export function createListenError(address: ListenAddress, cause: NodeJS.ErrnoException): FrameworkError {
  const where = "path" in address ? address.path : `${address.host}:${address.port}`;
  const error = new FrameworkError(`cannot listen on ${where}: ${describeReason(address, cause)}`, {
    code: "E_LISTEN",
  });
  hideStack(error);
  return error;
}

function describeReason(address: ListenAddress, { code, message }: NodeJS.ErrnoException): string {
  if (code === "EADDRINUSE") return "the address is in use; stop the other process or choose another port";
  if (code === "EACCES") return `permission denied${"path" in address ? "" : "; ports below 1024 need a privilege"}`;
  if (code === "EADDRNOTAVAIL") return "this machine has no such address; check .bind(…)";
  return message;
}
