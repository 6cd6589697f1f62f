/**
 * A MariaDB server for one file of specs, on a free port. Its user is `owner` with the password `sesame-canary`, its database `shop`. A
 * test can kill, pause, resume and restart it.
 *
 * @example
 * before(needs("mariadbd"));
 * before(async () => { server = await MariadbServer.start(); });
 * after(() => server[Symbol.asyncDispose]());
 */
import { execFileSync } from "node:child_process";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { freePort } from "./free-port.js";
import { locate } from "./machine.js";
import { idsOf, ServerProcess, type ServerTemplate, templateOf } from "./server-process.js";

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
  private constructor(
    readonly port: number,
    private readonly server: ServerProcess,
  ) {}

  static async start(settings: readonly string[] = []): Promise<MariadbServer> {
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
    return new MariadbServer(port, server);
  }

  get url(): string {
    return `mysql://owner:${MARIADB_PASSWORD}@127.0.0.1:${this.port}/shop`;
  }

  /** Runs SQL as the owner of everything, past every pool. */
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
    return this.server[Symbol.asyncDispose]();
  }
}

/** Makes the data folder of all servers, unless there is one, or the server is not installed. */
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

/** Makes the data folder, and in it account and database, which the bootstrap mode of the server can do without a port. */
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
