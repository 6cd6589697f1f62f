import { once } from "node:events";
import { createServer } from "node:net";

/** Below 32 768, from where the kernel takes the ports of outgoing connections, which would take a free port before its program does. */
const [FIRST, LAST] = [12_000, 32_000] as const;

/**
 * A free port of 127.0.0.1, for a program that takes its port as a setting. Random, because files run at the same time; another process
 * may still take it before the program does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
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
