/** The page "images": the Dockerfile is that of a new project, and the services of its Compose file run in what it builds. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect } from "chai";
import type { ProjectOptions } from "../../lib/cli/create/options.js";
import { projectFiles } from "../../lib/cli/create/project-files.js";
import { ApplicationFolder, BIN } from "../support/application-folder.js";
import { Container, type ContainerOptions, USER_OF_NODE } from "../support/container.js";
import { freePort } from "../support/free-port.js";
import { guideFile, parsedYaml } from "../support/guide-files.js";
import type { Image } from "../support/image.js";
import { needs } from "../support/machine.js";
import { MailServer } from "../support/mail-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { buildProject, COMPILE, SHOP } from "../support/project-image.js";
import { canMount } from "../support/small-disk.js";
import { firstBlock, textOf } from "../support/sources.js";
import { until } from "../support/until.js";

const PAGE = "images.md";
const SECRETS = "/run/secrets/shop";

/** The members of a service that the specs read. */
interface Service {
  readonly command: readonly string[];
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly tmpfs: readonly string[];
  readonly read_only: boolean;
  readonly stop_grace_period: string;
  readonly healthcheck?: { readonly test: readonly string[] };
}

interface Compose {
  readonly services: Readonly<Record<"web" | "jobs" | "migrate", Service>>;
}

function readCompose(): Compose {
  // The specs check each member that they read.
  return parsedYaml(guideFile(PAGE, "compose.yaml")) as Compose;
}

function fileOf(options: ProjectOptions, name: string): string {
  const [, text = ""] = projectFiles(options, new Date(0)).find(([path]) => path === name) ?? [];
  return text;
}

describe("the Dockerfile of the page", () => {
  it("is that of a new project", () => {
    expect(guideFile(PAGE, "Dockerfile")).to.equal(`# Dockerfile\n${fileOf(SHOP, "Dockerfile")}`);
  });

  it("has a line more for SQLite", () => {
    const line = "RUN install -d -o node -g node /data";

    expect(fileOf({ ...SHOP, database: "sqlite" }, "Dockerfile")).to.include(`\n${line}\nUSER node\n`);
    expect(textOf(`docs/guide/${PAGE}`)).to.include(line);
  });
});

describe("the Compose file of the page", () => {
  const schema = JSON.parse(textOf("spec/support/schemas/compose-spec.json") ?? "") as object;
  const validate = new Ajv({ strict: false, validateSchema: false, validateFormats: false }).compile(schema);

  it("is one by the schema of Compose, which refuses a member that is misspelt", () => {
    const compose = readCompose();
    const { web } = compose.services;

    expect(validate(compose), JSON.stringify(validate.errors)).to.equal(true);
    expect(validate({ ...compose, services: { web: { ...web, stop_grace_time: "40s" } } })).to.equal(false);
  });

  it("gives each service the time of a stop, and files that it can only read", () => {
    for (const name of ["web", "jobs", "migrate"] as const)
      expect(readCompose().services[name], name).to.include({ stop_grace_period: "40s", read_only: true });
  });
});

