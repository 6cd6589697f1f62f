import { once } from "node:events";
import { createServer } from "node:net";
import { listening } from "./listening.js";

/** A free port of 127.0.0.1, for a program that takes its port as a setting. Another process may take the port before the program does. */
export async function freePort(): Promise<number> {
  const { server, port } = await listening(createServer());
  server.close();
  await once(server, "close");
  return port;
}
