/** The page "systemd": its units are verified by systemd, and their command lines run in a release. */
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Container, USER_OF_NODE } from "../support/container.js";
import { freePort } from "../support/free-port.js";
import { guideFile, replacedIn } from "../support/guide-files.js";
import type { Image } from "../support/image.js";
import { locate, needs } from "../support/machine.js";
import { MailServer } from "../support/mail-server.js";
import { newFolder } from "../support/new-folder.js";
import { PostgresServer } from "../support/postgres-server.js";
import { buildProject, SHOP } from "../support/project-image.js";
import { canMount } from "../support/small-disk.js";
import { textOf } from "../support/sources.js";
import { until } from "../support/until.js";

const PAGE = "systemd.md";
const FOLDER = "/etc/systemd/system/";
const SHARED = "shop-.service.d/shop.conf";
const WORKERS = "shop-web@.service.d/workers.conf";
const FILES = [SHARED, "shop-web@.service", "shop-jobs@.service", "shop-migrate.service"];
const UNITS = ["shop-web@3000.service", "shop-jobs@default.service", "shop-migrate.service"];
/** systemd calls a unit below 2.0 well protected; 10 has no protection. */
const MAX_EXPOSURE = 20;

const unitFile = (name: string) => guideFile(PAGE, `${FOLDER}${name}`);

/** The values of a line, the last of which counts where it is no list. */
function valueOf(name: string, line: string): string {
  const found = [...unitFile(name).matchAll(new RegExp(`^${line}=(.*)$`, "gm"))].map(([, value = ""]) => value);
  if (found.length !== 1) throw new Error(`${name} must have one line ${line}`);
  return found[0] ?? "";
}

/** The words of the line, as systemd passes them to the program. */
function wordsOf(name: string, line: string, instance: string): readonly string[] {
  const places = { "%i": instance, "%d": "/run/credentials", "/usr/bin/node": "/opt/node/node" };
  return valueOf(name, line)
    .replaceAll(/%i|%d|\/usr\/bin\/node/g, (found) => Object.entries(places).find(([key]) => key === found)?.[1] ?? "")
    .split(" ");
}

/** systemd knows only programs that are there. */
function writeUnits(folder: string, changes: Readonly<Record<string, string>> = {}): void {
  mkdirSync(join(folder, "shop-.service.d"));
  for (const name of FILES) {
    const text = unitFile(name).replaceAll("/usr/bin/node", process.execPath);
    writeFileSync(join(folder, name), name === SHARED ? replacedIn(text, changes) : text);
  }
}

