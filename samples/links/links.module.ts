import { Module, provide } from "@stagecraft/framework";
import { AccountsModule } from "./accounts/accounts.module.js";
import { AdminModule } from "./admin/admin.module.js";
import { DeskController } from "./admin/desk.controller.js";
import { HomeController } from "./home.controller.js";
import { LinkStore } from "./link-store.js";
import { LinksController } from "./links.controller.js";
import { MemoryLinks } from "./memory-links.js";
import { GuideController } from "./overview/guide.controller.js";
import { Overview } from "./overview/overview.js";
import { VisitController } from "./visit.controller.js";

@Module({
  imports: [AccountsModule, AdminModule],
  controllers: [HomeController, DeskController, LinksController, VisitController, GuideController],
  providers: [provide(LinkStore).useClass(MemoryLinks), Overview],
  exports: [LinkStore],
})
export class LinksModule {}
