import { Module } from "@stagecraft/framework";
import { mailPreviews } from "@stagecraft/framework/mail/previews";
import { AccountController } from "./account.controller.js";
import { Accounts } from "./accounts.js";
import { Greeter } from "./greeter.js";
import { People } from "./people.js";
import { Welcome } from "./welcome.js";

@Module({
  controllers: [AccountController, ...mailPreviews("/dev/mails", [Welcome])],
  providers: [Accounts, Greeter, People],
  exports: [Accounts],
})
export class AccountsModule {}
