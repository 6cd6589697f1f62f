import { once } from "node:events";
import { createServer } from "node:net";

/** Below 32 768, from where the kernel takes the ports of outgoing connections, which would take a free port before its program does. */
const [FIRST, LAST] = [12_000, 32_000] as const;
/** Each process of mocha has its own ports: another process cannot take a port before the program does. */
const SHARES = 8;
const SIZE = (LAST - FIRST) / SHARES;
const share = Number(process.env["MOCHA_WORKER_ID"] ?? process.pid) % SHARES;

let next = Math.floor(Math.random() * SIZE);

/**
 * A free port of 127.0.0.1, for a program that takes its port as a setting. This process gets each port of its share once before it gets
 * one again. The first one is random, because another run may use the same share.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + share * SIZE + (next++ % SIZE);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen({ port, host: "127.0.0.1", exclusive: true });
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