function analyze(
  folder: string,
  ...args: readonly string[]
): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(locate("systemd-analyze") ?? "systemd-analyze", args, {
    encoding: "utf8",
    env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:`, SYSTEMD_COLORS: "0" },
  });
  return { status, text: stdout + stderr };
}

describe("the units of the page", function () {
  this.slow(5_000);
  before(needs("systemd-analyze", "curl"));

  for (const unit of UNITS) {
    it(`are verified by systemd: ${unit}`, () => {
      using folder = newFolder();
      writeUnits(folder.path);

      expect(analyze(folder.path, "verify", unit)).to.deep.equal({ status: 0, text: "" });
    });

    it(`are well protected: ${unit}`, () => {
      using folder = newFolder();
      writeUnits(folder.path);
      const { status, text } = analyze(folder.path, "security", "--offline=true", `--threshold=${MAX_EXPOSURE}`, unit);

      expect(status, text).to.equal(0);
    });
  }

  it("are refused with a line that systemd does not know, and with less protection", () => {
    using folder = newFolder();
    writeUnits(folder.path, { "TimeoutStopSec=": "TimeoutStopSeconds=", "DynamicUser=yes\nUser=shop\n": "" });
    const [unit = ""] = UNITS;

    expect(analyze(folder.path, "verify", unit).text).to.match(/TimeoutStopSeconds.*ignoring/);
    expect(analyze(folder.path, "security", "--offline=true", `--threshold=${MAX_EXPOSURE}`, unit).status).to.not.equal(
      0,
    );
  });

  it("are those of the lines that start them", () => {
    const page = textOf(`docs/guide/${PAGE}`) ?? "";
    const started = [...page.matchAll(/^systemctl (?:start|restart|enable --now) (.+)$/gm)].flatMap(([, names = ""]) =>
      names.replaceAll("'", "").split(" "),
    );

    expect(started).to.have.length(8);
    for (const name of started) expect(FILES).to.include(`${name.replace(/(?<=@).*$/, "")}.service`);
  });

  it("are verified with several workers, and a reload sends SIGHUP to the first process", () => {
    using folder = newFolder();
    writeUnits(folder.path);
    mkdirSync(join(folder.path, "shop-web@.service.d"));
    writeFileSync(join(folder.path, WORKERS), unitFile(WORKERS).replaceAll("/usr/bin/node", process.execPath));

    expect(analyze(folder.path, "verify", "shop-web@3000.service")).to.deep.equal({ status: 0, text: "" });
    const [cleared, line = ""] = [...unitFile(WORKERS).matchAll(/^ExecStart=(.*)$/gm)].map(([, value]) => value);
    expect(cleared).to.equal("");
    expect(line.replace("/opt/shop/current/", "")).to.equal(valueOf("shop-web@.service", "ExecStart"));
    expect(valueOf(WORKERS, "ExecReload")).to.equal("/bin/kill -HUP $MAINPID");
  });

  it("wait for the time of a stop", () => {
    expect(valueOf(SHARED, "TimeoutStopSec")).to.equal("40");
  });
});

if (canMount())
  describe("the command lines of the units", function () {
    this.timeout(120_000);
    this.slow(30_000);
    before(needs("postgres", "curl"));
    let image: Image;
    let server: PostgresServer;
    let mails: MailServer;
    let port: number;
    const folder = newFolder();

    before(async () => {
      [image, server, mails, port] = await Promise.all([
        buildProject(SHOP),
        PostgresServer.borrow(),
        MailServer.start(),
        freePort(),
      ]);
      const secrets = {
        APP_KEY: randomBytes(64).toString("hex"),
        DATABASE_URL: server.url,
        SMTP_URL: `smtp+plain://127.0.0.1:${mails.port}`,
      };
      const file = join(folder.path, "secrets.env");
      writeFileSync(
        file,
        Object.entries(secrets)
          .map((pair) => `${pair.join("=")}\n`)
          .join(""),
        { mode: 0o600 },
      );
      chownSync(file, USER_OF_NODE, USER_OF_NODE);
    });

    after(async () => {
      folder[Symbol.dispose]();
      image[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
      await mails[Symbol.asyncDispose]();
    });

    function start(name: string, instance = ""): Container {
      const [variable, value] = valueOf(SHARED, "Environment").split("=");
      const env = { [String(variable)]: String(value), APP_URL: "https://shop.example", PORT: String(port) };
      const [, id, file] = /^(.+):(.+)$/.exec(valueOf(SHARED, "LoadCredential")) ?? [];
      expect(file).to.equal("/etc/shop/secrets.env");
      return new Container(image, {
        command: wordsOf(name, "ExecStart", instance),
        env,
        tmpfs: ["/tmp"],
        files: { [`/run/credentials/${String(id)}`]: join(folder.path, "secrets.env") },
      });
    }

    it("migrate", async () => {
      await using migrate = start("shop-migrate.service");
      const { code, stdout, stderr } = await migrate.end();

      expect(code, stderr).to.equal(0);
      expect(stdout).to.match(/^applied /);
    });

    it("serve on the port of the instance, for which the line after the start waits", async () => {
      expect(valueOf("shop-web@.service", "Environment")).to.equal("PORT=%i");
      await using web = start("shop-web@.service", String(port));
      const [program = "", ...words] = wordsOf("shop-web@.service", "ExecStartPost", String(port));
      // The mail server of this process must respond meanwhile.
      const runs = (line: readonly string[]) => once(spawn(program, line, { stdio: "ignore" }), "exit");
      const [waited, early] = await Promise.all([runs(words), runs(words.map((word) => (word === "60" ? "0" : word)))]);
      web.kill("SIGTERM");

      expect(waited, web.output).to.deep.equal([0, null]);
      // No process listens yet, and one attempt is not enough.
      expect(early).to.deep.equal([7, null]);
      expect((await web.end()).code).to.equal(0);
    });

    it("work the queue of the instance", async () => {
      await using jobs = start("shop-jobs@.service", "mail");
      await until(() => jobs.output.includes("works the queues mail"));
      jobs.kill("SIGTERM");

      expect((await jobs.end()).code).to.equal(0);
    });
  });
