/** TLS to PostgreSQL and MariaDB: a certificate is checked, by authority and by name, and plain text is refused where TLS is required. */
import { type DatabaseDriver } from "@stagecraft/framework/db";
import { expect } from "chai";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { mysql } from "../../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../../lib/db/drivers/postgres/postgres-driver.js";
import { Certificate } from "../../support/certificate.js";
import { needs } from "../../support/machine.js";
import { MARIADB_PASSWORD, MariadbServer } from "../../support/mariadb-server.js";
import { POSTGRES_PASSWORD, PostgresServer } from "../../support/postgres-server.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";

interface Engine {
  readonly name: string;
  readonly program: "postgres" | "mariadbd";
  readonly user: string;
  readonly start: (certificate: Certificate) => Promise<PostgresServer | MariadbServer>;
  readonly driver: (options: { readonly url: string; readonly tls?: Tls }) => DatabaseDriver;
  /** The parameter of the URL. */
  readonly mode: string;
  /** Returns a row with the name of the cipher, or without it where the connection is plain text. */
  readonly cipher: string;
  /** An account `secured` that must use TLS. */
  readonly account: string;
  /** A statement that takes long. */
  readonly slow: string;
  /** The bytes of a control connection without TLS. */
  readonly cancel: Buffer;
}

type Tls = boolean | { readonly ca: string };

const LOGIN_RULES = ["hostnossl all secured 127.0.0.1/32 reject", "host all all 127.0.0.1/32 scram-sha-256", ""];

const ENGINES: readonly Engine[] = [
  {
    name: "PostgreSQL",
    program: "postgres",
    user: "postgres",
    start: async (certificate) => {
      const rules = await certificate.write("hba.conf", LOGIN_RULES.join("\n"));
      const files = [`ssl_cert_file=${certificate.file}`, `ssl_key_file=${certificate.keyFile}`, `hba_file=${rules}`];
      return PostgresServer.start(["ssl=on", ...files]);
    },
    driver: postgres,
    mode: "sslmode",
    cipher: "select cipher from pg_stat_ssl where pid = pg_backend_pid()",
    account: `create role secured login password '${POSTGRES_PASSWORD}'`,
    slow: "select pg_sleep(30)",
    // The code of a cancel request, 80877102.
    cancel: Buffer.from("04d2162e", "hex"),
  },
  {
    name: "MariaDB",
    program: "mariadbd",
    user: "mysql",
    start: ({ file, keyFile }) => MariadbServer.start([`--ssl-cert=${file}`, `--ssl-key=${keyFile}`]),
    driver: mysql,
    mode: "ssl-mode",
    cipher: "select variable_value as cipher from information_schema.session_status where variable_name = 'Ssl_cipher'",
    account:
      `create user 'secured'@'%' identified by '${MARIADB_PASSWORD}' require ssl; ` +
      "grant all on shop.* to 'secured'@'%'",
    slow: "select sleep(30)",
    cancel: Buffer.from("kill query"),
  },
];

