/**
 * A PostgreSQL server for one file of specs, on a free port. Its superuser is `owner` with the password `sesame-canary`, its database
 * `shop`. A test can kill, pause, resume and restart it. A file borrows a server, which is emptied after it. A file with other settings
 * starts a server.
 *
 * @example
 * before(needs("postgres"));
 * before(async () => { server = await PostgresServer.borrow(); });
 * after(() => server[Symbol.asyncDispose]());
 */
import { execFileSync } from "node:child_process";
import { realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port.js";
import { LentServers } from "./lent-servers.js";
import { locate } from "./machine.js";
import { CLIENTS, EMPTY, END_CLIENTS, LEFT } from "./postgres-emptying.js";
import { ServerProcess } from "./server-process.js";
import { idsOf, type ServerTemplate, templateOf } from "./server-template.js";
import { until } from "./until.js";

export const POSTGRES_PASSWORD = "sesame-canary";

const FAST = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "shared_buffers=16MB",
  "jit=off",
  "deadlock_timeout=50ms",
];

/** Without autovacuum, because its workers would run in any later file that borrows the server. */
const LENT = ["autovacuum=off"];

export class PostgresServer implements AsyncDisposable {
  private static readonly lent = new LentServers(() => PostgresServer.launch(LENT, true));

  /** For the statements of the tests, one after the other: a connection costs more than a statement. */
  private client: Client | undefined = undefined;

  private constructor(
    readonly port: number,
    private readonly server: ServerProcess,
    private readonly isLent: boolean,
  ) {}

  /** A server with the settings, which ends with its disposal. */
  static start(settings: readonly string[] = []): Promise<PostgresServer> {
    return PostgresServer.launch(settings, false);
  }

  /** An empty server without settings, which the next file borrows after the disposal. */
  static borrow(): Promise<PostgresServer> {
    return PostgresServer.lent.lend();
  }

  private static async launch(settings: readonly string[], isLent: boolean): Promise<PostgresServer> {
    const port = await freePort();
    const server = new ServerProcess({
      program: postgres(),
      ...template(),
      arguments: (folder) => ["-D", folder, ...argumentsOf(port, settings)],
      connects: () => responds(port),
      killSignal: "SIGQUIT",
    });
    await server.start();
    return new PostgresServer(port, server, isLent);
  }

  get url(): string {
    return urlOf(this.port, "shop");
  }

  /** Runs SQL as the superuser, without a pool. */
  async run(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = this.client ?? (await this.connect());
    this.client = undefined;
    let isKept = false;
    try {
      const result = await client.query<Record<string, unknown>>(sql);
      isKept = this.keeps(client);
      return result.rows;
    } finally {
      if (!isKept) await client.end();
    }
  }

  kill(): Promise<void> {
    this.client = undefined;
    return this.server.kill();
  }

  pause(): void {
    this.server.pause();
  }

  resume(): void {
    this.server.resume();
  }

  restart(): Promise<void> {
    this.client = undefined;
    return this.server.restart();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.isLent ? PostgresServer.lent.takeBack(this) : this.end();
  }

  async empty(): Promise<void> {
    this.resume();
    await this.run(END_CLIENTS);
    await until(async () => (await this.run(CLIENTS)).length === 0);
    await this.run(EMPTY);
    const [{ count } = {}] = await this.run(LEFT);
    if (count !== 0) throw new Error(`${String(count)} objects are left in PostgreSQL`);
    await this.client?.end();
  }

  end(): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }

  ref(): void {
    this.server.ref();
  }

  unref(): void {
    this.server.unref();
  }

  /** The tests of a server with settings may count its connections. */
  private keeps(client: Client): boolean {
    if (!this.isLent || this.client !== undefined) return false;
    this.client = client;
    return true;
  }

  private async connect(): Promise<Client> {
    const client = await connected(this.port);
    client.once("end", () => {
      if (this.client === client) this.client = undefined;
    });
    return client;
  }
}

/** Creates the data folder of all servers, unless there is one, or the server is not installed. */
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

/** Creates the cluster, and in it the database `shop`. */
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

async function responds(port: number): Promise<void> {
  const client = await connected(port);
  await client.query("select 1");
  await client.end();
}
