import { Module, provide } from "@stagecraft/framework";
import { Accounts, ADMIN_KEY } from "./accounts.js";

@Module({
  providers: [Accounts, provide(ADMIN_KEY).useFactory(() => process.env["ADMIN_KEY"])],
  exports: [Accounts],
})
export class AccountsModule {}
