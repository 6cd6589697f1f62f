/** An application with every stage on and the system clock. idle-process.ts loads it after its measurement begins. */
import { Application, SystemClock } from "@stagecraft/framework";
import { installLogging } from "@stagecraft/framework/observe";
import { freePort } from "../support/free-port.js";
import { EveryStage, GreetingModule } from "../support/every-stage.js";

class AwakeStages extends EveryStage {
  protected override readonly time = new SystemClock();
}

/** Resolves to the port on which it listens. */
export async function runApplication(): Promise<number> {
  installLogging("info");
  const port = await freePort();
  const builder = new AwakeStages().applyTo(Application.create(GreetingModule));
  void builder.bind("127.0.0.1").port(port).build().run();
  return port;
}
