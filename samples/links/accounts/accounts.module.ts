import { Module, provide } from "@stagecraft/framework";
import { Passwords } from "@stagecraft/framework/auth";
import { mailJobs } from "@stagecraft/framework/mail/jobs";
import { mailPreviews } from "@stagecraft/framework/mail/previews";
import { AccountController } from "./account.controller.js";
import { Accounts } from "./accounts.js";
import { People } from "./people.js";
import { Visitors } from "./visitors.js";
import { Welcome } from "./welcome.js";

@Module({
  controllers: [AccountController, ...mailPreviews("/dev/mails", [Welcome])],
  providers: [Accounts, People, Visitors, provide(Passwords).useFactory(() => new Passwords()), mailJobs([Welcome])],
  exports: [Accounts],
})
export class AccountsModule {}
