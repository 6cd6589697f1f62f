/**
 * Two workers with work of `beginWork` and a maintenance in memory. By the environment: `STATE` (sessions or a rate limit in memory, or a
 * warning), `WORK` (the workers that have the work).
 */
import {
  AppConfig,
  Application,
  type Context,
  Maintenance,
  provide,
  RateLimit,
  Reply,
  Route,
  Routes,
  Subsystem,
  type WorkersOptions,
} from "@stagecraft/framework";
import { installLogging } from "@stagecraft/framework/observe";
import { SessionConfig } from "@stagecraft/framework/session";

const say = (text: string): void => void process.stdout.write(`${text} ${process.pid}\n`);

class Sweeper extends Subsystem {
  readonly kind = "jobs";

  override start(): void {}

  override beginWork(): void {
    say("begins");
  }

  override async endWork(): Promise<void> {
    // The next worker may not begin in this time.
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
    say("ended");
  }

  override stop(): void {}
}

const maintenance = new Maintenance().allow("/switch");

const describe = (): Reply => Reply.json({ pid: process.pid, isEngaged: maintenance.isEngaged });
const routes = new Routes([
  Route.get("/switch", describe),
  Route.post("/switch/{state}", ({ params }: Context<"state">) => {
    if (params.state === "on") maintenance.engage();
    else maintenance.disengage();
    return describe();
  }),
]);

installLogging("info");
const builder = Application.create()
  .config(AppConfig.fromEnv())
  .routes(routes)
  .provide(provide(Sweeper).useFactory(() => new Sweeper()))
  .maintenance(maintenance);
const { STATE, WORK = "one" } = process.env;
if (STATE === "sessions") builder.session(new SessionConfig("5a".repeat(64)));
if (STATE === "warning") builder.accessLog();
if (STATE === "limit") builder.rateLimit(RateLimit.perMinute(1000));
say("built");
await builder.build().runWorkers({
  workers: 2,
  // The specs write it.
  work: WORK as NonNullable<WorkersOptions["work"]>,
});
