import { Module, provide } from "@stagecraft/framework";
import { AccountsModule } from "./accounts/accounts.module.js";
import { AdminModule } from "./admin/admin.module.js";
import { Clicks } from "./clicks.js";
import { DeskController } from "./admin/desk.controller.js";
import { HomeController } from "./home.controller.js";
import { LinkStore } from "./link-store.js";
import { LinksController, OwnLinksController } from "./links.controller.js";
import { Logos, LogosController } from "./logos.js";
import { Ranking, RankingController } from "./most-visited.js";
import { GuideController } from "./overview/guide.controller.js";
import { Overview } from "./overview/overview.js";
import { StoredLinks } from "./stored-links.js";
import { Sweeper } from "./sweeper.js";
import { VisitController } from "./visit.controller.js";

@Module({
  imports: [AccountsModule, AdminModule],
  controllers: [
    HomeController,
    DeskController,
    LinksController,
    OwnLinksController,
    VisitController,
    RankingController,
    LogosController,
    GuideController,
  ],
  providers: [provide(LinkStore).useClass(StoredLinks), Clicks, Sweeper, Overview, Ranking, Logos],
  exports: [LinkStore],
})
export class LinksModule {}
