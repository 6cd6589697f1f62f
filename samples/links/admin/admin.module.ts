import { Module } from "@stagecraft/framework";
import { AccountsModule } from "../accounts/accounts.module.js";
import { NoStore } from "../no-store.js";
import { AdminController } from "./admin.controller.js";
import { Insiders } from "./insiders.js";
import { MetricsController } from "./metrics.controller.js";
import { StatusController } from "./status.controller.js";

/** The paths for operators; their responses are never cached. */
@Module({
  imports: [AccountsModule],
  middleware: [NoStore],
  controllers: [AdminController, MetricsController, StatusController],
  providers: [Insiders],
})
export class AdminModule {}
