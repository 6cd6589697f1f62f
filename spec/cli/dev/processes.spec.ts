/** `stagecraft dev` as a process: signals, its input, a port that is taken, and a folder that it cannot write. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { freePort } from "../../support/free-port.js";
import { ROOT } from "../../support/sources.js";
import { until } from "../../support/until.js";
import { createFolder, listProcesses, server } from "./developed-application.js";

const BIN = join(ROOT, "dist/lib/cli/main.js");

const application = (name: string) => `
  import { Application, Command } from "@stagecraft/framework";
  import { z } from "zod";
  class Reports {
    @Command("${name}", z.object({}).describe("send"))
    send() {}
  }
  export default Application.create().provide(Reports);
`;

describe("stagecraft dev, as a process", function () {
  this.timeout(120_000);
  this.slow(5000);
  let folder: string;
  let port: number;
  let command: ChildProcess;
  let errors: string;
  let ended: Promise<unknown[]>;

  function start(): void {
    const all = [BIN, "dev", "--main", "src/main.ts", "--port", String(port)];
    errors = "";
    command = spawn(process.execPath, all, { cwd: folder, stdio: ["pipe", "ignore", "pipe"] });
    command.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
    ended = once(command, "close");
  }

  const says = (text: string) =>
    until(
      () => errors.includes(text),
      () => errors,
    );
  const serves = (text: string) =>
    until(async () => {
      const response = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
      return (await response?.text()) === text;
    });
  const hasNoProcess = () => until(() => listProcesses(folder).length === 0);

  beforeEach(async () => {
    port = await freePort();
    folder = createFolder(server("1"));
  });
  afterEach(async () => {
    command.kill("SIGKILL");
    await ended;
    await hasNoProcess();
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`ends with its processes at ${signal}, with exit code 0`, async () => {
      start();
      await serves("1");

      command.kill(signal);

      expect(await ended).to.deep.equal([0, null]);
      expect(listProcesses(folder)).to.deep.equal([]);
    });
  }

  it("gives the application the variables of .env", async () => {
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, ".env"), "GREETING=hello\n");
    const check = 'if (process.env["GREETING"] !== "hello") process.exit(3);';
    writeFileSync(join(folder, "src/main.ts"), server("2", check));
    start();

    await serves("2");

    expect(errors).to.not.include("did not start");
  });

  it("writes the list of commands when the first process is ready, and again when a source changes one", async () => {
    const list = join(folder, "node_modules/.cache/stagecraft/commands.json");
    const lists = (name: string) =>
      until(
        () => existsSync(list) && readFileSync(list, "utf8").includes(name),
        () => errors,
      );
    writeFileSync(join(folder, "package.json"), '{ "type": "module", "stagecraft": { "app": "src/app.ts" } }');
    writeFileSync(join(folder, "src/app.ts"), application("reports:send"));
    mkdirSync(join(folder, "node_modules/@stagecraft"), { recursive: true });
    symlinkSync(ROOT, join(folder, "node_modules/@stagecraft/framework"));
    start();
    await serves("1");
    await lists("reports:send");
    writeFileSync(join(folder, "src/main.ts"), server("2"));
    await serves("2");
    writeFileSync(join(folder, "src/app.ts"), application("reports:print"));
    await lists("reports:print");

    expect(errors.match(/changed: /g)).to.have.length(2);
  });

  it("ends with its processes at a signal while the first one starts", async () => {
    writeFileSync(
      join(folder, "src/main.ts"),
      server("1", "await new Promise((resolve) => setTimeout(resolve, 1e9));"),
    );
    start();
    await until(() => listProcesses(folder).length === 1);

    command.kill("SIGINT");

    await ended;
    expect(listProcesses(folder)).to.deep.equal([]);
  });

  it("ends at the second signal at once, also where a process does not end", async () => {
    writeFileSync(join(folder, "src/main.ts"), `process.on("SIGTERM", () => {});\n${server("1", "for (;;) {}")}`);
    start();
    await until(() => listProcesses(folder).length === 1);
    command.kill("SIGINT");
    await new Promise((resolve) => setImmediate(resolve));
    command.kill("SIGINT");

    await ended;
    await hasNoProcess();
  });

  it("takes its processes with it when it is killed", async () => {
    start();
    await serves("1");

    command.kill("SIGKILL");

    await ended;
    await hasNoProcess();
  });

  it("says in one line that the port is taken, with the fix, and exits with 1", async () => {
    const other = createServer().listen(port, "127.0.0.1");
    await once(other, "listening");
    start();

    expect(await ended).to.deep.equal([1, null]);
    other.close();
    expect(errors).to.equal(
      `port ${port} cannot be used: another program has it\n  fix: end that program, or choose another port: stagecraft dev --port ${port + 1}\n`,
    );
    expect(listProcesses(folder)).to.deep.equal([]);
  });

  it("names a folder that it cannot write, and goes on", async function () {
    if (process.geteuid?.() === 0) {
      // Root may write everywhere, but no folder where a file is.
      writeFileSync(join(folder, "out"), "");
    } else chmodSync(folder, 0o555);
    start();

    await says("out/main.js cannot be written");
    expect((await fetch(`http://127.0.0.1:${port}`)).status).to.equal(500);
  });
});
