import { AppConfig, Module, provide } from "@stagecraft/framework";
import { AccountsModule } from "../accounts/accounts.module.js";
import { NoStore } from "../no-store.js";
import { listOf } from "../settings.js";
import { AdminController } from "./admin.controller.js";
import { INSIDE_ADDRESSES } from "./insiders.js";
import { MetricsController } from "./metrics.controller.js";
import { StatusController, UPSTREAM_URL } from "./status.controller.js";

/** What operators see and do; nothing of it is for a cache. */
@Module({
  imports: [AccountsModule],
  middleware: [NoStore],
  controllers: [AdminController, MetricsController, StatusController],
  providers: [
    provide(INSIDE_ADDRESSES).useFactory(() => listOf(process.env["METRICS_ALLOW"] ?? "127.0.0.1,::1")),
    provide(UPSTREAM_URL).useFactory(
      (resolve) => process.env["UPSTREAM_URL"] ?? resolve(AppConfig).absoluteUrl("/up/live"),
    ),
  ],
})
export class AdminModule {}
