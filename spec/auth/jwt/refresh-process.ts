/** A process of its own that refreshes tokens of a database, with a clock of its own. */
import {
  Application,
  AppConfig,
  Clock,
  type ContextOf,
  Controller,
  inject,
  Injectable,
  Module,
  Post,
  provide,
  routes,
  SystemClock,
} from "@stagecraft/framework";
import { authDatabase } from "@stagecraft/framework/auth/db";
import { RefreshTokens, refreshTokens, TokenSubjects } from "@stagecraft/framework/auth/jwt";
import { z } from "zod";
import { openDriver } from "../../idempotency/db/order-database.js";
import { AppDatabase } from "../auth-database.js";
import { issuingOf } from "./issuing-application.js";

const { DATABASE: database = "", KEYS = "", NOW: now = "" } = process.env;
const keys = KEYS.split(",");

/** Always the same date, with the timers of the machine: a wait for a lock of the other process has to end. */
class FixedClock extends SystemClock {
  override now(): number {
    return Number(now);
  }
}

const table = routes("refresh", "/refresh", { send: Post("/", { body: z.object({ text: z.string() }) }) });

@Controller(table)
class RefreshController {
  private readonly tokens = inject(RefreshTokens);

  @table.send async send({ input }: ContextOf<typeof table.send>) {
    return { successor: (await this.tokens.refresh(input.body.text))?.refresh_token ?? null };
  }
}

@Injectable()
class Members extends TokenSubjects {
  override findStamp() {
    return Promise.resolve("stamp of ada");
  }
}

@Module({
  controllers: [RefreshController],
  providers: [
    Members,
    ...authDatabase(AppDatabase),
    ...issuingOf({ keys }),
    ...refreshTokens({ keys, subjects: Members }),
  ],
})
class RefreshModule {}

await Application.create(RefreshModule)
  .provide(provide(AppDatabase).useValue(AppDatabase.on(openDriver(database))))
  .provide(provide(Clock).useValue(new FixedClock()))
  .config(AppConfig.fromEnv())
  .build()
  .run();
