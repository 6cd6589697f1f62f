/** Mistakes with the parts beside the row: databases, jobs, mails, sessions and pages. */
import { asking, JOBS, type Mistake, running } from "./mistake.js";

const DB = `import { Database, readMigrations } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
interface Tables { links: { id: number } }
class ShopDatabase extends Database<Tables> {}
`;
const PROVIDED = `provide(ShopDatabase).useValue(new ShopDatabase(sqlite(":memory:")))`;
const MAIL = `import { mailerFromEnv } from "@stagecraft/framework/mail/smtp";
import { Mail, Mailer, MemoryMailer } from "@stagecraft/framework/mail";
class Welcome extends Mail<undefined> { subject() { return "Welcome"; } text() { return "Welcome"; } }
`;
const LOG = `import { installLogging } from "@stagecraft/framework/observe";\ninstallLogging("info");\n`;
const SESSION = `import { randomBytes } from "node:crypto";\nimport { Session, SessionConfig, SessionStore } from "@stagecraft/framework/session";\n`;

export const PARTS: readonly Mistake[] = [
  {
    title: "jobs in a database without jobsMigrations",
    files: running(`${DB}${JOBS}@Module({ providers: [Jobs, ${PROVIDED}] }) class Shop {}`),
    says: [
      "E_DB_TABLE the table framework_job_queues cannot be read: ",
      "at the migrations of ShopDatabase",
      "fix: list jobsMigrations of @stagecraft/framework/jobs under the migrations of ShopDatabase",
    ],
  },
  {
    title: "sessions in a database without sessionMigrations",
    files: running(
      `${DB}${SESSION}import { DatabaseSessionStore } from "@stagecraft/framework/session/db";\nconst db = new ShopDatabase(sqlite(":memory:"));\n@Module({ providers: [provide(ShopDatabase).useValue(db)] }) class Shop {}`,
      `await Application.create(Shop).session(new SessionConfig(randomBytes(64)), new DatabaseSessionStore(db)).build().run();`,
    ),
    says: [
      "E_DB_TABLE the table framework_sessions cannot be read: ",
      "at the migrations of ShopDatabase",
      "fix: list sessionMigrations of @stagecraft/framework/session/db under the migrations of ShopDatabase",
    ],
  },
  {
    title: "a folder of migrations that the build has not copied",
    files: running(
      `${DB}const db = new ShopDatabase(sqlite(":memory:"), { migrations: [readMigrations(new URL("none/", import.meta.url))], migrate: true });\n@Module({ providers: [provide(ShopDatabase).useValue(db)] }) class Shop {}`,
    ),
    says: ["E_DB_MIGRATION_FILE", "does not exist", "tsc copies no .sql file: copy the folder in the build"],
  },
  {
    title: "a query that is returned before it is executed",
    files: asking(
      "/",
      `${DB}@Controller() class Links { constructor(readonly db: ShopDatabase) {} @Get("/") index() { return this.db.query.selectFrom("links").selectAll(); } }\n@Module({ controllers: [Links], providers: [${PROVIDED}] }) class Shop {}`,
    ),
    says: ["panic in GET /", "a handler returned a query that was not executed", "add .execute()"],
    serves: true,
  },
  {
    title: "a bigint in a response",
    files: asking(
      "/",
      `@Controller() class Links { @Get("/") index() { return { link: { id: 7n } }; } }\n@Module({ controllers: [Links] }) class Shop {}`,
    ),
    says: ["panic in GET /", "a handler returned a value with a bigint at link.id", "return String(…) of it"],
    serves: true,
  },
  {
    title: "a mailer without a sender",
    files: asking(
      "/",
      `${MAIL}@Controller() class Links { constructor(readonly mailer: Mailer) {} @Get("/") index() { return this.mailer.send(new Welcome(undefined).to("ada@example.org")); } }\n@Module({ controllers: [Links], providers: [provide(Mailer).useFactory(() => new MemoryMailer())] }) class Shop {}`,
    ),
    says: ["request failed in GET /", "a mail needs a sender", 'new MemoryMailer({ from: "shop@example.org" })'],
    serves: true,
  },
  {
    title: "a mailer of a release build without a server",
    files: running(`${MAIL}@Module({ providers: [provide(Mailer).useFactory(() => mailerFromEnv())] }) class Shop {}`),
    env: { NODE_ENV: "production" },
    says: ["E_MAIL_UNCONFIGURED Mailer could not be built", "set SMTP_URL", "at factory of Mailer, in Shop"],
  },
  {
    title: "pages of a release build without a front end",
    files: running(
      `import { Pages } from "@stagecraft/framework/pages";\n@Module() class Shop {}`,
      `await Application.create(Shop).pages(new Pages({ entry: "pages/main.tsx" })).build().run();`,
    ),
    env: { NODE_ENV: "production" },
    says: ["E_MANIFEST there is no manifest", "run npx vite build", "at .pages(…)"],
  },
  {
    title: "an extension that no middleware sets",
    files: asking(
      "/",
      `import { Extension } from "@stagecraft/framework";\nconst Who = new Extension<string>("Who");\n@Controller() class Links { @Get("/") index(ctx: Context) { return Who.of(ctx); } }\n@Module({ controllers: [Links] }) class Shop {}`,
    ),
    says: [
      "no Who on this request",
      "no code has called Who.set(ctx, …)",
      "put the middleware that does so before this code",
    ],
    serves: true,
  },
  {
    title: "a route with a path that cannot be used",
    files: running(
      `import { Route, Routes } from "@stagecraft/framework";\nconst table = new Routes([Route.get("links", () => "")]);\n@Module() class Shop {}`,
      "await Application.create(Shop).routes(table).build().run();",
    ),
    says: ['E_ROUTE_PATH the path "', "at GET ", "fix: write it as segments after slashes"],
  },
  {
    title: "a function in the payload of a job",
    files: asking(
      "/",
      `${JOBS}const resize = job<object>("resize");\n@Controller() class Links { constructor(readonly jobs: Jobs) {} @Get("/") index() { return this.jobs.dispatch(resize, { done() {} }); } }\n@Module({ controllers: [Links], providers: [provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() }))] }) class Shop {}`,
    ),
    says: [
      "request failed in GET /",
      "the payload of resize loses a value in JSON",
      "payload.done is of type function",
    ],
    serves: true,
  },
  {
    title: "a session store that fails, without a log",
    files: asking(
      "/",
      `${SESSION}class Broken extends SessionStore { load(): never { throw new Error("refused"); } create(): never { throw new Error("refused"); } update(): never { throw new Error("refused"); } move(): never { throw new Error("refused"); } end() {} sweepExpired() { return 0; } }\n@Controller() class Links { @Get("/") async index(ctx: Context) { Session.of(ctx).put("a", "b"); return ""; } }\n@Module({ controllers: [Links] }) class Shop {}`,
      "{}",
      ".session(new SessionConfig(randomBytes(64)), new Broken())",
    ),
    says: ["session store failed in GET /", "refused", "at Broken.create"],
    serves: true,
  },
  {
    title: "mails that are queued and that no process sends",
    files: asking(
      "/",
      `${LOG}${MAIL}${JOBS}import { mailQueue } from "@stagecraft/framework/mail/jobs";\n@Controller() class Links { constructor(readonly mailer: Mailer) {} @Get("/") index() { return this.mailer.queue(new Welcome(undefined).to("ada@example.org")); } }\n@Module({ controllers: [Links], providers: [provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() })), provide(Mailer).useFactory((resolve) => new MemoryMailer({ from: "shop@example.org", queue: mailQueue(resolve(Jobs)) }))] }) class Shop {}`,
    ),
    says: ["no handler for job", "job=framework.mail", "list mailJobs([…]) of @stagecraft/framework/mail/jobs"],
    serves: true,
  },
  {
    title: "a middleware that does not wait for next()",
    files: asking(
      "/",
      `${LOG}import { middleware } from "@stagecraft/framework";\nconst forgetful = middleware(function forgetful(_ctx: Context, next: Next) { void next(); });\n@Controller() @Middleware(forgetful) class Links { @Get("/") async index() { await new Promise(setImmediate); return ""; } }\n@Module({ controllers: [Links] }) class Shop {}`,
    ),
    says: ["next() was not awaited", 'route="GET /"', "write await next()"],
    serves: true,
  },
];
