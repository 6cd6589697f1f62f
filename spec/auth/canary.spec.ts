/**
 * Every flow of an identity with recognisable secrets, which then stand nowhere: not in a log, a span, a metric, a job, an event, an error, or
 * the printed form of a class. Each new flow runs here too.
 */
import { inspect } from "node:util";
import { Clock, provide } from "@stagecraft/framework";
import {
  AttemptLimits,
  AuthSettings,
  EmailChange,
  Identities,
  MagicLink,
  PasswordChange,
  PasswordReset,
  Passwords,
  SignedInSession,
  SignedLinks,
  SignIn,
  SignIns,
  SignUp,
  SingleUseLinks,
} from "@stagecraft/framework/auth";
import { authMigrations } from "@stagecraft/framework/auth/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Jobs, jobsMigrations } from "@stagecraft/framework/jobs";
import { expectNoLeak, FakeClock, testApp, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, buildAccounts, KEY, mailsOf, signIn } from "./account-application.js";
import { AppDatabase } from "./auth-database.js";

const EMAIL = "ada@shop.example";
const FIRST = "canary4711first";
const SECOND = "canary4711second";
const THIRD = "canary4711third";

/** A process that prints an instance prints what it has injected. */
const INJECTED = [
  AttemptLimits,
  AuthSettings,
  EmailChange,
  Identities,
  MagicLink,
  PasswordChange,
  PasswordReset,
  Passwords,
  SignedInSession,
  SignedLinks,
  SignIn,
  SignIns,
  SignUp,
  SingleUseLinks,
];

const post = (client: TestClient, path: string, json?: object) => client.post(path, json === undefined ? {} : { json });

/** The hashes in the tables, and the jobs, of which a trigger keeps a copy. */
class Rows {
  readonly hashes = new Set<string>();

  constructor(private readonly db: AppDatabase) {}

  async copyJobs(): Promise<void> {
    await this.db.run("create table job_copies as select * from framework_jobs where 1 = 0");
    await this.db.run(
      "create trigger copies after insert on framework_jobs begin " +
        "insert into job_copies select * from framework_jobs where id = new.id; end",
    );
  }

  async printJobs(): Promise<string> {
    return inspect(await this.db.run("select * from job_copies"), { depth: 5, maxArrayLength: null });
  }

  async read(): Promise<void> {
    for (const table of ["framework_identities", "framework_single_use_links"])
      for (const { password } of (await this.db.run(`select password from ${table}`)) as { password: string | null }[])
        if (password !== null) this.hashes.add(password);
  }
}

async function runFlows(app: TestApp, rows: Rows): Promise<void> {
  const client = app.withCookies();
  let mails = 0;
  const openLast = async (json?: object): Promise<void> => {
    await rows.read();
    const link = (await mailsOf(app, ++mails)).at(-1)?.link ?? "";
    await client.get(link);
    expect((await post(client, link, json)).status, link).to.equal(200);
    await rows.read();
  };
  await post(client, account.signUp.url(), { email: EMAIL, password: FIRST, name: "Ada" });
  await openLast({});
  for (const password of [FIRST, SECOND]) await signIn(client, EMAIL, password);
  await post(client, account.confirm.url(), { password: FIRST });
  await post(client, account.changePassword.url(), { current: FIRST, password: SECOND });
  await mailsOf(app, ++mails);
  await post(client, account.forgot.url(), { email: EMAIL });
  await openLast({ password: THIRD });
  await mailsOf(app, ++mails);
  await post(client, account.link.url(), { email: EMAIL });
  await openLast();
  await post(client, account.changeEmail.url(), { email: "countess@shop.example" });
  await openLast();
  await mailsOf(app, ++mails);
  await post(client, account.signOut.url());
}

describe("the flows of an identity", function () {
  this.timeout(60_000);

  it("show no password, hash, key or link in logs, jobs and printed classes, and no password in spans and metrics", async () => {
    const db = new AppDatabase(sqlite(":memory:"), { migrations: [authMigrations, jobsMigrations], migrate: true });
    const builder = buildAccounts({ db, bindings: [provide(Jobs).useFactory(() => new Jobs())] });
    const observed = builder.requestId().traceContext().accessLog().metrics().catchPanic().errorMapping();
    await using app = await testApp(observed, provide(Clock).useValue(new FakeClock()));
    const rows = new Rows(db);

    await rows.copyJobs();
    await runFlows(app, rows);

    const links = (await mailsOf(app, 1)).flatMap(({ link }) => (link === "" ? [] : [link]));
    const signatures = links.map((link) => new URL(link, "http://none").searchParams.get("signature") ?? "");
    expect(rows.hashes).to.have.property("size").above(2);
    expect(signatures).to.have.lengthOf(4);
    const printed = INJECTED.map((each) =>
      inspect(app.resolve(each as typeof SignIn), { depth: 12, showHidden: true }),
    );
    const texts = { logs: app.logs.lines().join("\n"), jobs: await rows.printJobs(), printed: printed.join("\n") };
    const secrets = [FIRST, SECOND, THIRD, KEY, ...rows.hashes, ...signatures];
    for (const [place, text] of Object.entries(texts)) {
      expect(text.length, place).to.be.above(1000);
      for (const secret of secrets) expect(text.includes(secret), `${secret} in ${place}`).to.equal(false);
    }
    for (const password of [FIRST, SECOND, THIRD]) await expectNoLeak(app, password);
  });
});
