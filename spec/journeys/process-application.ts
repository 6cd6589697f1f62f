/**
 * The application that the process journeys run as a child. The environment configures it, and it prints one line for each fact.
 */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import {
  Application,
  Clock,
  Context,
  Controller,
  Get,
  Injectable,
  Module,
  provide,
  Subsystem,
  SystemClock,
  type SubsystemKind,
} from "@stagecraft/framework";
import { installLogging } from "@stagecraft/framework/observe";

function tell(fact: string): void {
  process.stdout.write(`${fact}\n`);
}

const { PREFIX = "/up", DELAY = "50", DEADLINE_MS = "30000", START = "" } = process.env;
/** The drain delay that lasts until the spec ends it. */
const HELD_MS = 3_600_000;

/** Resolves when the spec ends the input. Up to then a start or a delay is held, for a spec that looks at it. */
async function inputEnds(): Promise<void> {
  await once(process.stdin.resume(), "end");
}

class HeldClock extends SystemClock {
  override setTimeout(...[callback, delayMs, options]: Parameters<Clock["setTimeout"]>) {
    if (delayMs !== HELD_MS) return super.setTimeout(callback, delayMs, options);
    void inputEnds().then(callback);
    return { cancel: () => {} };
  }
}

/** Requests that reached a handler, for comparison with the responses that reached a client. */
let quick = 0;

@Injectable()
class Database extends Subsystem {
  readonly kind: SubsystemKind = "database";

  async start(): Promise<void> {
    tell("database starting");
    if (START === "held") await inputEnds();
    if (process.env["START_FAILS"] === "yes") throw new Error("no such host");
  }

  async stop(): Promise<void> {
    tell("database stopped");
    if (process.env["STOP_FAILS"] === "yes") throw new Error("cannot let go");
  }

  override probe(): void {}
}

@Injectable()
class Mail extends Subsystem {
  readonly kind: SubsystemKind = "mail";

  start(): void {
    tell("mail starting");
  }

  stop(): void {
    tell("mail stopped");
  }
}

@Controller("/")
class WorkController {
  @Get("/quick")
  quick() {
    quick += 1;
    return "done";
  }

  @Get("/count")
  count() {
    return String(quick);
  }

  @Get("/slow/{ms}")
  async slow(ctx: Context<"ms">) {
    tell("slow begun");
    await pause(Number(ctx.params.ms));
    return "done slowly";
  }

  @Get("/endless")
  async endless(ctx: Context) {
    tell("endless begun");
    await new Promise((resolve) => {
      ctx.signal.addEventListener("abort", resolve);
    });
    tell(`aborted ${(ctx.signal.reason as { code: string }).code}`);
    if (ctx.search()["deaf"] !== undefined) await pause(60_000);
    throw ctx.signal.reason;
  }

  @Get("/panic")
  panic() {
    throw new TypeError("of the handler");
  }

  @Get("/broken")
  broken(ctx: Context) {
    ctx.res.write("half");
    throw new TypeError("after the first byte");
  }

  @Get("/odd")
  odd() {
    // Every access to this value throws again.
    throw Object.defineProperty({}, inspect.custom, {
      value: () => {
        throw new Error("hands off");
      },
    });
  }

  @Get("/crash")
  crash() {
    setTimeout(() => {
      throw new Error("this error is not caught");
    });
    return "crashing";
  }
}

@Module({ controllers: [WorkController], providers: [Mail, Database] })
class WorkModule {}

if (process.env["LOGGING"] === "yes") installLogging("info");

if (START === "held") process.once("SIGINT", () => tell("heard SIGINT"));
const drainDelayMs = DELAY === "held" ? HELD_MS : Number(DELAY);
const application = Application.create(WorkModule)
  .healthPrefix(PREFIX)
  .provide(provide(Clock).useValue(new HeldClock()))
  // The deadline counts from the signal.
  .lifecycle({ drainDelayMs, drainDeadlineMs: drainDelayMs + Number(DEADLINE_MS), stopTimeoutMs: 60_000 })
  .build();
await application.run();
tell(`quick requests: ${quick}`);
tell(`ran, exit code ${String(process.exitCode)}`);
