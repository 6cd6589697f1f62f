/**
 * A PostgreSQL server for one file of specs, on a free port. Its superuser is `owner` with the password `sesame-canary`, its database
 * `shop`. A test can kill, pause, resume and restart it.
 *
 * @example
 * before(needs("postgres"));
 * before(async () => { server = await PostgresServer.start(); });
 * after(() => server[Symbol.asyncDispose]());
 */
import { execFileSync } from "node:child_process";
import { realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port.js";
import { locate } from "./machine.js";
import { idsOf, ServerProcess, type ServerTemplate, templateOf } from "./server-process.js";

export const POSTGRES_PASSWORD = "sesame-canary";

const FAST = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "shared_buffers=16MB",
  "jit=off",
  "deadlock_timeout=50ms",
];

export class PostgresServer implements AsyncDisposable {
  private constructor(
    readonly port: number,
    private readonly server: ServerProcess,
  ) {}

  static async start(settings: readonly string[] = []): Promise<PostgresServer> {
    const port = await freePort();
    const server = new ServerProcess({
      program: postgres(),
      ...template(),
      arguments: (folder) => ["-D", folder, ...argumentsOf(port, settings)],
      connects: () => run(port, "select 1"),
      killSignal: "SIGQUIT",
    });
    await server.start();
    return new PostgresServer(port, server);
  }

  get url(): string {
    return urlOf(this.port, "shop");
  }

  /** Runs SQL as the superuser, past every pool. */
  async run(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = await connected(this.port);
    try {
      const result = await client.query<Record<string, unknown>>(sql);
      return result.rows;
    } finally {
      await client.end();
    }
  }

  kill(): Promise<void> {
    return this.server.kill();
  }

  pause(): void {
    this.server.pause();
  }

  resume(): void {
    this.server.resume();
  }

  restart(): Promise<void> {
    return this.server.restart();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}

/** Makes the data folder of all servers, unless there is one, or the server is not installed. */
export function preparePostgres(): void {
  if (locate("postgres") !== undefined) templateOf(template());
}

function template(): ServerTemplate {
  const version = basename(dirname(dirname(postgres())));
  return { template: `postgres-small-${version}`, user: "postgres", makeTemplate: initialize };
}

function postgres(): string {
  const found = locate("postgres");
  if (found === undefined) throw new Error("postgres is not installed (Debian: postgresql)");
  // The programs beside it, and the version in its path, are those of the file that a link points to.
  return realpathSync(found);
}

/**
 * The statements of the single-user mode, which needs no port, by the database where they run. The cluster has one database in the end,
 * because each start of a server copies all files.
 */
const STATEMENTS = [
  ["template1", ["alter database postgres rename to shop"]],
  ["shop", ["update pg_database set datistemplate = false", "drop database template0", "drop database template1"]],
] as const;

/** Makes the cluster, and in it the database `shop`. */
function initialize(folder: string): void {
  const passwordFile = `${folder}.password`;
  const options = {
    cwd: folder,
    stdio: ["pipe", "ignore", "pipe"] as ["pipe", "ignore", "pipe"],
    ...idsOf("postgres"),
  };
  writeFileSync(passwordFile, POSTGRES_PASSWORD, { mode: 0o644 });
  const settings = [
    "--wal-segsize=1",
    "--no-sync",
    "--auth=scram-sha-256",
    "--username=owner",
    `--pwfile=${passwordFile}`,
    "--no-locale",
  ];
  try {
    execFileSync(join(dirname(postgres()), "initdb"), ["-D", folder, "-E", "UTF8", ...settings], options);
    for (const [database, statements] of STATEMENTS) {
      const input = `${statements.join("\n")}\n`;
      execFileSync(postgres(), ["--single", "-D", folder, database], { ...options, input });
    }
  } finally {
    rmSync(passwordFile);
  }
}

function argumentsOf(port: number, settings: readonly string[]): readonly string[] {
  const all = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", ...FAST, ...settings];
  return all.flatMap((setting) => ["-c", setting]);
}

function urlOf(port: number, database: string): string {
  return `postgres://owner:${POSTGRES_PASSWORD}@127.0.0.1:${port}/${database}`;
}

async function connected(port: number): Promise<Client> {
  const client = new Client(urlOf(port, "shop"));
  // A test that kills the server kills this connection too.
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function run(port: number, sql: string): Promise<void> {
  const client = await connected(port);
  await client.query(sql);
  await client.end();
}
