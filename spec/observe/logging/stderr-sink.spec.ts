import { expect } from "chai";
import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { LogEvent } from "../../../lib/tracing/subscriber.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { CaptureSink } from "../../../lib/observe/logging/sink.js";
import { StderrSink } from "../../../lib/observe/logging/stderr-sink.js";
import { ended, runProgram, startProgram } from "../../support/program.js";

const COUNT = 5000;
const writeMany = `
  const { StderrSink } = await load("entries/observe.js");
  const sink = new StderrSink();
  for (let i = 0; i < ${COUNT}; i++) sink.writeLine(i + " " + "é".repeat(100) + " end");
`;

function expectAllLines(output: string): void {
  const lines = output.split("\n");
  expect(lines.pop()).to.equal("");
  expect(lines).to.have.lengthOf(COUNT);
  expect(lines.filter((line, index) => line !== `${index} ${"é".repeat(100)} end`)).to.deep.equal([]);
}

describe("the capture sink", () => {
  it("keeps lines in order, and returns copies", () => {
    const sink = new CaptureSink();
    sink.writeLine("one");

    const copy = sink.lines();
    sink.writeLine("two");

    expect(copy).to.deep.equal(["one"]);
    expect(sink.lines()).to.deep.equal(["one", "two"]);
    expect(sink.transcript()).to.equal("one\ntwo");
    expect(new CaptureSink().transcript()).to.equal("");
  });
});

