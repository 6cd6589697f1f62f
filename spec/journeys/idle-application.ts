/** An application with every stage on and the machine's own time, as a process runs it. Loaded by idle-process.ts once it watches. */
import { Application, SystemClock } from "@stagecraft/framework";
import { installLogging } from "@stagecraft/framework/observe";
import { freePort } from "../support/free-port.js";
import { EveryStage, GreetingModule } from "../support/every-stage.js";

class AwakeStages extends EveryStage {
  protected override readonly time = new SystemClock();
}

/** The port that it serves on, soon. */
export async function runApplication(): Promise<number> {
  installLogging("info");
  const port = await freePort();
  const builder = new AwakeStages().applyTo(Application.create(GreetingModule));
  void builder.bind("127.0.0.1").port(port).build().run();
  return port;
}