for (const { name, program, user, start, driver: driverOf, mode, cipher, account, slow, cancel } of ENGINES)
  describe(`TLS to ${name}`, function () {
    this.timeout(60_000);
    let certificate: Certificate;
    let server: PostgresServer | MariadbServer;
    const drivers: DatabaseDriver[] = [];

    before(needs(program));
    before(needs("openssl"));
    before(async () => {
      certificate = await Certificate.for(user);
      server = await start(certificate);
      await server.run(account);
    });
    afterEach(async () => {
      await Promise.all(drivers.splice(0).map((driver) => driver.stop()));
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await certificate[Symbol.asyncDispose]();
    });

    function driverAt(host: string, { as = "owner", parameter = "", tls }: Account = {}): DatabaseDriver {
      const url = server.url.replace("127.0.0.1", host).replace("owner", as) + parameter;
      const driver = driverOf({ url, ...(tls !== undefined && { tls }) });
      drivers.push(driver);
      return driver;
    }

    it("is used with the authority that the application gives", async () => {
      expect(await cipherOf(driverAt("localhost", { tls: { ca: certificate.text } }), cipher)).to.match(/^TLS_/);
    });

    it("is not used unless asked for", async () => {
      expect(await cipherOf(driverAt("localhost"), cipher)).to.be.oneOf([null, ""]);
    });

    it("is used without a check where the URL says so", async () => {
      expect(await cipherOf(driverAt("localhost", { parameter: `?${mode}=no-verify` }), cipher)).to.match(/^TLS_/);
    });

    it("hides the cancel of a statement too, on its control connection", async () => {
      for (const tls of [{ ca: certificate.text }, false]) {
        await using wire = await Wire.to(server.port);
        const url = server.url.replace(`127.0.0.1:${server.port}`, `localhost:${wire.port}`);
        const driver = driverOf({ url, tls });
        drivers.push(driver);
        const connection = await driver.connect({ readOnly: false });
        const ending = new AbortController();
        const left = new Error("the client left");
        const statement = { sql: slow, parameters: [], isRead: true, signal: ending.signal };
        const failed = rejectionOf(Promise.resolve(connection.query(statement)));
        await until(async () => (await running(server, slow)) > 0);
        ending.abort(left);

        expect(await failed).to.equal(left);
        expect(wire.connections).to.equal(2);
        expect(wire.sent().includes(cancel)).to.equal(tls === false);
        connection.release();
      }
    });

    it("is refused with an unknown authority", async () => {
      await using other = await Certificate.for(user);

      for (const given of [{ tls: { ca: other.text } }, { tls: true }, { parameter: `?${mode}=verify-full` }]) {
        const driver = driverAt("localhost", given);
        const error = await rejectionOf(driver.start());

        expect(error.message).to.match(/^cannot connect to localhost:\d+\/shop: [A-Z_]+$/);
        expect(JSON.stringify(driver.failure(error))).to.not.contain("canary");
      }
    });

    it("is refused where the certificate names another host", async () => {
      // Another name of the same address.
      const driver = driverAt("127.1", { tls: { ca: certificate.text } });

      expect((await rejectionOf(driver.start())).message).to.match(/^cannot connect to 127\.1:\d+\/shop: [A-Z_]+$/);
    });

    it("is required for an account that must use it", async () => {
      const plain = driverAt("localhost", { as: "secured" });

      expect((await rejectionOf(plain.start())).message).to.match(/: the server refused the login$/);
      expect(await cipherOf(driverAt("localhost", { as: "secured", tls: { ca: certificate.text } }), cipher)).to.match(
        /^TLS_/,
      );
    });
  });

interface Account {
  readonly as?: string;
  readonly parameter?: string;
  readonly tls?: Tls;
}

async function cipherOf(driver: DatabaseDriver, sql: string): Promise<unknown> {
  const connection = await driver.connect({ readOnly: false });
  const { rows } = await connection.query({ sql, parameters: [], isRead: true });
  connection.release();
  return rows[0]?.["cipher"];
}

/** The number of connections that run the statement. */
async function running(server: PostgresServer | MariadbServer, sql: string): Promise<number> {
  const list =
    server instanceof PostgresServer
      ? `select query from pg_stat_activity where state = 'active' and query = '${sql}'`
      : `select info from information_schema.processlist where info = '${sql}'`;
  return (await server.run(list)).length;
}

/** A proxy to a port that records the bytes of the clients. */
class Wire implements AsyncDisposable {
  private readonly chunks: Buffer[] = [];
  private readonly sockets = new Set<Socket>();
  connections = 0;

  private constructor(private readonly listener: Server) {}

  static async to(target: number): Promise<Wire> {
    const listener = createServer((client) => wire.join(client, target)).listen(0, "localhost");
    const wire = new Wire(listener);
    await once(listener, "listening");
    return wire;
  }

  get port(): number {
    // It listens to a port.
    return (this.listener.address() as AddressInfo).port;
  }

  sent(): Buffer {
    return Buffer.concat(this.chunks);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.listener.close();
    await once(this.listener, "close");
  }

  private join(client: Socket, target: number): void {
    this.connections++;
    const server = connect(target, "127.0.0.1");
    for (const socket of [client, server]) this.sockets.add(socket.on("error", () => {}));
    client.on("data", (chunk: Buffer) => this.chunks.push(chunk));
    client.pipe(server).pipe(client);
  }
}