describe("the sink at standard error", function () {
  this.timeout(60_000);

  for (const [title, end] of [
    ["exits", "process.exit(0);"],
    ["crashes", 'throw new Error("crash");'],
    ["is killed", 'process.kill(process.pid, "SIGKILL"); await new Promise(() => {});'],
  ] as const) {
    it(`loses and cuts no line of a slow reader when the process ${title}`, async () => {
      let output = await slowlyReadOf(`${writeMany} ${end}`);
      // On a machine that pauses for a second the reader does not read, and the sink does not wait that long.
      for (let tries = 1; tries < 3 && countOfLines(output) < COUNT; tries++)
        output = await slowlyReadOf(`${writeMany} ${end}`);

      // Node's own text about a crash comes last. Node drops it, or a part of it, where the pipe is full.
      expectAllLines(title === "crashes" ? output.slice(0, output.lastIndexOf(" end\n") + 5) : output);
    });
  }

  it("waits one second for a reader that does not read, then the process continues", async () => {
    const child = startProgram(`
      const { StderrSink } = await load("entries/observe.js");
      const sink = new StderrSink();
      let waited = 0;
      for (let lines = 1; waited < 500; lines++) {
        const start = performance.now();
        sink.writeLine("x".repeat(9999));
        waited = performance.now() - start;
      }
      process.stdout.write(String(waited));
    `);
    const how = ended(child);

    const waited = await text(child.stdout);
    const written = await text(child.stderr);

    expect(Number(waited)).to.be.within(900, 15_000);
    expect(written).to.match(/^(?:x{9999}\n)+x{0,9999}$/);
    expect(await how).to.deep.equal({ code: 0, signal: null });
  });

  it("survives a reader that closes the pipe", async () => {
    const child = startProgram(`
      const { StderrSink } = await load("entries/observe.js");
      const sink = new StderrSink();
      sink.writeLine("first");
      // A signal listener alone does not keep a process.
      const alive = setInterval(() => {}, 1000);
      const readerClosed = new Promise((resolve) => process.once("SIGUSR2", resolve));
      process.stdout.write("ready");
      await readerClosed;
      clearInterval(alive);
      for (let i = 0; i < 1000; i++) sink.writeLine("into the void");
      process.stdout.write(" alive");
    `); // prettier-ignore
    const how = ended(child);
    child.stdout.once("data", () => {
      child.stderr.destroy();
      child.stderr.once("close", () => child.kill("SIGUSR2"));
    });

    const output = await text(child.stdout);

    expect(output).to.equal("ready alive");
    expect(await how).to.deep.equal({ code: 0, signal: null });
  });

  it("survives a closed descriptor", async () => {
    const { code, stdout } = await runProgram(`
      import { closeSync } from "node:fs";
      const { StderrSink } = await load("entries/observe.js");
      closeSync(2);
      for (let i = 0; i < 10; i++) new StderrSink().writeLine("nowhere");
      process.stdout.write("alive");
    `);

    expect([code, stdout]).to.deep.equal([0, "alive"]);
  });

  describe("with a pipe that stays full", () => {
    let pipe: number;
    let folder: string;

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "pipe-"));
      execFileSync("mkfifo", [join(folder, "pipe")]);
      pipe = openSync(join(folder, "pipe"), constants.O_RDWR | constants.O_NONBLOCK);
    });

    afterEach(() => {
      closeSync(pipe);
      rmSync(folder, { recursive: true });
    });

    it("waits one second, then loses only this line", () => {
      const sink = new StderrSink(pipe);
      const short = "x".repeat(4095);
      // Sixteen pages fill it to the last byte.
      for (let i = 0; i < 16; i++) sink.writeLine(short);

      const waited = timeOf(() => sink.writeLine("lost"));
      const first = drain(pipe);
      sink.writeLine("kept");

      expect(waited).to.be.within(900, 15_000);
      expect(Buffer.concat([first, drain(pipe)]).toString()).to.equal(`${short}\n`.repeat(16) + "kept\n");
    });

    it("waits once, and not again until the reader reads again", () => {
      const sink = new StderrSink(pipe);
      for (let i = 0; i < 16; i++) sink.writeLine("x".repeat(4095));

      const first = timeOf(() => sink.writeLine("lost"));
      const others = Array.from({ length: 20 }, (_, at) =>
        timeOf(() => sink.writeLine(at % 2 === 0 ? "lost" : "lost".repeat(2000))),
      );
      drain(pipe);
      for (let i = 0; i < 16; i++) sink.writeLine("y".repeat(4095));
      const again = timeOf(() => sink.writeLine("lost"));

      expect(first).to.be.within(900, 15_000);
      // A machine that pauses does so in one of them.
      expect(others.filter((ms) => ms > 500)).to.have.length.below(2);
      expect(again).to.be.within(900, 15_000);
      expect(drain(pipe).toString()).to.equal(`${"y".repeat(4095)}\n`.repeat(16));
    });

    it("finishes a started line before any other, and logs the number of lost lines", async () => {
      const sink = new StderrSink(pipe);
      const long = "é".repeat(50_000);
      const layer = {
        onEvent: ({ message = "", fields = {} }: LogEvent) => sink.writeLine(`${message} ${String(fields["lines"])}`),
      };

      sink.writeLine(long);
      for (let i = 0; i < 3; i++) sink.writeLine("lost");
      const first = drain(pipe);
      await tracing.withSubscriber(tracing.registry().with(layer), async () => {
        sink.writeLine("next");
        await Promise.resolve();
      });

      expect(Buffer.concat([first, drain(pipe)]).toString()).to.equal(`${long}\nnext\nlog lines lost 3\n`);
    });

    /** Another process is the only reader for a moment, and then there is none: the line fails in the middle. */
    function failInTheMiddle(): { readonly waited: number; readonly lines: readonly string[] } {
      const path = join(folder, "pipe");
      const end = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      spawn("sleep", ["0.3"], { stdio: [pipe, "ignore", "ignore"] });
      closeSync(pipe);
      const sink = new StderrSink(end);

      const waited = timeOf(() => sink.writeLine("x".repeat(100_000)));
      for (let count = 0; count < 3; count++) sink.writeLine("without a reader");
      pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      const firstPart = drain(pipe);
      sink.writeLine("next");
      sink.writeLine("last");
      closeSync(end);
      return {
        waited,
        lines: Buffer.concat([firstPart, drain(pipe)])
          .toString()
          .split("\n"),
      };
    }

    it("ends a line that it cannot finish before it starts another", () => {
      let { waited, lines } = failInTheMiddle();
      // A busy machine may start the line, or end the other process, too late.
      for (let tries = 1; waited >= 900 && tries < 5; tries++) ({ waited, lines } = failInTheMiddle());

      expect(waited).to.be.below(900);
      expect(lines[0]).to.match(/^x{60000,99999}$/);
      expect(lines.slice(1)).to.deep.equal(["next", "last", ""]);
    });

    it("takes an offer without waiting, and finishes it before another line", () => {
      const sink = new StderrSink(pipe);
      const long = `${"é".repeat(50_000)}\n`;

      const offers = [Buffer.from(long), Buffer.from("refused\n"), undefined].map((lines) => sink.offer(lines));
      const first = drain(pipe);
      sink.writeLine("next");

      expect(offers).to.deep.equal([true, false, false]);
      expect(Buffer.concat([first, drain(pipe)]).toString()).to.equal(`${long}next\n`);
      expect(sink.offer()).to.equal(true);
    });

    it("finishes a started line before it starts another", () => {
      const sink = new StderrSink(pipe);
      const long = "é".repeat(50_000);

      const waited = timeOf(() => sink.writeLine(long));
      const first = drain(pipe);
      sink.writeLine("next");

      expect(waited).to.be.within(900, 15_000);
      expect(first.length).to.be.within(1, 99_999);
      expect(Buffer.concat([first, drain(pipe)]).toString()).to.equal(`${long}\nnext\n`);
    });

    it("does not use the processor while it waits", () => {
      const sink = new StderrSink(pipe);
      for (let i = 0; i < 16; i++) sink.writeLine("x".repeat(4095));
      const before = process.cpuUsage();

      sink.writeLine("lost");

      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).to.be.below(500);
    });
  });
});

function countOfLines(output: string): number {
  return output.split(" end\n").length - 1;
}

/** Standard error of the program. */
async function slowlyReadOf(program: string): Promise<string> {
  const child = startProgram(program);
  const end = ended(child);
  child.stdout.resume();
  const output = await readSlowly(child.stderr);
  await end;
  return output;
}

async function readSlowly(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(chunks).toString();
}

function timeOf(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function drain(pipe: number): Buffer {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(65_536);
    try {
      chunks.push(chunk.subarray(0, readSync(pipe, chunk)));
    } catch {
      // Empty, because the sink would wait for a line.
      return Buffer.concat(chunks);
    }
  }
}
