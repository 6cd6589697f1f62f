/**
 * An application whose hook of the environment variable `HOOK` never ends, and keeps the process alive. It prints `reached` where the
 * signal is to come, and `over` when `run()` or `work()` has resolved.
 */
import { once } from "node:events";
import {
  Application,
  event,
  Events,
  Injectable,
  Module,
  On,
  provide,
  ShutdownLast,
  Subsystem,
  type ApplicationBuilder,
} from "@stagecraft/framework";
import { LogSink } from "@stagecraft/framework/observe";

const { HOOK = "", MODE = "run", START_FAILS = "" } = process.env;

/** Never resolves for the hook of this run. */
async function hang(hook: string): Promise<void> {
  if (hook !== HOOK) return;
  setInterval(() => {}, 1_000_000);
  if (hook === "start" || hook === "beginWork" || START_FAILS !== "") reached();
  await new Promise(() => {});
}

function reached(): void {
  process.stdout.write("reached\n");
}

@Injectable()
class Store extends Subsystem {
  readonly kind = "database";
  readonly start = () => hang("start");
  override readonly beginWork = () => hang("beginWork");
  override readonly endWork = () => hang("endWork");
  readonly stop = () => hang("stop");
}

/** It starts before the hook that hangs, and stops after it. */
@Injectable()
class Earlier extends Subsystem {
  readonly kind = "database";
  override readonly name = "Earlier";
  start(): void {}

  stop(): void {
    process.stdout.write("the earlier one stopped\n");
  }
}

@Injectable()
class Disposed {
  readonly dispose = () => hang("dispose");
}

@Injectable()
class AsyncDisposed {
  readonly [Symbol.asyncDispose] = () => hang("asyncDispose");
}

@Injectable()
class Exporter extends ShutdownLast {
  shutdown(): Promise<void> {
    process.stdout.write("shut down\n");
    return hang("shutdown");
  }
}

class Sink extends LogSink {
  override writeLine(): void {}

  dispose(): Promise<void> {
    return hang("log sink");
  }
}

const ordered = event("ordered");

@Injectable()
class Listener {
  @On(ordered, { afterResponse: true })
  hear(): Promise<void> {
    return hang("listener");
  }
}

/** It begins its work last: the application is ready in the next turn of the event loop. */
@Injectable()
class Last extends Subsystem {
  readonly kind = "mail";

  constructor(private readonly events: Events) {
    super();
  }

  async start(): Promise<void> {
    if (START_FAILS === "") return;
    if (START_FAILS === "after the signal") {
      setImmediate(reached);
      await once(process, "SIGTERM");
    }
    throw new Error("no such host");
  }

  override async beginWork(): Promise<void> {
    await this.events.emit(ordered);
    setImmediate(reached);
  }

  stop(): void {}
}

@Module({ providers: [Earlier, Store, Last, Disposed, AsyncDisposed, Exporter, Listener] })
class Shop {}

function withSink(builder: ApplicationBuilder): ApplicationBuilder {
  return HOOK === "log sink" ? builder.provide(provide(LogSink).useFactory(() => new Sink())) : builder;
}

const application = withSink(Application.create(Shop))
  .lifecycle({ drainDelayMs: 0, drainDeadlineMs: 200, stopTimeoutMs: 200 })
  .build();

await application[MODE === "work" ? "work" : "run"]();
process.stdout.write("over\n");
