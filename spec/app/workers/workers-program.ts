/**
 * A program with workers, which the specs start as a process. Each response has the process id of the worker that sent it.
 *
 * Environment: `WORKERS` (2), `OPTIONS` (further options as JSON), `REFUSES` (a worker does not start while this file exists), `WAITS` (a
 * worker starts only when this file exists).
 */
import { existsSync } from "node:fs";
import { Application, Module, provide, Route, Routes, Subsystem, type WorkersOptions } from "@stagecraft/framework";
import { installLogging } from "@stagecraft/framework/observe";

const { WORKERS = "2", OPTIONS = "{}", REFUSES = "", WAITS = "" } = process.env;

class Engine extends Subsystem {
  readonly kind = "database";

  async start(): Promise<void> {
    if (REFUSES !== "" && existsSync(REFUSES)) throw new Error("the engine does not start");
    if (WAITS === "") return;
    while (!existsSync(WAITS)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  override stop(): void {}
}

@Module({ providers: [provide(Engine).useClass(Engine)] })
class Program {}

const responses = new Routes([
  Route.get("/pid", () => process.pid),
  Route.get("/slow", async () => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return process.pid;
  }),
  Route.get("/exit/{code}", ({ params }) => process.exit(Number(params.code))),
  Route.get("/throw", () => {
    setImmediate(() => {
      throw new Error("uncaught");
    });
    return process.pid;
  }),
  Route.get("/abort", () => process.abort()),
]);

installLogging("info");

await Application.create(Program)
  .lifecycle({ drainDelayMs: 50, drainDeadlineMs: 3000 })
  .routes(responses)
  .build()
  // The specs write them.
  .runWorkers({ workers: Number(WORKERS), ...(JSON.parse(OPTIONS) as Partial<WorkersOptions>) });
