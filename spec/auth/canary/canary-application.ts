/**
 * An application with every flow of an identity, whose output is searched for secrets: what it logs, measures, stores, mails, emits, throws,
 * prints, and sends in the heads of its responses.
 */
import { inspect } from "node:util";
import {
  type ApplicationBuilder,
  Clock,
  type Context,
  Controller,
  Events,
  type KoaMiddleware,
  Post,
  provide,
  routes,
} from "@stagecraft/framework";
import * as auth from "@stagecraft/framework/auth";
import * as authDb from "@stagecraft/framework/auth/db";
import * as authPasskeys from "@stagecraft/framework/auth/passkeys";
import { Encrypter, UrlSigner } from "@stagecraft/framework/crypto";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Jobs, jobsMigrations } from "@stagecraft/framework/jobs";
import { Mailer, type MemoryMailer } from "@stagecraft/framework/mail";
import { Metrics } from "@stagecraft/framework/observe";
import { Session } from "@stagecraft/framework/session";
import { DatabaseSessionStore, sessionMigrations } from "@stagecraft/framework/session/db";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { withObservability } from "../../support/with-observability.js";
import { type AccountOptions, buildAccounts, KEY } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { KeysController } from "../passkeys/passkey-application.js";
import { SecurityController } from "../second-step/second-step-application.js";
import { ApiController, TokensController } from "../tokens/token-application.js";
import { SecretSearch } from "./secret-search.js";

/** Where a secret must not stand. */
export const CHANNELS = [
  "the log",
  "the spans",
  "the metrics",
  "the rows",
  "the mails",
  "the events",
  "the errors",
  "the printed classes",
  "the printed sessions",
  "the start-up report",
  "the heads of responses",
  "the bodies of refusals",
] as const;

export type Channel = (typeof CHANNELS)[number];

export const vault = routes("vault", "/vault", { lock: Post("/") });

export const PLAIN = "canary4711 plain text";

/** A controller that encrypts and signs. */
@Controller(vault)
class VaultController {
  private readonly encrypter = new Encrypter([KEY, KEY]);
  private readonly signer = new UrlSigner(KEY, "https://shop.example");

  @vault.lock lock(ctx: Context) {
    const encrypted = this.encrypter.encrypt(PLAIN, { context: "vault" });
    const url = this.signer.sign("GET", "/vault", { expiresAt: new Date(ctx.clock.now()) });
    return { encrypted, url, isSame: this.encrypter.decrypt(encrypted, { context: "vault" }) === PLAIN };
  }
}

export class CanaryApplication implements AsyncDisposable {
  readonly search = new SecretSearch();
  readonly printed: (readonly [name: string, instance: unknown])[] = [];

  private constructor(
    readonly clock: FakeClock,
    readonly db: AppDatabase,
    readonly app: TestApp,
    noted: { add: (channel: Channel, text: string) => void },
  ) {
    this.search.addSecret("the key", KEY);
    this.search.addSecret("the bytes of the key", Buffer.from(KEY, "hex"));
    noted.add = (channel, text) => this.search.addText(channel, text);
    this.recordEvents();
    this.printed.push(...this.listInstances());
  }

  /** @param more further bindings and controllers */
  static async start(
    extend = (builder: ApplicationBuilder) => builder,
    more: Pick<AccountOptions, "bindings" | "controllers"> = {},
  ): Promise<CanaryApplication> {
    const noted = { add: (_channel: Channel, _text: string) => {} };
    const migrations = [authDb.authMigrations, sessionMigrations, jobsMigrations];
    const db = new AppDatabase(sqlite(":memory:"), { migrations, migrate: true });
    const builder = buildAccounts({
      db,
      sessions: new DatabaseSessionStore(db),
      controllers: [
        SecurityController,
        KeysController,
        TokensController,
        ApiController,
        VaultController,
        ...(more.controllers ?? []),
      ],
      bindings: [
        ...auth.secondStep({ issuer: "The Shop" }),
        ...authPasskeys.passkeys({ name: "The Shop", rpId: "localhost", origins: ["http://localhost"] }),
        provide(Jobs).useFactory(() => new Jobs()),
        ...(more.bindings ?? []),
      ],
    });
    const clock = new FakeClock();
    // Its timers know the requests that have set them. The clock of the machine has none.
    Object.defineProperty(clock, inspect.custom, { value: () => "FakeClock" });
    const observed = extend(withObservability(builder).layer(createRecorder(noted)));
    const app = await testApp(observed, provide(Clock).useValue(clock));
    const canary = new CanaryApplication(clock, db, app, noted);
    await canary.copyRows();
    return canary;
  }

