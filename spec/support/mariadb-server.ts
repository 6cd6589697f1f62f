/**
 * A MariaDB server for one file of specs, on a free port. Its user is `owner` with the password `sesame-canary`, its database `shop`. A
 * test can kill, pause, resume and restart it. A file borrows a server, which is emptied after it. A file that needs other settings, or
 * changes some, starts a server.
 *
 * @example
 * before(needs("mariadbd"));
 * before(async () => { server = await MariadbServer.borrow(); });
 * after(() => server[Symbol.asyncDispose]());
 */
import { execFileSync } from "node:child_process";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { freePort } from "./free-port.js";
import { LentServers } from "./lent-servers.js";
import { locate } from "./machine.js";
import { ServerProcess } from "./server-process.js";
import { idsOf, type ServerTemplate, templateOf } from "./server-template.js";
import { until } from "./until.js";

export const MARIADB_PASSWORD = "sesame-canary";

const FAST = [
  "--innodb-flush-log-at-trx-commit=0",
  "--innodb-buffer-pool-size=16M",
  "--innodb-log-file-size=8M",
  "--skip-log-bin",
  "--skip-name-resolve",
  "--innodb-lock-wait-timeout=5",
];

const ACCOUNT = [
  "create database shop;",
  `create user 'owner'@'%' identified by '${MARIADB_PASSWORD}';`,
  "grant all on *.* to 'owner'@'%' with grant option;",
].join("\n");

const TEMPLATE: ServerTemplate = { template: "mariadb", user: "mysql", makeTemplate: initialize };

export class MariadbServer implements AsyncDisposable {
  private static readonly lent = new LentServers(() => MariadbServer.launch([], true));

  private constructor(
    readonly port: number,
    private readonly server: ServerProcess,
    private readonly isLent: boolean,
  ) {}

  /** A server with the settings, which ends with its disposal. */
  static start(settings: readonly string[] = []): Promise<MariadbServer> {
    return MariadbServer.launch(settings, false);
  }

  /** An empty server without settings, which the next file borrows after the disposal. */
  static borrow(): Promise<MariadbServer> {
    return MariadbServer.lent.lend();
  }

  private static async launch(settings: readonly string[], isLent: boolean): Promise<MariadbServer> {
    const port = await freePort();
    const server = new ServerProcess({
      program: mariadbd(),
      ...TEMPLATE,
      arguments: (folder) => [
        ...baseArguments(folder),
        `--port=${port}`,
        "--bind-address=127.0.0.1",
        ...FAST,
        ...settings,
      ],
      connects: async () => void (await runOn(port, "select 1")),
      killSignal: "SIGKILL",
    });
    await server.start();
    return new MariadbServer(port, server, isLent);
  }

  get url(): string {
    return `mysql://owner:${MARIADB_PASSWORD}@127.0.0.1:${this.port}/shop`;
  }

  /** Runs SQL as the superuser, without a pool. */
  run(sql: string): Promise<readonly Record<string, unknown>[]> {
    return runOn(this.port, sql);
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
    return this.isLent ? MariadbServer.lent.takeBack(this) : this.end();
  }

  async empty(): Promise<void> {
    this.resume();
    // A client that has left meanwhile is no error.
    for (const { id } of await this.run(CLIENTS)) await this.run(`kill connection ${String(id)}`).catch(() => {});
    await until(async () => (await this.run(CLIENTS)).length === 0);
    const drops = [...(await this.run(DROP_DATABASES)), ...(await this.run(DROP_USERS))];
    await this.run([...drops.map(({ statement }) => String(statement)), "create database shop"].join("; "));
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
}

const CLIENTS =
  "select id from information_schema.processlist where id <> connection_id() and user not in ('system user', 'event_scheduler')";
const DROP_DATABASES =
  "select concat('drop database `', schema_name, '`') as statement from information_schema.schemata where schema_name not in ('information_schema', 'mysql', 'performance_schema', 'sys')";
const DROP_USERS =
  "select concat('drop user ', quote(user), '@', quote(host)) as statement from mysql.user where user not in ('', 'owner', 'root', 'mysql', 'mariadb.sys', 'PUBLIC')";

/** Creates the data folder of all servers, unless there is one, or the server is not installed. */
export function prepareMariadb(): void {
  if (locate("mariadbd") !== undefined) templateOf(TEMPLATE);
}

function mariadbd(): string {
  const found = locate("mariadbd");
  if (found === undefined) throw new Error("mariadbd is not installed (Debian: mariadb-server)");
  return found;
}

/** A server that starts removes the temporary tables of all servers in its `tmpdir`. So no two servers share one. */
function baseArguments(folder: string): readonly string[] {
  const files = [`--tmpdir=${folder}`, `--socket=${folder}/server.sock`, `--pid-file=${folder}/server.pid`];
  return ["--no-defaults", `--datadir=${folder}`, ...files];
}

/** Creates the data folder, and in it account and database, which the bootstrap mode of the server can do without a port. */
function initialize(folder: string): void {
  const ids = idsOf("mysql");
  execFileSync(
    "mariadb-install-db",
    ["--no-defaults", `--datadir=${folder}`, "--skip-test-db", "--innodb-log-file-size=8M"],
    // The script passes no `tmpdir` to the server, which then takes that of the environment.
    { cwd: folder, stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, TMPDIR: folder }, ...ids },
  );
  const input = `flush privileges;\n${ACCOUNT}\n`;
  const bootstrap = [...baseArguments(folder), "--bootstrap", "--skip-networking", "--innodb-log-file-size=8M"];
  execFileSync(mariadbd(), bootstrap, { cwd: folder, input, stdio: ["pipe", "ignore", "pipe"], ...ids });
}

async function runOn(port: number, sql: string): Promise<readonly Record<string, unknown>[]> {
  const login = { user: "owner", password: MARIADB_PASSWORD, database: "shop" };
  const connection = await createConnection({ host: "127.0.0.1", port, ...login, multipleStatements: true });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    connection.destroy();
  }
}
