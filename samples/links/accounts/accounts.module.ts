import { Module } from "@stagecraft/framework";
import { Accounts } from "./accounts.js";

@Module({
  providers: [Accounts],
  exports: [Accounts],
})
export class AccountsModule {}
