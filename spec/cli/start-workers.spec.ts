/** `stagecraft start --workers`: the program that calls `run()` serves with several processes. */
import { expect } from "chai";
import { ApplicationFolder } from "../support/application-folder.js";
import { freePort } from "../support/free-port.js";
import { ended } from "../support/program.js";
import { until } from "../support/until.js";

function programThat(runs: string): Readonly<Record<string, string>> {
  return {
    "app.js": `
      import { Application, Route, Routes } from "@stagecraft/framework";
      const { pid } = process;
      const listVariables = () => Object.keys(process.env).filter((name) => name.startsWith("FRAMEWORK_"));
      const routes = new Routes([Route.get("/", () => ({ pid, variables: listVariables() }))]);
      export default Application.create().routes(routes).lifecycle({ drainDelayMs: 0 });`,
    "main.js": `
      import { installLogging } from "@stagecraft/framework/observe";
      import application from "./app.js";
      installLogging("info");
      await application.build().${runs};`,
  };
}

class Started implements AsyncDisposable {
  log = "";
  private readonly end: ReturnType<typeof ended>;

  private constructor(
    private readonly child: ReturnType<ApplicationFolder["start"]>,
    readonly port: number,
  ) {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (this.log += text));
    this.end = ended(child);
  }

  static async start(folder: ApplicationFolder, ...args: readonly string[]): Promise<Started> {
    const port = await freePort();
    return new Started(folder.start(["start", ...args], { PORT: String(port) }), port);
  }

  async says(text: string, times = 1): Promise<void> {
    await until(
      () => this.log.split(text).length > times,
      () => this.log,
    );
  }

  async ask(): Promise<{ readonly pid: number; readonly variables: readonly string[] }> {
    const response = await fetch(`http://127.0.0.1:${this.port}/`, { headers: { connection: "close" } });
    // The program responds with them.
    return (await response.json()) as Awaited<ReturnType<Started["ask"]>>;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async exitCode(): Promise<number | null> {
    return (await this.end).code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("SIGKILL");
    await this.end;
  }
}

describe("stagecraft start --workers", function () {
  this.timeout(60_000);
  this.slow(10_000);

  for (const [how, runs] of [
    ["a program that calls run()", "run()"],
    ["a program that names another number", "runWorkers({ workers: 1 })"],
  ] as const) {
    it(`serves with so many processes, replaces them at SIGHUP and ends with 0: ${how}`, async () => {
      using folder = new ApplicationFolder(programThat(runs));
      await using started = await Started.start(folder, "--workers", "2");
      await started.says('"worker ready"', 2);
      const pids = new Set<number>();
      await until(async () => pids.add((await started.ask()).pid).size === 2);
      const { variables } = await started.ask();
      started.kill("SIGHUP");
      await started.says('"workers replaced"');
      const { pid } = await started.ask();
      started.kill("SIGTERM");

      expect(await started.exitCode()).to.equal(0);
      expect(variables).to.deep.equal([]);
      expect(pids).to.not.include(pid);
      expect(started.log.match(/"worker ended"/g)).to.have.length(4);
      // All that a worker told has arrived, although the command exits after it.
      expect(started.log).to.not.include("without its last report").and.to.not.include("ERROR");
    });
  }

  it("takes auto", async () => {
    using folder = new ApplicationFolder(programThat("run()"));
    await using started = await Started.start(folder, "--workers", "auto");
    await started.says('"listening"');
    started.kill("SIGTERM");

    expect(await started.exitCode()).to.equal(0);
    expect(started.log).to.match(/"source":"(?:processors that Node may use|limit of [^"]+)","workers":\d+/);
  });

  for (const number of ["0", "513", "-1", "1.5", "two", "1e2", ""]) {
    it(`starts nothing for ${JSON.stringify(number)}`, async () => {
      using folder = new ApplicationFolder({ "app.js": "", "main.js": "console.log('runs');" });

      const { code, stdout, stderr } = await folder.run("start", `--workers=${number}`);

      expect([code, stdout]).to.deep.equal([2, ""]);
      expect(stderr).to.include("fix: give auto or a number from 1 to 512");
    });
  }
});
