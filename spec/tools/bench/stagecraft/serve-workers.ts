/**
 * Our contender for several processes: `busy:2` serves a handler with work for the processor with two workers, `busy:0` with `run()`, which
 * has one process. Each response of `busy` names its process.
 */

import cluster from "node:cluster";
import { pbkdf2Sync } from "node:crypto";
import { Application, Controller, Get, Module } from "@stagecraft/framework";
import { freePort } from "../../../support/free-port.js";
import { HelloModule } from "./modules.js";
import { untilReady } from "./serving.js";

/** About a millisecond on a processor of 2.6 GHz. A number and not a time: a process that waits for a processor has not worked. */
const ITERATIONS = 5000;

@Controller("/")
class BusyController {
  @Get("/")
  work() {
    pbkdf2Sync("password", "salt", ITERATIONS, 32, "sha256");
    return `${process.pid}\n`;
  }
}

@Module({ controllers: [BusyController] })
class BusyModule {}

const [handler = "", count = "0"] = (process.argv[2] ?? "").split(":");

// The workers run this program too, with the environment of the parent.
process.env["PORT"] ??= String(await freePort());
const port = Number(process.env["PORT"]);
const application = Application.create(handler === "busy" ? BusyModule : HelloModule)
  .port(port)
  .build();
const ended = count === "0" ? application.run() : application.runWorkers({ workers: Number(count) });
if (cluster.isPrimary) await untilReady(port, Number(count));
await ended;
