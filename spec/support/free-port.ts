import { once } from "node:events";
import { createServer } from "node:net";
import { listening } from "./listening.js";

/** A port of the loopback address that was free a moment ago, for a program that has to be told one. */
export async function freePort(): Promise<number> {
  const { server, port } = await listening(createServer());
  server.close();
  await once(server, "close");
  return port;
}
