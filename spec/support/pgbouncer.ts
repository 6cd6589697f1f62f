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

  static async start({ port: target }: PostgresServer): Promise<PgBouncer> {
    const port = await freePort();
    const url = `postgres://owner:${POSTGRES_PASSWORD}@127.0.0.1:${port}/shop`;
    const server = new ServerProcess({
      program: locate("pgbouncer") ?? "pgbouncer",
      user: "postgres",
      template: "pgbouncer",
      makeTemplate: () => {},
      arguments: (folder) => {
        const file = join(folder, "pgbouncer.ini");
        writeFileSync(file, settings(port, target));
        return [file];
      },
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

function settings(port: number, target: number): string {
  return [
    "[databases]",
    `shop = host=127.0.0.1 port=${target} user=owner password=${POSTGRES_PASSWORD}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "",
  ].join("\n");
}
