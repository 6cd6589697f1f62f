/** Ctrl-C at every moment of `stagecraft dev`: no process and no temporary folder is left, and the exit code is that of the guide. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { freePort } from "../../support/free-port.js";
import { ROOT } from "../../support/sources.js";
import { until } from "../../support/until.js";
import { createFolder, listProcesses, server } from "./developed-application.js";

const BIN = join(ROOT, "dist/lib/cli/main.js");
/** A program that has started, does not get ready, and does not end by itself. */
const STUBBORN = server(
  "1",
  'for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});\nprocess.stdin.on("end", () => {});\nwriteFileSync("stubborn", "");\nawait new Promise((resolve) => setTimeout(resolve, 1e9));',
);
/** Random moments; the time from 0 to the first response is about a second. */
const MOMENTS = 6;
const LATEST_MS = 1500;

describe("Ctrl-C in stagecraft dev", function () {
  this.timeout(120_000);
  this.slow(8000);
  let folder: string;
  let port: number;
  let command: ChildProcess;
  let errors: string;
  let ended: Promise<unknown[]>;

  const path = (name: string): string => join(folder, name);

  function start(): void {
    errors = "";
    command = spawn(process.execPath, [BIN, "dev", "--main", "src/main.ts", "--port", String(port)], {
      cwd: folder,
      env: { ...process.env, TMPDIR: path("tmp") },
      stdio: ["pipe", "ignore", "pipe"],
    });
    command.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
    ended = once(command, "close");
  }

  const says = (text: string) =>
    until(
      () => errors.includes(text),
      () => errors,
    );
  const hasStarted = (count: number) =>
    until(
      () => listProcesses(folder).length === count,
      () => errors,
    );
  const serves = (text: string) =>
    until(async () => {
      const response = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
      return (await response?.text()) === text;
    });

  /** All processes that work in the folder: the application, Vite, and the check of types. */
  function listAll(): readonly string[] {
    if (process.platform !== "linux") return listProcesses(folder).map(String);
    return readdirSync("/proc").filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
      } catch {
        return false;
      }
    });
  }

  async function leavesNothing(): Promise<void> {
    await until(
      () => listAll().length === 0,
      () => listAll().join(),
    );
    expect(readdirSync(path("tmp")).filter((name) => name.startsWith("stagecraft-"))).to.deep.equal([]);
  }

  beforeEach(async () => {
    port = await freePort();
    folder = createFolder(server("1"));
    mkdirSync(path("tmp"));
    writeFileSync(path("package.json"), '{ "type": "module" }');
  });
  afterEach(async () => {
    command.kill("SIGKILL");
    await ended;
    await until(() => listAll().length === 0);
    rmSync(folder, { recursive: true });
  });

  const startsVite = async (config: string): Promise<void> => {
    writeFileSync(path("vite.config.js"), config);
    start();
    await until(
      () => existsSync(path("vite")),
      () => errors,
    );
  };

  for (const [title, reach] of [
    [
      "before the first process",
      async () => {
        start();
        await says(" at http://localhost:");
      },
    ],
    [
      "while the first process starts",
      async () => {
        writeFileSync(path("src/main.ts"), STUBBORN);
        start();
        await hasStarted(1);
      },
    ],
    [
      "while a process serves",
      async () => {
        start();
        await serves("1");
      },
    ],
    [
      "while the next process starts",
      async () => {
        start();
        await serves("1");
        writeFileSync(path("src/main.ts"), STUBBORN);
        await hasStarted(2);
      },
    ],
    [
      "after a fault of the compiler",
      async () => {
        writeFileSync(path("src/main.ts"), "const = 1;");
        start();
        await says("src/main.ts:1:7");
      },
    ],
    [
      "while Vite starts",
      () =>
        startsVite(
          'import { writeFileSync } from "node:fs"; writeFileSync("vite", ""); await new Promise((resolve) => setTimeout(resolve, 1e9));',
        ),
    ],
    [
      "while Vite runs",
      async () => {
        await startsVite('import { writeFileSync } from "node:fs"; writeFileSync("vite", ""); export default {};');
        await serves("1");
      },
    ],
  ] as const) {
    it(`ends everything ${title}, with exit code 0, and at the second signal at once`, async () => {
      await reach();
      command.kill("SIGINT");
      expect(await ended).to.deep.equal([0, null]);
      await leavesNothing();

      for (const name of ["vite", "processes"]) rmSync(path(name), { recursive: true, force: true });
      mkdirSync(path("processes"));
      writeFileSync(path("src/main.ts"), server("1"));
      await reach();
      command.kill("SIGINT");
      await Promise.race([says("stopping"), ended]);
      // Of the same kind it would count as the echo of the first one, for a moment.
      command.kill("SIGTERM");
      // Where nothing takes time, the first signal has ended the command.
      expect((await ended)[0]).to.be.oneOf([0, 143]);
      await leavesNothing();
    });
  }

  it("ends at the second signal without a wait for a process that does not end", async () => {
    writeFileSync(path("src/main.ts"), STUBBORN);
    start();
    // The process is there before it takes no notice of signals.
    await until(
      () => existsSync(path("stubborn")),
      () => errors,
    );
    command.kill("SIGINT");
    await says("stopping");
    command.kill("SIGTERM");

    expect(await ended).to.deep.equal([143, null]);
    await leavesNothing();
  });

  it("ends the requests that wait", async () => {
    writeFileSync(path("src/main.ts"), STUBBORN);
    start();
    await hasStarted(1);
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    await new Promise((resolve) => socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", resolve));

    command.kill("SIGINT");

    await Promise.all([once(socket, "close"), ended]);
    await leavesNothing();
  });

  it("ends everything at any moment", async () => {
    for (let moment = 0; moment < MOMENTS; moment++) {
      const afterMs = Math.random() * LATEST_MS;
      start();
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      command.kill("SIGINT");

      // Before the command listens to signals it is ended by the signal.
      expect(await ended, `after ${afterMs} ms`).to.be.deep.oneOf([
        [0, null],
        [null, "SIGINT"],
      ]);
      await leavesNothing();
    }
  });
});
