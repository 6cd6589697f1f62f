/** Two workers with jobs in the file `DATABASE_FILE`. Each job prints its process. */
import { AppConfig, Application, Controller, Module, Post, provide } from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Handles, job, Jobs, jobsMigrations } from "@stagecraft/framework/jobs";
import { installLogging } from "@stagecraft/framework/observe";

const { DATABASE_FILE = "" } = process.env;

class ShopDatabase extends Database<Record<string, never>> {}

const greet = job("shop.greet");

class Work {
  @Handles(greet)
  greet(): void {
    process.stdout.write(`greets ${process.pid}\n`);
  }
}

@Controller("/")
class GreetController {
  constructor(private readonly jobs: Jobs) {}

  @Post("/greet")
  async greet() {
    await this.jobs.dispatch(greet);
    return process.pid;
  }
}

@Module({
  controllers: [GreetController],
  providers: [
    Work,
    Jobs,
    provide(ShopDatabase).useFactory(
      () => new ShopDatabase(sqlite(DATABASE_FILE), { migrations: jobsMigrations, migrate: true }),
    ),
  ],
})
class ShopModule {}

installLogging("info");
await Application.create(ShopModule).config(AppConfig.fromEnv()).build().runWorkers({ workers: 2 });
