/** The API of other services, by the company's tokens, and that of the mobile app, by tokens of the desk. */
import { type ContextOf, Controller, inject, NotFoundError, Reply } from "@stagecraft/framework";
import { SignIn } from "@stagecraft/framework/auth";
import { type IssuedTokens, RefreshTokens } from "@stagecraft/framework/auth/jwt";
import { Mailer } from "@stagecraft/framework/mail";
import { Tickets } from "./desk-database.js";
import { mobile, tickets } from "./endpoints.js";
import { TicketReceived } from "./mails.js";

const APP = "app";

@Controller(tickets)
export class TicketsController {
  private readonly store = inject(Tickets);
  private readonly mailer = inject(Mailer);

  @tickets.list list() {
    return this.store.list();
  }

  @tickets.show async show({ params }: ContextOf<typeof tickets.show>) {
    const ticket = await this.store.find(params.id);
    if (ticket === undefined) throw new NotFoundError();
    return ticket;
  }

  @tickets.store async add({ input }: ContextOf<typeof tickets.store>) {
    const { subject, requester, language } = input.body;
    const ticket = await this.store.add(subject, requester);
    await this.mailer.send(new TicketReceived({ subject, language }).to(requester));
    return ticket;
  }
}

const toReply = (tokens: IssuedTokens) => Reply.json(tokens).header("Cache-Control", "no-store");

@Controller(mobile)
export class MobileController {
  private readonly signIns = inject(SignIn);
  private readonly tokens = inject(RefreshTokens);

  @mobile.signIn async signIn(ctx: ContextOf<typeof mobile.signIn>) {
    const result = await this.signIns.withPassword(ctx, ctx.input.body);
    const tokens = result.kind === "signed-in" && (await this.tokens.start(result.userId, { clientId: APP }));
    return tokens ? toReply(tokens) : Reply.json({ error: "invalid_grant" }, 401);
  }

  @mobile.refresh async refresh({ input }: ContextOf<typeof mobile.refresh>) {
    const tokens = await this.tokens.refresh(input.body.refresh_token, APP);
    return tokens ? toReply(tokens) : Reply.json({ error: "invalid_grant" }, 400);
  }

  @mobile.signOut async signOut({ input }: ContextOf<typeof mobile.signOut>) {
    await this.tokens.revoke(input.body.refresh_token);
  }

  @mobile.show show({ identity }: ContextOf<typeof mobile.show>) {
    return { userId: identity.subject };
  }
}
