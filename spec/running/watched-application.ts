/**
 * The application that Prometheus watches in the specs, as a release: two connections to PostgreSQL, jobs, and a route for each fault. The
 * classes of the guide are at the URL in `FIGURES`. `WORKERS` is a number of workers.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Application, Controller, Get, Module, Post, provide } from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { postgres } from "@stagecraft/framework/db/postgres";
import { FinalJobError, Handles, job, type JobContext, Jobs, jobsMigrations } from "@stagecraft/framework/jobs";
import { installLogging } from "@stagecraft/framework/observe";

const { FIGURES = "", DATABASE_URL = "", WORKERS } = process.env;
// By the page of the guide.
const { Figures, FiguresController } = (await import(FIGURES)) as Record<
  "Figures" | "FiguresController",
  new () => object
>;

class ShopDatabase extends Database<Record<string, never>> {}

const flaky = job("shop.flaky", undefined, { backoff: { firstMs: 100 } });
const doomed = job("shop.doomed");
/** No process works the queue. */
const left = job("shop.left", undefined, { queue: "left" });

class Work {
  /** @throws Error in its first attempt */
  @Handles(flaky)
  flaky(_payload: unknown, { attempt }: JobContext) {
    if (attempt === 1) throw new Error("once");
  }

  @Handles(doomed)
  doomed() {
    throw new FinalJobError("never");
  }
}

@Controller("/")
class FaultController {
  constructor(
    private readonly db: ShopDatabase,
    private readonly jobs: Jobs,
  ) {}

  @Get("/")
  index() {
    return this.db.run("select 1 as one");
  }

  @Get("/fault")
  fault() {
    throw new Error("a fault of the application");
  }

  /** Longer than the limit of the alert. */
  @Get("/slow")
  slow() {
    return pause(1_200, "late");
  }

  /** Keeps the event loop of its worker busy. */
  @Get("/busy")
  busy() {
    const end = performance.now() + 2_000;
    while (performance.now() < end);
    return process.pid;
  }

  /** Has a connection for as long. */
  @Get("/hold")
  hold() {
    return this.db.run("select pg_sleep(3)");
  }

  @Post("/flaky")
  flaky() {
    return this.jobs.dispatch(flaky, undefined);
  }

  @Post("/doomed")
  doomed() {
    return this.jobs.dispatch(doomed, undefined);
  }

  @Post("/left")
  left() {
    return this.jobs.dispatch(left, undefined);
  }
}

@Module({
  controllers: [FiguresController, FaultController],
  providers: [
    Figures,
    Work,
    provide(Jobs).useFactory(() => new Jobs({ queues: ["default"] })),
    provide(ShopDatabase).useFactory(
      () =>
        new ShopDatabase(postgres({ url: DATABASE_URL, pool: { max: 3 } }), {
          migrations: jobsMigrations,
          migrate: true,
        }),
    ),
  ],
})
class ShopModule {}

installLogging("info");
const application = Application.create(ShopModule)
  .trustedProxies("127.0.0.1")
  .metrics(undefined, { route: true })
  .errorMapping()
  .build();
await (WORKERS === undefined ? application.run() : application.runWorkers({ workers: Number(WORKERS) }));
