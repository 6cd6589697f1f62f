/**
 * A program with workers, which the specs start as a process. Each response has the process id of the worker that sent it,
 * and so has each response to bytes on an upgraded connection.
 *
 * Environment: `WORKERS` (2), `OPTIONS` (further options as JSON), `REFUSES` (a worker does not start while this file exists), `WAITS` (a
 * worker starts only when this file exists), `TAKEN` (a worker writes the connections that it takes to this file),
 * `DELAY` (of the drain, in milliseconds; 50), `LOG` ("none" for a program without a log).
 */
import { existsSync } from "node:fs";
import {
  Application,
  Controller,
  Get,
  inject,
  Module,
  provide,
  Route,
  Routes,
  Subsystem,
  type WorkersOptions,
} from "@stagecraft/framework";
import { installLogging, Metrics } from "@stagecraft/framework/observe";
import { recordTaken } from "../../tools/soak/taken-connections.js";

const { WORKERS = "2", OPTIONS = "{}", REFUSES = "", WAITS = "", TAKEN = "", DELAY = "50", LOG } = process.env;

class Engine extends Subsystem {
  readonly kind = "database";

  async start(): Promise<void> {
    if (REFUSES !== "" && existsSync(REFUSES)) throw new Error("the engine does not start");
    if (WAITS === "") return;
    while (!existsSync(WAITS)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  override stop(): void {}
}

@Controller("/metrics")
class MetricsController {
  constructor(private readonly metrics = inject(Metrics)) {}

  @Get("/")
  text() {
    return this.metrics.response();
  }
}

@Module({ controllers: [MetricsController], providers: [provide(Engine).useClass(Engine)] })
class Program {}

const responses = new Routes([
  Route.get("/pid", () => process.pid),
  Route.post("/pid", () => process.pid),
  // For requests that a spec does not count.
  Route.get("/pid/other", () => process.pid),
  Route.get("/empty", () => ""),
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

if (LOG !== "none") installLogging("info");
if (TAKEN !== "") recordTaken(TAKEN);

await Application.create(Program)
  .lifecycle({ drainDelayMs: Number(DELAY), drainDeadlineMs: Number(DELAY) + 3000 })
  .metrics(undefined, { route: true })
  .routes(responses)
  .attach((server) => {
    server.on("upgrade", (_request, socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: pid\r\nConnection: Upgrade\r\n\r\n");
      socket.on("data", () => socket.write(String(process.pid)));
      socket.on("end", () => socket.end());
    });
  })
  .build()
  // The specs write them.
  .runWorkers({ workers: Number(WORKERS), ...(JSON.parse(OPTIONS) as Partial<WorkersOptions>) });
