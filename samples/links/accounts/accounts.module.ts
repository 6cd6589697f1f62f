import { Module } from "@stagecraft/framework";
import { AccountController } from "./account.controller.js";
import { Accounts } from "./accounts.js";
import { People } from "./people.js";

@Module({
  controllers: [AccountController],
  providers: [Accounts, People],
  exports: [Accounts],
})
export class AccountsModule {}
