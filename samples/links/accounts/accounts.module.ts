import { Cache, Module, provide } from "@stagecraft/framework";
import { AuthMails, authentication, secondStep } from "@stagecraft/framework/auth";
import { authDatabase } from "@stagecraft/framework/auth/db";
import { passkeys } from "@stagecraft/framework/auth/passkeys";
import { mailPreviews } from "@stagecraft/framework/mail/previews";
import { LinksDatabase } from "../database.js";
import { MAIL_PAGE } from "../mail-place.js";
import { AccountController } from "./account.controller.js";
import { account } from "./account.routes.js";
import { ConfirmSignUp, LinksMails } from "./mails.js";
import { People } from "./people.js";
import { ProfileController } from "./profile.controller.js";
import { Visitors } from "./visitors.js";

@Module({
  controllers: [AccountController, ProfileController, ...mailPreviews(MAIL_PAGE, [ConfirmSignUp])],
  providers: [People, Visitors],
})
export class AccountsModule {}

/** @param key of the mails' links, the remembered devices and the second steps; @param cache counts the attempts of all instances */
export function identities(key: string | Uint8Array, cache: Cache | undefined) {
  return [
    ...authentication({
      users: People,
      keys: key,
      links: { signUp: account.confirm, reset: account.reset },
      tokens: { prefix: "links" },
      ...(cache !== undefined && { attempts: Cache }),
    }),
    ...secondStep({ issuer: "Links" }),
    ...passkeys({ name: "Links" }),
    ...authDatabase(LinksDatabase),
    provide(AuthMails).useClass(LinksMails),
  ];
}
