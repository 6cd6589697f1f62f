/**
 * Workers that write long lines to standard error, by the log, and to standard output, as fast as their readers read.
 *
 * Environment: `WORKERS`, `LINES` (of each kind and worker; then a worker repeats a short one), `ENDED` (a worker
 * writes its exit code to this file).
 */
import cluster from "node:cluster";
import { appendFileSync } from "node:fs";
import { Application, Module, provide, Subsystem } from "@stagecraft/framework";
import { installLogging, tracing } from "@stagecraft/framework/observe";

const { WORKERS = "", LINES = "", ENDED = "" } = process.env;
const { pid } = process;
const text = "x".repeat(100_000);
const log = tracing.target("lines");

class Writer extends Subsystem {
  readonly kind = "database";
  private isStopped = false;

  /** Only a worker starts its subsystems. A line before this time would be of a program that is no worker yet. */
  override start(): void {
    setTimeout(() => this.write(Number(LINES)), 100);
  }

  override beginWork(): void {}

  write(left: number): void {
    if (this.isStopped) return;
    const line = left > 0 ? { pid, text } : { pid, done: true };
    log.info("line", line);
    const next = (): void => void setTimeout(() => this.write(left - 1), left > 0 ? 0 : 20);
    process.stdout.write(`${JSON.stringify({ fields: line })}\n`, next);
  }

  override stop(): void {
    this.isStopped = true;
    if (cluster.isWorker) log.info("stopped", { pid, text });
  }
}

const writer = new Writer();

@Module({ providers: [provide(Writer).useValue(writer)] })
class Program {}

installLogging("info");
if (cluster.isWorker) process.once("exit", (code) => appendFileSync(ENDED, `${pid} ${code}\n`));

await Application.create(Program)
  .lifecycle({ drainDelayMs: 0, drainDeadlineMs: 3000 })
  .build()
  .runWorkers({ workers: Number(WORKERS) });
