/** A help desk, as a product would begin: accounts with roles, tickets with files, search, jobs, mails, events, a webhook, an API, pages. */
import { randomBytes } from "node:crypto";
import {
  Application,
  type Context,
  Controller,
  event,
  Events,
  Extension,
  ForbiddenError,
  Injectable,
  Middleware,
  Module,
  type Next,
  NotFoundError,
  On,
  provide,
  RateLimit,
  redirect,
  Reply,
  resource,
  routes,
  Get,
  Post,
  UnauthorizedError,
} from "@stagecraft/framework";
import { Database, type MigrationTables } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Handles, job, Jobs, MemoryJobs } from "@stagecraft/framework/jobs";
import { Mail, Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { page, Pages, share } from "@stagecraft/framework/pages";
import { CsrfConfig, Session, SessionConfig, sessionKey } from "@stagecraft/framework/session";
import { MemoryStorage, Storage } from "@stagecraft/framework/storage";
import { UploadedFile, Uploads } from "@stagecraft/framework/uploads";
import type { Generated, Kysely } from "kysely";
import { z } from "zod";

interface Tables {
  tickets: { id: Generated<number>; owner: string; title: string; files: number; state: "open" | "closed" };
}

export class DeskDatabase extends Database<Tables> {}

const migrations = [
  {
    name: "tickets",
    up: (db: Kysely<MigrationTables>) =>
      db.schema
        .createTable("tickets")
        .addColumn("id", "integer", (id) => id.primaryKey().autoIncrement())
        .addColumn("owner", "text")
        .addColumn("title", "text")
        .addColumn("files", "integer")
        .addColumn("state", "text")
        .execute(),
  },
];

interface Person {
  readonly name: string;
  readonly role: "customer" | "agent";
}

/** The person who sends the request; the guard sets it, and the handlers read it. */
export const CurrentPerson = new Extension<Person>("CurrentPerson");
const PERSON = sessionKey<Person>("person");
const TOKENS: Readonly<Record<string, Person>> = { "token-of-ann": { name: "ann", role: "agent" } };

@Injectable()
export class SignedIn implements Middleware {
  async handle(ctx: Context, next: Next) {
    const token = /^Bearer (.+)$/.exec(ctx.get("Authorization"))?.[1];
    const person = token === undefined ? await Session.of(ctx).get(PERSON) : TOKENS[token];
    if (person === undefined) throw new UnauthorizedError("sign in first");
    CurrentPerson.set(ctx, person);
    await next();
  }
}

@Injectable()
class AgentsOnly implements Middleware {
  async handle(ctx: Context, next: Next) {
    if (CurrentPerson.of(ctx).role !== "agent") throw new ForbiddenError("only agents do this");
    await next();
  }
}

@Injectable()
export class Tickets {
  constructor(private readonly db: DeskDatabase) {}

  async open(owner: string, title: string, files: number): Promise<number> {
    const row = { owner, title, files, state: "open" as const };
    return (await this.db.query.insertInto("tickets").values(row).returning("id").executeTakeFirstOrThrow()).id;
  }

  async find(id: string) {
    const ticket = await this.db.query
      .selectFrom("tickets")
      .selectAll()
      .where("id", "=", Number(id))
      .executeTakeFirst();
    return ticket ?? Promise.reject(new NotFoundError(`no ticket ${id}`));
  }

  search(words: string, states: readonly ("open" | "closed")[]) {
    const rows = this.db.query.selectFrom("tickets").selectAll().where("title", "like", `%${words}%`);
    return (states.length === 0 ? rows : rows.where("state", "in", states)).orderBy("id").execute();
  }

  async close(id: number): Promise<void> {
    await this.db.query.updateTable("tickets").set({ state: "closed" }).where("id", "=", id).execute();
  }

  async count(): Promise<number> {
    return (await this.search("", ["open"])).length;
  }
}

/** A shared prop that needs a service comes from a middleware. */
@Injectable()
class OpenTickets implements Middleware {
  constructor(private readonly all: Tickets) {}

  async handle(ctx: Context, next: Next) {
    share(ctx, { openTickets: () => this.all.count() });
    await next();
  }
}

export const ticketOpened = event<{ readonly id: number; readonly owner: string }>("ticket.opened");
export const remind = job<{ readonly id: number; readonly owner: string }>("ticket.remind");

class Reminder extends Mail<{ id: number }> {
  subject() {
    return `Ticket ${this.data.id} is still open`;
  }

  text() {
    return `Is ticket ${this.data.id} solved?\n`;
  }
}

const TWO_DAYS = 2 * 24 * 3_600_000;

@Injectable()
export class Reminders {
  constructor(
    private readonly jobs: Jobs,
    private readonly mailer: Mailer,
    private readonly tickets: Tickets,
  ) {}

  @On(ticketOpened)
  async plan(opened: { readonly id: number; readonly owner: string }) {
    await this.jobs.dispatch(remind, opened, { delay: TWO_DAYS });
  }

  @Handles(remind)
  async send({ id, owner }: { readonly id: number; readonly owner: string }) {
    if ((await this.tickets.find(String(id))).state === "open")
      await this.mailer.send(new Reminder({ id }).to(`${owner}@desk.example`));
  }
}

const NewTicket = z.object({ title: z.string().min(3), files: z.array(z.instanceof(UploadedFile)).default([]) });
const Query = z.object({
  q: z.string().default(""),
  filter: z.object({ state: z.array(z.enum(["open", "closed"])).default([]) }).default({ state: [] }),
});

export const tickets = resource("tickets", "/tickets", { only: ["index", "store", "show"] });

@Controller(tickets)
@Middleware(SignedIn, OpenTickets)
class TicketsController {
  constructor(
    private readonly all: Tickets,
    private readonly storage: Storage,
    private readonly events: Events,
  ) {}

  async index(ctx: Context) {
    const { q, filter } = await ctx.search(Query);
    return page("tickets/index", { tickets: await this.all.search(q, filter.state) });
  }

  async store(ctx: Context) {
    const { title, files } = await ctx.uploads(NewTicket);
    const owner = CurrentPerson.of(ctx).name;
    for (const file of files) await file.storeIn(this.storage, `tickets/${owner}`);
    const id = await this.all.open(owner, title, files.length);
    await this.events.emit(ticketOpened, { id, owner });
    return redirect().route(tickets.show, id).with("notice", "The ticket is open.");
  }

  async show({ params }: Context<"id">) {
    return page("tickets/show", { ticket: await this.all.find(params.id) });
  }
}

export const api = routes("api", "/api", {
  open: Post("/tickets", { bearer: true }),
  close: Post("/tickets/{id}/close", { bearer: true }),
});
const ApiTicket = z.object({ title: z.string().min(3) });

@Controller(api)
@Middleware(SignedIn)
class ApiController {
  constructor(private readonly all: Tickets) {}

  @api.open
  async open(ctx: Context) {
    const { title } = await ctx.json(ApiTicket);
    const id = await this.all.open(CurrentPerson.of(ctx).name, title, 0);
    return Reply.created(tickets.show.url(id), { id });
  }

  @api.close
  @Middleware(AgentsOnly)
  async close({ params }: Context<"id">) {
    await this.all.close((await this.all.find(params.id)).id);
  }
}

const SignIn = z.object({ name: z.string().min(1) });

@Controller()
class AccountController {
  @Get("/")
  home() {
    return "help desk";
  }

  @Post("/sign-in")
  @Middleware(RateLimit.perMinute(2))
  async signIn(ctx: Context) {
    const { name } = await ctx.form(SignIn);
    Session.of(ctx).regenerate();
    Session.of(ctx).put(PERSON, { name, role: "customer" });
    return redirect().route(tickets.index);
  }

  /** The sender signs its body; the chapter on webhooks shows the check. */
  @Post("/hooks/mail", { csrf: "exempt" })
  async mailArrived(ctx: Context) {
    return { bytes: (await ctx.bytes()).length };
  }
}

@Module({
  controllers: [AccountController, TicketsController, ApiController],
  providers: [
    Tickets,
    Reminders,
    SignedIn,
    AgentsOnly,
    OpenTickets,
    provide(DeskDatabase).useFactory(() => new DeskDatabase(sqlite(":memory:"), { migrations, migrate: true })),
    provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() })),
    provide(Mailer).useFactory(() => new MemoryMailer({ from: "desk@desk.example" })),
    provide(Storage).useFactory(() => new MemoryStorage()),
    provide(Uploads).useFactory(() => new Uploads()),
  ],
  events: [ticketOpened],
})
export class DeskModule {}

export function helpDesk() {
  return Application.create(DeskModule)
    .catchPanic()
    .errorMapping()
    .bodyLimit(2 ** 21)
    .timeout(30_000, { status: 503 })
    .session(SessionConfig.dev(randomBytes(64)))
    .csrf(CsrfConfig.dev())
    .pages(new Pages());
}
