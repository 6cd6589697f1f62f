/** An application with jobs in a database, in a folder, and its jobs in the process of the spec. */
import { join } from "node:path";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { SystemClock } from "@stagecraft/framework";
import { DatabaseJobs, job, Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { ApplicationFolder } from "../../support/application-folder.js";
import { jobsDatabase } from "../../jobs/jobs-database.js";

const PACKAGE = JSON.stringify({ name: "shop", type: "module", stagecraft: { app: "app.ts" } });
const TYPESCRIPT = JSON.stringify({
  compilerOptions: {
    rootDir: ".",
    outDir: "dist",
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    verbatimModuleSyntax: true,
  },
  include: ["*.ts"],
});

/** The handler of `mail.welcome` prints when it begins and ends. Its payload says what it does. */
const APPLICATION = `
  import { Application, provide, Subsystem } from "@stagecraft/framework";
  import { Database } from "@stagecraft/framework/db";
  import { DRIVER } from "@stagecraft/framework/db/DRIVER";
  import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
  import { Every, FinalJobError, Handles, job, Jobs, jobsMigrations, schedule, type JobContext } from "@stagecraft/framework/jobs";

  class ShopDatabase extends Database<Record<string, never>> {}
  const welcome = job<string>("mail.welcome", undefined, { queue: "mail", attempts: 3 });
  const sweep = schedule("links.sweep", "0 3 * * *", { timeZone: "Europe/Berlin" });

  class Mails {
    @Handles(welcome)
    async send(what: string, { signal }: JobContext) {
      console.log(\`begins \${what}\`);
      if (what === "dies") throw new FinalJobError("the address\\u001b[31m is gone");
      if (what === "is slow") await new Promise((resolve) => setTimeout(resolve, 500));
      if (what === "hangs") await new Promise((resolve) => setTimeout(resolve, 60_000));
      if (what === "waits") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      console.log(\`ends \${what}\`);
    }
    @Every(sweep)
    sweep() {}
  }

  class Mailer extends Subsystem {
    readonly kind = "mail";
    start() { console.log("mailer starts"); }
    stop() {}
  }

  export default () => Application.create()
    .lifecycle({ drainDeadlineMs: 20_000 })
    .provide(JOBS, Mails, provide(Mailer).useValue(new Mailer()))
    .provide(provide(ShopDatabase).useFactory(() => new ShopDatabase(DRIVER(URL), { migrations: jobsMigrations })));
`;

export const welcome = job<string>("mail.welcome", undefined, { queue: "mail", attempts: 3 });

/** The application has no handler for it. */
export const unheard = job("mail.unheard");

export interface JobsEngine {
  /** `sqlite`, and the entry point of the same name. */
  readonly driver: string;
  /** The argument of the driver, as the text of a program. */
  readonly url: string;
  /** What provides the jobs, as the text of a program; the class alone unless set. */
  readonly jobs?: string;
}

/** The module is in the folder dist. */
export const SQLITE: JobsEngine = { driver: "sqlite", url: `new URL("../shop.db", import.meta.url).pathname` };

export function jobsFolder({ driver, url, jobs = "Jobs" }: JobsEngine = SQLITE): ApplicationFolder {
  const application = APPLICATION.replaceAll("DRIVER", driver).replace("URL", url).replace("JOBS", jobs);
  const files = { "app.ts": application, "package.json": PACKAGE, "tsconfig.json": TYPESCRIPT };
  const folder = new ApplicationFolder(files);
  folder.install("kysely", "@photostructure/sqlite", "pg", "mysql2", "croner", "bullmq", "ioredis");
  return folder;
}

export interface OpenJobs extends AsyncDisposable {
  readonly jobs: Jobs;
}

/** Makes the tables by the migrations of the application, and dispatches from the process of the spec. */
export async function openJobs(
  folder: ApplicationFolder,
  driver: DatabaseDriver = sqlite(join(folder.path, "shop.db")),
): Promise<OpenJobs> {
  const { code, stderr } = await folder.call("migrate");
  if (code !== 0) throw new Error(stderr);
  const db = await jobsDatabase(driver, new SystemClock());
  const jobs = new Jobs({ store: new DatabaseJobs(db) });
  jobs.prepare({ name: "Jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => [] });
  return { jobs, [Symbol.asyncDispose]: () => db.stop() };
}
