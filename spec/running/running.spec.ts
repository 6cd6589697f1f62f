/** The page "running it": its lines run, its settings are those of a new project, and its times are those of the stop. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { projectFiles } from "../../lib/cli/create/project-files.js";
import { checkStopTime } from "../../lib/cli/see/doctor/stop-time.js";
import { completeLifecycleOptions } from "../../lib/lifecycle/lifecycle-options.js";
import { ApplicationFolder, BIN } from "../support/application-folder.js";
import { freePort } from "../support/free-port.js";
import { guideFile, parsedYaml } from "../support/guide-files.js";
import { firstBlock, textOf } from "../support/sources.js";
import { until } from "../support/until.js";

const PAGE = "docs/guide/running.md";
const SMALL = { name: "shop", database: "sqlite", pages: "none", auth: false, docker: true } as const;
const PACKAGES = ["typescript", "@types/node", "@types/mocha", "@types/chai", "mocha", "chai", "zod", "kysely"];

const page = textOf(PAGE) ?? "";

describe("the lines for production on one machine", function () {
  this.timeout(120_000);
  this.slow(30_000);

  it("build a new project, migrate it, and end at SIGTERM with exit code 0", async () => {
    using folder = new ApplicationFolder(Object.fromEntries(projectFiles(SMALL, new Date(0))));
    folder.install(...PACKAGES, "@photostructure/sqlite");
    folder.write("node_modules/.bin/stagecraft", `#!/bin/sh\nexec node '${BIN}' "$@"\n`);
    chmodSync(join(folder.path, "node_modules/.bin/stagecraft"), 0o755);
    const lines = firstBlock(PAGE, "sh").trimEnd().split("\n");
    const port = await freePort();
    // The packages are there. A shell that becomes the last program passes the signal on, as a supervisor does.
    const [install = "", ...others] = lines;
    const script = ["set -e", install.replace("npm ci && ", ""), ...others]
      .join("\n")
      .replace("\nnode ", "\nexec node ");
    // The specs keep their databases in memory, and under npx the settings of npm would be those of another call.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(?:NODE_ENV|DATABASE_FILE|npm_.*)$/i.test(name),
    );
    const env = Object.fromEntries(inherited);
    const child = spawn("sh", ["-c", script], {
      cwd: folder.path,
      env: { ...env, PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit");
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    let status = 0;
    await until(async () => {
      if (child.exitCode !== null) throw new Error((await output).join("\n"));
      status = await fetch(`http://127.0.0.1:${port}/up/ready`).then(
        (response) => response.status,
        () => 0,
      );
      return status === 200;
    });
    const notes = await fetch(`http://127.0.0.1:${port}/notes`);
    child.kill("SIGTERM");

    expect(lines).to.have.length(5);
    expect(notes.status).to.equal(200);
    expect(await exited).to.deep.equal([0, null]);
    // The log of a release.
    expect((await output).join("")).to.match(/^\{.*"message":"listening"/m);
  });
});

describe("the settings of the page", () => {
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` +\| (yes|no) /gm)].map(([, name = "", secret]) => [name, secret]);

  it("are the variables of new projects, with that of the profile and that of the log", () => {
    const examples = (["sqlite", "postgres"] as const).flatMap((database) => {
      const files = projectFiles({ ...SMALL, database, auth: true }, new Date(0));
      const [, example = ""] = files.find(([path]) => path === ".env.example") ?? [];
      return [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    });
    const served = examples.filter((name) => name !== "TEST_DATABASE_URL");

    expect(rows.map(([name]) => name)).to.have.members([...new Set([...served, "NODE_ENV", "RUST_LOG"])]);
  });

  it("names each secret, and nothing else as one", () => {
    const secrets = rows.filter(([, secret]) => secret === "yes").map(([name]) => name);

    expect(secrets).to.have.members(["APP_KEY", "DATABASE_URL", "SMTP_URL"]);
  });
});

describe("the time of a stop", () => {
  const findings = checkStopTime(completeLifecycleOptions({}, "release"));
  const seconds = Number(/= (\d+) s$/.exec(findings[0]?.what ?? "")?.[1]);

  it("is the sum that the doctor has", () => {
    expect(findings.map(({ what }) => what).join("\n")).to.include("= 40 s");
    expect(page).to.include(`30 + 5 + 5 = **${seconds} s**`);
  });

  it("is the value of each supervisor", () => {
    const cells = [...page.matchAll(/^\| (Docker|Docker Compose|systemd|Kubernetes|Kamal)\b.*\| `(.+?)`.*\|$/gm)];

    expect(cells).to.have.length(5);
    for (const [row, , setting = ""] of cells) expect(Number(/\d+/.exec(setting)?.[0]), row).to.equal(seconds);
  });

  it("is in the file of Kamal", () => {
    expect(parsed("config/deploy.yml")).to.have.nested.property("servers.web.options.stop-timeout", seconds);
  });
});

describe("the health check of Kamal", () => {
  it("asks for readiness at the port that the image exposes", () => {
    const [, image = ""] = projectFiles(SMALL, new Date(0)).find(([path]) => path === "Dockerfile") ?? [];
    const port = Number(/^EXPOSE (\d+)$/m.exec(image)?.[1]);

    expect(parsed("config/deploy.yml")).to.have.nested.property("proxy.healthcheck.path", "/up/ready");
    expect(parsed("config/deploy.yml")).to.have.nested.property("proxy.app_port", port);
    expect(parsed("config/deploy.yml")).to.have.property("deploy_timeout").above(30);
  });
});

function parsed(name: string): object {
  return parsedYaml(guideFile("running.md", name));
}
