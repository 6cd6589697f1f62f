/** TLS to PostgreSQL and MariaDB: a certificate is checked, by authority and by name, and plain text is refused where TLS is required. */
import { type DatabaseDriver } from "@stagecraft/framework/db";
import { expect } from "chai";
import { mysql } from "../../lib/mysql/mysql-driver.js";
import { postgres } from "../../lib/postgres/postgres-driver.js";
import { Certificate } from "../support/certificate.js";
import { needs } from "../support/machine.js";
import { MARIADB_PASSWORD, MariadbServer } from "../support/mariadb-server.js";
import { POSTGRES_PASSWORD, PostgresServer } from "../support/postgres-server.js";
import { rejectionOf } from "../support/rejection-of.js";

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
  },
];

for (const { name, program, user, start, driver: driverOf, mode, cipher, account } of ENGINES)
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

    it("is all that an account takes that must use it", async () => {
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
