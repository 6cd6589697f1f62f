/** Starts a server on a free port of 127.0.0.1. Disposal closes it at the end of the test. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo, Server } from "node:net";

export interface Listening<T extends Server> extends Disposable {
  readonly server: T;
  readonly port: number;
  readonly url: string;
}

export async function listening<T extends Server>(server: T): Promise<Listening<T>> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener's address is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => close(server) };
}

function close(server: Server): void {
  server.close();
  if (server instanceof http.Server) server.closeAllConnections();
}
