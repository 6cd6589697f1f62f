/**
 * PgBouncer in its transaction mode before a PostgreSQL server of the specs, as Debian configures it: it takes each user, and no start-up
 * parameter that it does not know.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port.js";
import { locate } from "./machine.js";
import { POSTGRES_PASSWORD, type PostgresServer } from "./postgres-server.js";
import { ServerProcess } from "./server-process.js";

export class PgBouncer implements AsyncDisposable {
  private constructor(
    readonly url: string,
    private readonly server: ServerProcess,
  ) {}

  /** @param write writes other files into the folder, for a user whom they name. @returns the file of settings */
  static async start(
    { port: target }: PostgresServer,
    user = `owner:${POSTGRES_PASSWORD}`,
    write = writeSettings,
  ): Promise<PgBouncer> {
    const port = await freePort();
    const url = `postgres://${user}@127.0.0.1:${port}/shop`;
    const server = new ServerProcess({
      program: locate("pgbouncer") ?? "pgbouncer",
      user: "postgres",
      template: "pgbouncer",
      makeTemplate: () => {},
      arguments: (folder) => [write(folder, port, target)],
      connects: async () => {
        const client = new Client({ connectionString: url });
        await client.connect();
        await client.end();
      },
      killSignal: "SIGKILL",
    });
    await server.start();
    return new PgBouncer(url, server);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}

function writeSettings(folder: string, port: number, target: number): string {
  const file = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `shop = host=127.0.0.1 port=${target} user=owner password=${POSTGRES_PASSWORD}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "",
  ];
  writeFileSync(file, lines.join("\n"));
  return file;
}
