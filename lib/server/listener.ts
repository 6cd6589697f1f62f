/**
 * The listening end of an application, whoever made it: a server of ours on a port or a socket path, an `http.Server` or `https.Server`
 * that was handed in, or a bare `net.Server` or `tls.Server` whose connections are given to a server of ours.
 */
import http from "node:http";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
import { isUpgraded, messageOn, owesNothing } from "../http/connection.js";
import { FrameworkError } from "../errors/framework-error.js";
import { hideStack } from "../errors/diagnostic.js";
import { attach, createServer, type RequestListener } from "./server.js";

/** Where to listen: a port of a host, or the path of a socket or pipe. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/** All that Node's sweep asks of an answer. */
const UNFINISHED = { finished: false };

export class Listener {
  /** Resolves when nothing listens and no connection is left. */
  readonly closed: Promise<void>;
  /** Connections so far. */
  accepted = 0;
  /** Every TCP connection; under TLS, what carries the encrypted bytes. */
  private readonly carriers = new Set<net.Socket>();
  /** What carries the requests: the same sockets, or those of TLS once their handshake is done. */
  private readonly sockets = new Set<net.Socket>();
  private over = false;

  private constructor(
    private readonly listener: net.Server,
    private readonly server: http.Server,
  ) {
    listener.on("connection", (socket: net.Socket) => {
      this.accepted += 1;
      track(socket, this.carriers);
    });
    listener.on(connectionEvent(listener), (socket: net.Socket) => track(socket, this.sockets));
    this.closed = new Promise((resolve) => {
      listener.once("close", () => {
        this.over = true;
        resolve();
      });
    });
  }

  /** Binds a server of our own. Rejects with `E_LISTEN`, naming the place, where that is refused. */
  static async open(place: ListenAddress, listener: RequestListener): Promise<Listener> {
    const server = createServer(listener);
    await new Promise<void>((resolve, reject) => {
      server.once("error", (cause: NodeJS.ErrnoException) => reject(cannotListen(place, cause)));
      server.listen(place, () => resolve());
    });
    server.removeAllListeners("error");
    return new Listener(server, server);
  }

  /** Serves on a listener that is bound already. An `http.Server` keeps its settings, and must not have a request listener. */
  static over(listener: net.Server | http.Server | https.Server, requests: RequestListener): Listener {
    if (isHttp2(listener)) throw http2Server();
    if (listener instanceof http.Server || listener instanceof https.Server) {
      if (listener.listenerCount("request") > 0) throw serverTaken();
      attach(listener, requests);
      return new Listener(listener, listener);
    }
    const server = createServer(requests);
    // Without this Node never starts to watch the server's timeouts and idle connections.
    server.emit("listening");
    listener.on(connectionEvent(listener), (socket) => server.emit("connection", socket));
    return new Listener(listener, server);
  }

  get address(): net.AddressInfo | string | null {
    return this.listener.address();
  }

  /** The scheme of its URLs. */
  get scheme(): "http" | "https" {
    return this.listener instanceof tls.Server ? "https" : "http";
  }

  get isClosed(): boolean {
    return this.over;
  }

  /** No new connections; the idle ones are closed. */
  stop(): void {
    this.sparingUnasked(() => {
      this.listener.close();
      this.server.closeIdleConnections();
    });
  }

  closeIdle(): void {
    this.sparingUnasked(() => this.server.closeIdleConnections());
  }

  /**
   * Closes connections on which nobody waits for an answer and which Node does not take for idle: nothing has come, or half a head, or
   * not all of a body whose request is answered.
   */
  closeUnasked(): void {
    for (const socket of this.carriers) if (socket.bytesRead === 0) socket.destroy();
    for (const socket of this.sockets) if (owesNothing(socket)) socket.destroy();
  }

  /** Ends the connections that were handed over by an upgrade: what was written to them still arrives. */
  endUpgraded(): void {
    for (const socket of this.sockets) {
      // Their owner may write once more, which is an error from here on.
      if (isUpgraded(socket)) socket.on("error", () => socket.destroy()).end();
    }
  }

  /** Destroys all connections; Node's own way leaves out those that were upgraded. */
  closeAll(): void {
    this.server.closeAllConnections();
    for (const socket of this.carriers) socket.destroy();
  }

  /** How many connections there are, idle ones included. */
  count(): Promise<number> {
    return new Promise((resolve) => {
      this.listener.getConnections((error, count) => resolve(error === null ? count : 0));
    });
  }

  /**
   * Keeps Node's sweep off connections on which nothing has come. Node 26 takes them for idle, and their first request may be on its
   * way. The sweep leaves a connection whose answer is not finished.
   */
  private sparingUnasked(sweep: () => void): void {
    const unasked = [...this.sockets].filter((socket) => socket.bytesRead === 0 && messageOn(socket) === undefined);
    for (const socket of unasked) Reflect.set(socket, "_httpMessage", UNFINISHED);
    sweep();
    for (const socket of unasked) Reflect.set(socket, "_httpMessage", null);
  }
}

function track(socket: net.Socket, sockets: Set<net.Socket>): void {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
}

/** Under TLS the requests come by another socket, which is there after the handshake. */
function connectionEvent(listener: net.Server): "connection" | "secureConnection" {
  return listener instanceof tls.Server ? "secureConnection" : "connection";
}

/** Node does not export the classes of these servers. */
function isHttp2(listener: net.Server): boolean {
  return "updateSettings" in listener;
}

/** One line, whatever the operating system had to say. @internal */
export function cannotListen(place: ListenAddress, cause: NodeJS.ErrnoException): FrameworkError {
  const where = "path" in place ? place.path : `${place.host}:${place.port}`;
  const error = new FrameworkError(`cannot listen on ${where}: ${reasonOf(place, cause)}`, { code: "E_LISTEN" });
  hideStack(error);
  return error;
}

function reasonOf(place: ListenAddress, { code, message }: NodeJS.ErrnoException): string {
  if (code === "EADDRINUSE") return "the address is in use; stop the other process or choose another port";
  if (code === "EACCES") return `permission denied${"path" in place ? "" : "; ports below 1024 need a privilege"}`;
  if (code === "EADDRNOTAVAIL") return "this machine has no such address; check .bind(…)";
  return message;
}

function http2Server(): FrameworkError {
  return new FrameworkError(
    "serve() was given an HTTP/2 server, and speaks HTTP/1.1; give that server application.callback() as its request listener",
    { code: "E_SERVER_HTTP2" },
  );
}

function serverTaken(): FrameworkError {
  return new FrameworkError(
    "serve() was given an http.Server that has a request listener already; hand in a bare one",
    {
      code: "E_SERVER_TAKEN",
    },
  );
}