  /** Notes the response, but not what it shows to the person who has asked for it. */
  async note(response: Response): Promise<void> {
    const { status, headers } = response;
    for (const [name, value] of headers)
      if (name !== "set-cookie") this.search.addText("the heads of responses", `${name}: ${value}`);
    if (status >= 400) this.search.addText("the bodies of refusals", await response.clone().text());
  }

  /** Reads the channels that keep what they get, and searches all. The rows of a database that is down cannot be read. */
  async find({ withRows = true } = {}): Promise<readonly string[]> {
    const { app, search } = this;
    for (const line of app.logs.lines()) search.addText("the log", line);
    for (const text of app.captured.spans.texts()) search.addText("the spans", text);
    search.addText("the metrics", app.resolve(Metrics).render());
    search.addText(
      "the start-up report",
      JSON.stringify(app.application.graph()) + JSON.stringify(app.application.routes().descriptors()),
    );
    for (const { recipients, subject, text } of (app.resolve(Mailer) as MemoryMailer).sent)
      search.addText("the mails", `${recipients.join()}\n${subject}\n${text}`);
    for (const row of withRows ? await this.readRows() : []) search.addText("the rows", row);
    // Most classes inject the same ones, so most lines are the same.
    for (const line of this.printed.flatMap((each) => print(each).split("\n")))
      search.addText("the printed classes", line.trim());
    return search.find();
  }

  /** Each row as it is and as it was: a finished job leaves its table. */
  async readRows(): Promise<readonly string[]> {
    const rows: string[] = [];
    for (const table of await this.listTables())
      for (const row of (await this.db.run(`select * from ${table}`)) as object[])
        rows.push(`${table} ${Object.values(row).map(toText).join(" | ")}`);
    return rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.stop();
  }

  private async copyRows(): Promise<void> {
    for (const table of await this.listTables()) {
      await this.db.run(`create table copy_of_${table} as select * from ${table} where 1 = 0`);
      for (const event of ["insert", "update"])
        await this.db.run(
          `create trigger copy_${event}_${table} after ${event} on ${table} begin ` +
            `insert into copy_of_${table} select * from ${table} where rowid = new.rowid; end`,
        );
    }
  }

  private async listTables(): Promise<readonly string[]> {
    const query = "select name from sqlite_master where type = 'table' and name not like 'sqlite%'";
    return ((await this.db.run(query)) as { name: string }[]).map(({ name }) => name);
  }

  private recordEvents(): void {
    const events = this.app.resolve(Events);
    const emit = events.emit.bind(events);
    Object.assign(events, {
      emit: (...all: Parameters<typeof emit>) => {
        this.search.addText("the events", print(all));
        return emit(...all);
      },
    });
  }

  /** Each public class of the identity that the application injects, and its controllers. */
  private listInstances(): readonly (readonly [string, unknown])[] {
    const exported: readonly unknown[] = [auth, authDb, authPasskeys].flatMap((entry) => Object.values(entry));
    const classes = exported.filter((each) => typeof each === "function" && each.toString().startsWith("class"));
    return [...classes, VaultController].flatMap((each) => {
      try {
        // Every class is a token; one that the application does not bind throws.
        const token = each as typeof auth.SignIn;
        return [[token.name, this.app.resolve(token)] as const];
      } catch {
        return [];
      }
    });
  }
}

/** Prints the session of each request, and each error with its causes. The context of Koa prints the request as the client has sent it. */
function createRecorder(noted: { readonly add: (channel: Channel, text: string) => void }): KoaMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      noted.add("the errors", print(error));
      throw error;
    } finally {
      noted.add("the printed sessions", print(Session.of(ctx)));
    }
  };
}

export function print(value: unknown): string {
  return inspect(value, { depth: 6, showHidden: true, maxArrayLength: null, maxStringLength: null });
}

function toText(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value);
}
