/** Has a server listen on a socket of the file system. */
import { once } from "node:events";
import type { Server } from "node:net";

export async function listeningOn<S extends Server>(server: S, path: string): Promise<S> {
  server.listen(path);
  await once(server, "listening");
  return server;
}
