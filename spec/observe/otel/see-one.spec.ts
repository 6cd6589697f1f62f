/** Runs the commands of the guide's section "See one" and compares the drawn trace with the guide. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { expect } from "chai";
import { freePort } from "../../support/free-port.js";
import { needs } from "../../support/machine.js";
import { ROOT, textOf } from "../../support/sources.js";
import { until } from "../../support/until.js";

const PART = /^## See a trace\n[^]*?^```sh\n([^]*?)^```\n[^]*?^```\n([^]*?)^```/m;

const JOB = "framework.job.handle";
const run = promisify(execFile);

/** A command of the guide that runs in the root folder until it is stopped. */
class Terminal implements AsyncDisposable {
  said = "";
  private readonly process: ChildProcess;

  constructor(command: string, environment: NodeJS.ProcessEnv = {}) {
    const env = { ...process.env, ...environment };
    this.process = spawn("sh", ["-c", command], { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.said += text));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.process, "close");
    this.process.kill("SIGKILL");
    await closed;
  }
}

/** The drawn traces without ids, bars and durations, which change. */
function shapesOf(drawing: string): readonly string[] {
  const shapes = drawing.replaceAll(/^trace [\da-f]{32}$/gm, "trace").replaceAll(/ {2,}█.*| {2,}\d.*| +█.*$/gm, "");
  return shapes.split(/\n(?=trace$)/m).map((shape) => shape.trim());
}

describe("the guide's section 'See one'", function () {
  this.timeout(120_000);
  this.slow(5000);
  before(needs("curl"));

  it("leads to the trace in the guide", async () => {
    const [, commands = "", drawing = ""] = PART.exec(textOf("docs/guide/span-export.md") ?? "") ?? [];
    const [, collect = "", serve = "", ...asks] = commands.split("\n").map((line) => line.replace(/ +#.*/, ""));
    const [collectorPort, port] = [await freePort(), await freePort()];
    // npm has checked the form of package.json.
    const { scripts } = JSON.parse(textOf("package.json") ?? "") as { readonly scripts: { readonly start: string } };
    const here = (command: string) => command.replace(":4317", `:${collectorPort}`).replace(":3000", `:${port}`);
    const start = here(serve).replace("npm start", `exec ${scripts.start}`);

    await using collector = new Terminal(`exec ${collect} ${collectorPort}`);
    await until(() => collector.said.includes("collecting on"));
    await using sample = new Terminal(start, { PORT: String(port) });
    await until(() => sample.said.includes("listening"));
    const [make = "", visit = ""] = asks.filter((line) => line !== "").map(here);
    await run("sh", ["-c", make]);
    // The job may be exported later than the request, and is drawn by itself then.
    const [request = "", work = ""] = drawing.split(`\n${JOB}`);
    const isDrawn = () => {
      const shapes = shapesOf(collector.said);
      const shows = (part: (shape: string) => boolean) => shapes.some(part);
      return (
        shows((shape) => shape.startsWith(shapesOf(request)[0] ?? "none")) &&
        shows((shape) => shape.endsWith(shapesOf(JOB + work)[0] ?? "none"))
      );
    };
    // On a busy machine an export may come in the middle of a trace, which is drawn in parts then.
    for (let tries = 1; tries <= 5 && !isDrawn(); tries++) {
      await run("sh", ["-c", visit]);
      await until(() => isDrawn() || collector.said.split(JOB).length > tries);
    }

    expect(asks.join("\n").match(/curl/g)).to.have.length(2);
    expect(isDrawn(), collector.said).to.equal(true);
  });
});
