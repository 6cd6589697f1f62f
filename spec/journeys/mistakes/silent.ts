/** Mistakes that do not stop an application: it says them when it starts, or when a request meets them. */
import { asking, JOBS, type Mistake, running } from "./mistake.js";

export const SILENT: readonly Mistake[] = [
  {
    title: "a controller that no module lists",
    files: running(
      `@Controller() class Links { @Get("/") index() { return ""; } }\nvoid Links;\n@Module() class Shop {}`,
    ),
    says: ["a class has @Controller and no module lists it", "Links", "list the class under controllers of a module"],
    serves: true,
  },
  {
    title: "a listener that no module lists",
    files: running(
      `const created = event("created");\nclass Log { @On(created) write() {} }\nvoid Log;\n@Module() class Shop {}`,
    ),
    says: [
      "a class has @On and no module lists it: its listeners are never called",
      "Log",
      "list the class under providers",
    ],
    serves: true,
  },
  {
    title: "a handler of jobs that no module lists",
    files: running(
      `${JOBS}const resize = job("resize");\nclass Work { @Handles(resize) run() {} }\nvoid Work;\n@Module({ providers: [provide(Jobs).useClass(MemoryJobs)] }) class Shop {}`,
    ),
    says: ["a class has @Handles and no module lists it", "Work", "list the class under providers"],
    serves: true,
  },
  {
    title: "a schedule that no module lists",
    files: running(
      `${JOBS}const nightly = schedule("nightly", "0 3 * * *");\nclass Cleaner { @Every(nightly) run() {} }\nvoid Cleaner;\n@Module({ providers: [provide(Jobs).useClass(MemoryJobs)] }) class Shop {}`,
    ),
    says: [
      "a class has @Every and no module lists it: its schedules never run",
      "Cleaner",
      "list the class under providers",
    ],
    serves: true,
  },
  {
    title: "a port that is not a number",
    files: running(`@Module() class Shop {}`),
    env: { FRAMEWORK_BACKEND_PORT: "80 80" },
    says: ["a variable is not a port, and has no effect", "FRAMEWORK_BACKEND_PORT", "write a whole number from 0"],
    serves: true,
  },
  {
    title: "a handler that throws, without a log",
    files: asking(
      "/",
      `@Controller() class Links { @Get("/") index() { throw new TypeError("broken"); } }\n@Module({ controllers: [Links] }) class Shop {}`,
    ),
    says: ["panic in GET /: TypeError: broken", "at Links.index", "main."],
    serves: true,
  },
  {
    title: "a query that fails, without a log",
    files: asking(
      "/",
      `import { Database } from "@stagecraft/framework/db";\nimport { sqlite } from "@stagecraft/framework/db/sqlite";\nclass ShopDatabase extends Database<{ links: { id: number } }> {}\n@Controller() class Links { constructor(readonly db: ShopDatabase) {} @Get("/") index() { return this.db.run("select * from nowhere"); } }\n@Module({ controllers: [Links], providers: [provide(ShopDatabase).useValue(new ShopDatabase(sqlite(":memory:")))] }) class Shop {}`,
    ),
    says: ["request failed in GET /: DatabaseError", "no such table: nowhere", "in: select * from nowhere"],
    serves: true,
  },
  {
    title: "a release build without a log",
    files: running(`@Module() class Shop {}`),
    env: { NODE_ENV: "production" },
    says: ["listening on", "no log is installed", 'fix: installLogging("info") of @stagecraft/framework/observe'],
    serves: true,
  },
  {
    title: "a forgotten await before ctx.json, whose promise is in the response",
    files: asking(
      "/links",
      `@Controller() class Links { @Post("/links") create(ctx: Context) { return { saved: ctx.json() }; } }\n@Module({ controllers: [Links] }) class Shop {}`,
      '{ method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }',
    ),
    says: ["panic in POST /links", "a handler returned a value that holds a Promise", "await it first"],
    serves: true,
  },
  {
    title: "a forgotten await before ctx.json, whose field is in the response",
    files: running(
      `@Controller() class Links { @Post("/links") create(ctx: Context) { const { title } = ctx.json() as never as { title: string }; return { title }; } }\n@Module({ controllers: [Links] }) class Shop {}`,
      `(await import("@stagecraft/framework/observe")).installLogging("info");
void Application.create(Shop).build().run();
const url = \`http://127.0.0.1:\${process.env["PORT"]}/links\`;
const ask = (): Promise<unknown> => fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).catch(() => new Promise((next) => setTimeout(next, 20)).then(ask));
await ask();`,
    ),
    says: ["the handler did not wait for ctx.json(…)", "write await before it", "POST /links"],
    serves: true,
  },
  {
    title: "a POST of a program to an application with CSRF tokens",
    files: running(
      `import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";\n@Controller() class Links { @Post("/links") create() { return ""; } }\n@Module({ controllers: [Links] }) class Shop {}`,
      `(await import("@stagecraft/framework/observe")).installLogging("debug");
void Application.create(Shop).csrf(new CsrfConfig()).build().run();
const url = \`http://127.0.0.1:\${process.env["PORT"]}/links\`;
const ask = (): Promise<string> => fetch(url, { method: "POST" }).then((response) => response.text(), () => new Promise((next) => setTimeout(next, 20)).then(ask));
console.log(await ask());`,
    ),
    says: ["request refused", "missing CSRF cookie", "Authorization: Bearer"],
    serves: true,
  },
];
