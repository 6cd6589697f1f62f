/** The page "deploying": its script replaces the release of two processes behind HAProxy, and back, with the migrations of the page, under load. */
import { execFile, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { ApplicationFolder, BIN } from "../support/application-folder.js";
import { Certificate } from "../support/certificate.js";
import { Child } from "../support/child.js";
import { freePort } from "../support/free-port.js";
import { guideFile, replacedIn } from "../support/guide-files.js";
import { listening } from "../support/listening.js";
import { needs } from "../support/machine.js";
import { newFolder } from "../support/new-folder.js";
import { PostgresServer } from "../support/postgres-server.js";
import { ProxyServer, USER } from "../support/proxy-server.js";
import { textOf } from "../support/sources.js";
import { until } from "../support/until.js";
import type { Release } from "./deployed-application.js";

const PAGE = "deploying.md";
const CLIENTS = 4;
/** Before each request of a client. */
const PAUSE_MS = 20;

/** The rows of the page, each with the migrations that its release has beside those before it. */
const MIGRATIONS: Readonly<Record<string, readonly string[]>> = {
  A: ["2026-11-01-articles.sql"],
  B: ["2026-12-01-title.sql"],
  C: ["2026-12-02-old-titles.sql"],
  D: [],
  "the next": ["2026-12-09-without-name.sql"],
  // For PostgreSQL alone.
  "the last": ["2026-12-16-title-check.sql", "2026-12-17-title-not-null.sql", "2026-12-18-title-index.sql"],
};

function releaseOf(name: string): Release {
  const rows = (textOf(`docs/guide/${PAGE}`) ?? "").matchAll(
    /^\| (A|B|C|D|the next) +\| .*? +\| `(\w+)` +\| (.+?) +\|$/gm,
  );
  const [, , reads, writes = ""] = [...rows].find(([, row]) => row === name) ?? [];
  const columns = [...writes.matchAll(/`(\w+)`/g)].map(([, column]) => column);
  // By the spec of the table below.
  return { reads, writes: columns } as unknown as Release;
}

function namesOf(release: string): string {
  return (MIGRATIONS[release] ?? []).map((file) => file.replace(".sql", "")).join(", ");
}

/** A folder with all releases, as `/opt/shop`. */
class Releases implements Disposable {
  readonly folder = new ApplicationFolder({});

  constructor() {
    this.folder.install("kysely", "pg", "@photostructure/sqlite");
    const names = Object.keys(MIGRATIONS);
    const code = readFileSync(fileURLToPath(new URL("deployed-application.js", import.meta.url)), "utf8");
    for (const [index, name] of names.entries()) {
      const release = name === "the last" ? "the next" : name;
      const write = (path: string, content: string) => this.folder.write(`releases/${name}/${path}`, content);
      write("package.json", JSON.stringify({ name: "shop", type: "module", stagecraft: { app: "app.js" } }));
      write("shop.js", code.replace(/^\/\/# sourceMappingURL.*$/m, ""));
      write(
        "app.js",
        `import { createRelease } from "./shop.js"; export default () => createRelease(${JSON.stringify(releaseOf(release))});`,
      );
      write("main.js", 'import createShop from "./app.js"; await createShop().build().run();');
      for (const file of names.slice(0, index + 1).flatMap((each) => MIGRATIONS[each] ?? []))
        write(`migrations/${file}`, guideFile(PAGE, file));
    }
  }

  get current(): string {
    return join(this.folder.path, "current");
  }

  pathOf(name: string): string {
    return join(this.folder.path, "releases", name);
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

/** Does what `systemctl` of the script asks for. */
class Machine implements AsyncDisposable {
  readonly children = new Map<number, Child>();
  /** The output of each migration. */
  readonly migrated: string[] = [];
  /** The releases of this spec have no jobs: only the wish counts. */
  jobsRestarts = 0;

  constructor(
    private readonly releases: Releases,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @param command such as `restart shop-web@3000` */
  async control(command: string): Promise<void> {
    const [, port] = /^restart shop-web@(\d+)$/.exec(command) ?? [];
    if (command === "start shop-migrate") await this.migrate(this.releases.current);
    else if (command === "restart shop-jobs@*") this.jobsRestarts += 1;
    else if (port === undefined) throw new Error(`no unit: ${command}`);
    else await this.restart(Number(port));
  }

  /** @param folder of a release */
  async migrate(folder: string): Promise<void> {
    const env = { ...process.env, ...this.environment };
    const { stdout } = await promisify(execFile)(process.execPath, [BIN, "migrate"], {
      cwd: folder,
      env,
    });
    this.migrated.push(stdout.trim());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.children.values()) await child[Symbol.asyncDispose]();
  }

  private async restart(port: number): Promise<void> {
    const old = this.children.get(port);
    old?.kill("SIGTERM");
    if (old !== undefined && (await old.exitCode()) !== 0) throw new Error(old.errors);
    const file = pathToFileURL(join(this.releases.current, "main.js")).href;
    const child = await Child.start(file, this.environment, { port, cwd: this.releases.current });
    this.children.set(port, child);
    await child.serves();
  }
}

/** A client that adds an article, changes it, and reads each time what it has written, over any process. */
async function useArticles(
  proxy: ProxyServer,
  load: { isOver: boolean; articles: Map<string, string> },
  failures: unknown[],
) {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (method: string, path: string, body?: string, wanted = "") => {
    // Without a pause the clients take the processors that a release needs to start.
    await setTimeout(PAUSE_MS);
    const response = await proxy
      .ask(path, { agent, method }, body)
      .catch((error: unknown) => ({ status: 0, body: error }));
    if (response.status !== 200 || response.body !== wanted) failures.push({ method, path, wanted, ...response });
  };
  while (!load.isOver) {
    const path = `/articles/${crypto.randomUUID()}`;
    for (const [method, text] of [
      ["POST", "first"],
      ["PUT", "second"],
      ["PUT", "third"],
    ] as const) {
      await ask(method, path, text);
      await ask("GET", path, undefined, text);
    }
    load.articles.set(path, "third");
  }
  agent.destroy();
}

/** Waits until each client has written some articles. */
function enough(articles: ReadonlyMap<string, string>): Promise<void> {
  const count = articles.size + 2 * CLIENTS;
  return until(() => articles.size > count);
}

for (const engine of ["SQLite", "PostgreSQL"] as const)
  describe(`deploys on ${engine}`, function () {
    this.timeout(480_000);
    this.slow(120_000);
    before(needs("openssl", "haproxy", ...(engine === "PostgreSQL" ? (["postgres"] as const) : [])));
    let releases: Releases;
    let server: PostgresServer | undefined;
    let machine: Machine;
    let certificate: Certificate;
    let proxy: ProxyServer;
    let ports: readonly [number, number];

    before(async () => {
      releases = new Releases();
      if (engine === "PostgreSQL") server = await PostgresServer.borrow();
      const place =
        server === undefined ? { DATABASE_FILE: join(releases.folder.path, "shop.db") } : { DATABASE_URL: server.url };
      machine = new Machine(releases, { NODE_ENV: "production", ...place });
      ports = [await freePort(), await freePort()];
      certificate = await Certificate.for(USER);
      // The script reads where the link leads.
      await promisify(execFile)("ln", ["-sfn", releases.pathOf("A"), releases.current]);
      await deploy("A");
      proxy = await ProxyServer.start("haproxy", ports, certificate);
    });
    after(async () => {
      for (const each of [proxy, machine, server, certificate]) await each?.[Symbol.asyncDispose]();
      releases[Symbol.dispose]();
    });

    /** Runs the script of the page. @returns its output */
    const deploy = async (name: string): Promise<string> => {
      const [one, two] = ports;
      const script = replacedIn(guideFile(PAGE, "deploy.sh"), {
        "/opt/shop": releases.folder.path,
        "3000 3001": `${one} ${two}`,
      });
      const failures: unknown[] = [];
      const control = http.createServer((request, response) => {
        const command = decodeURIComponent((request.url ?? "/").slice(1));
        machine.control(command).then(
          () => response.end(),
          (error: unknown) => {
            failures.push(error);
            response.writeHead(500).end();
          },
        );
      });
      using systemd = await listening(control);
      releases.folder.write("deploy.sh", script);
      releases.folder.write("bin/systemctl", `#!/bin/sh\nexec curl --silent --fail "${systemd.url}/$1%20$2"\n`);
      chmodSync(join(releases.folder.path, "bin/systemctl"), 0o755);
      const env = { ...process.env, PATH: `${join(releases.folder.path, "bin")}:${process.env["PATH"]}` };
      const run = promisify(execFile)("sh", [join(releases.folder.path, "deploy.sh"), releases.pathOf(name)], { env });
      const { stdout } = await run.catch((error: unknown) => {
        throw failures[0] ?? error;
      });
      return stdout;
    };

    it("fail no request, forth and back, with the migrations of the page", async () => {
      const failures: unknown[] = [];
      const load = { isOver: false, articles: new Map<string, string>() };
      const clients = Array.from({ length: CLIENTS }, () => useArticles(proxy, load, failures));
      const outputs: string[] = [];
      const plan = engine === "SQLite" ? ["B", "C", "D"] : ["B", "A", "B", "C", "D"];
      for (const name of plan) {
        await enough(load.articles);
        outputs.push(await deploy(name));
        expect(failures.slice(0, 3), name).to.deep.equal([]);
      }
      // The processes of D do without the column, and with the constraint and the index.
      for (const name of engine === "SQLite" ? ["the next"] : ["the next", "the last"]) {
        await machine.migrate(releases.pathOf(name));
        await enough(load.articles);
      }
      load.isOver = true;
      await Promise.all(clients);

      for (const [path, text] of load.articles) expect((await proxy.ask(path)).body, path).to.equal(text);
      expect(failures).to.deep.equal([]);
      expect(outputs[0]).to.match(/^back: sh .*deploy\.sh .*\/releases\/A\n$/);
      // The first deploy is that of A.
      expect(machine.jobsRestarts).to.equal(1 + plan.length);
    });

    it("migrate each release once", () => {
      const applied = machine.migrated.map((line) => line.replaceAll("applied ", ""));
      const last = engine === "PostgreSQL" ? [namesOf("the last")] : [];

      expect(applied.filter((line) => /^\d/.test(line))).to.deep.equal([
        namesOf("A"),
        namesOf("B"),
        namesOf("C"),
        namesOf("the next"),
        ...last,
      ]);
    });
  });

describe("the script of a deploy", () => {
  /** Each call of `systemctl` is a line of a file, and that of the second process fails. */
  it("stops at a process that does not start, and has said how to go back", () => {
    using folder = newFolder();
    const [current, log] = [join(folder.path, "current"), join(folder.path, "log")];
    symlinkSync("/releases/6", current);
    mkdirSync(join(folder.path, "bin"));
    const systemctl = `#!/bin/sh\necho "$@" >>"${log}"\ntest "$2" != shop-web@3001\n`;
    writeFileSync(join(folder.path, "bin/systemctl"), systemctl, { mode: 0o755 });
    const file = join(folder.path, "deploy.sh");
    writeFileSync(file, replacedIn(guideFile(PAGE, "deploy.sh"), { "/opt/shop": folder.path }));
    const env = { ...process.env, PATH: `${join(folder.path, "bin")}:${process.env["PATH"]}` };

    const { status, stdout } = spawnSync("sh", [file, "/releases/7"], { env, encoding: "utf8" });

    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: `back: sh ${file} /releases/6\n` });
    expect(readFileSync(log, "utf8")).to.equal("start shop-migrate\nrestart shop-web@3000\nrestart shop-web@3001\n");
    expect(readlinkSync(current)).to.equal("/releases/7");
  });
});

describe("the table of releases", () => {
  it("has columns that a release reads and writes", () => {
    const rows = ["A", "B", "C", "D", "the next"].map(releaseOf);

    expect(rows).to.deep.equal([
      { reads: "name", writes: ["name"] },
      { reads: "name", writes: ["name", "title"] },
      { reads: "title", writes: ["name", "title"] },
      { reads: "title", writes: ["title"] },
      { reads: "title", writes: ["title"] },
    ]);
  });
});