if (canMount())
  describe("the services of the Compose file", function () {
    this.timeout(120_000);
    this.slow(30_000);
    before(needs("postgres", "openssl"));
    const { services } = readCompose();
    let image: Image;
    let server: PostgresServer;
    let mails: MailServer;
    let secrets: ApplicationFolder;
    let file: string;
    let port: number;

    before(async () => {
      [image, server, mails, port] = await Promise.all([
        buildProject(SHOP),
        PostgresServer.borrow(),
        MailServer.start(),
        freePort(),
      ]);
      secrets = new ApplicationFolder();
      secrets.write("node_modules/.bin/stagecraft", `#!/bin/sh\nexec node '${BIN}' "$@"\n`);
      execFileSync("chmod", ["755", join(secrets.path, "node_modules/.bin/stagecraft")]);
      // The tests may run below another `npx`, whose settings the `npx` of the page would take.
      const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
      execFileSync("sh", ["-ec", firstBlock(`docs/guide/${PAGE}`, "sh")], { cwd: secrets.path, env });
      file = join(secrets.path, "secrets/shop.env");
    });

    after(async () => {
      image[Symbol.dispose]();
      secrets[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
      await mails[Symbol.asyncDispose]();
    });

    function optionsOf({ entrypoint, environment, tmpfs }: Service, command: readonly string[]): ContainerOptions {
      return {
        command: [...entrypoint, ...command],
        env: { ...environment, PORT: String(port) },
        tmpfs,
        files: { [SECRETS]: file },
      };
    }

    const startService = (service: Service) => new Container(image, optionsOf(service, service.command));

    it("read the secrets of the lines, which nothing else can read", () => {
      const password = readFileSync(join(secrets.path, "secrets/db"), "utf8").trim();
      const written = readFileSync(file, "utf8");
      const stat = execFileSync("stat", ["--format=%u %a", file], { encoding: "utf8" }).trim();

      expect(stat).to.equal(`${USER_OF_NODE} 600`);
      expect(written)
        .to.match(/^APP_KEY=[0-9a-f]{128}$/m)
        .and.include(`:${password}@db:5432/shop\n`);
      const here = written
        .replace(/(?<=^DATABASE_URL=).*$/m, server.url)
        .replace(/(?<=^SMTP_URL=).*$/m, `smtp+plain://127.0.0.1:${mails.port}`);
      writeFileSync(file, here);
    });

    it("migrate, and then find no migration pending", async () => {
      for (const output of [/^applied /, /^no migration is pending/]) {
        await using migrate = startService(services.migrate);
        const { code, stdout, stderr } = await migrate.end();

        expect(code, stderr).to.equal(0);
        expect(stdout).to.match(output);
      }
    });

    it("respond, work jobs, and end at SIGTERM with 0", async () => {
      await using web = startService(services.web);
      await using jobs = startService(services.jobs);
      await web.serves(`http://127.0.0.1:${port}/up/ready`);
      await until(() => jobs.output.includes("works all queues"));
      const { test = [] } = services.web.healthcheck ?? {};
      const check = test.slice(1).map((word) => word.replace("3000", String(port)));
      const healthy = await checked(check);
      for (const each of [web, jobs]) each.kill("SIGTERM");
      const ends = await Promise.all([web.end(), jobs.end()]);

      expect(healthy).to.equal(0);
      expect(await checked(check)).to.equal(1);
      for (const { code, stderr } of ends) expect(code, stderr).to.equal(0);
    });

    it("write nothing but the folders in memory", async () => {
      const program = `
        const { writeFileSync } = require("node:fs");
        const tries = ["/app/file", "/app/node_modules/file", "/run/file", "/tmp/file"];
        console.log(process.pid, process.getuid(), ...tries.map((name) => {
          try { writeFileSync(name, ""); return "written"; } catch ({ code }) { return code; }
        }));`;
      await using container = new Container(image, optionsOf(services.web, ["--eval", program]));
      const { stdout } = await container.end();

      expect(stdout).to.equal(`1 ${USER_OF_NODE} EROFS EROFS EROFS written\n`);
    });

    async function checked(command: readonly string[]): Promise<number | null> {
      await using container = new Container(image, { command, tmpfs: ["/tmp"] });
      return (await container.end()).code;
    }
  });

if (canMount())
  describe("an image with SQLite", function () {
    this.timeout(120_000);
    this.slow(30_000);

    it("has a folder for the file, in which it migrates and serves", async () => {
      using image = await buildProject({ ...SHOP, database: "sqlite", auth: false });
      const port = await freePort();
      const env = { APP_URL: "https://shop.example", DATABASE_FILE: "/data/app.db", PORT: String(port) };
      const shared = { env, volumes: ["/data"], tmpfs: ["/tmp"] };
      await using migrate = new Container(image, {
        ...shared,
        command: ["node", "node_modules/.bin/stagecraft", "migrate"],
      });
      const { code, stderr } = await migrate.end();
      await using web = new Container(image, { ...shared, command: image.config.command });
      await web.serves(`http://127.0.0.1:${port}/notes`);
      web.kill("SIGTERM");

      expect(code, stderr).to.equal(0);
      expect(image.config).to.include({ from: "node:24-slim", user: "node", port: 3000 });
      expect((await web.end()).code).to.equal(0);
    });

    if ("enableCompileCache" in nodeModule)
      it("reads the compiled code of its last line, in a folder that it cannot write", async () => {
        using image = await buildProject({ ...SHOP, database: "sqlite", auth: false });
        const [, program = ""] = /^node --eval '(.*)'$/.exec(COMPILE) ?? [];
        const command = ["node", "--eval", program];
        await using write = new Container(image, { command, volumes: ["/compiled"] });
        const written = await write.end();
        await using read = new Container(image, { command, env: { NODE_DEBUG_NATIVE: "COMPILE_CACHE" } });
        const { code, stdout, stderr } = await read.end();

        expect(written).to.include({ code: 0, stderr: "" });
        expect(code).to.equal(0);
        expect(stdout + stderr).to.match(/cache for (?:ESM )?file:\/\/\/app\/dist\/app\.js was accepted/);
      });
  });
