/** The deletion of an account: what goes with it, who may do it, and what a failure leaves. */
import { type ContextOf, Controller, inject, Post, provide, Reply, routes } from "@stagecraft/framework";
import {
  AccountDeletion,
  ApiTokens,
  Identities,
  PasskeyStore,
  RecoveryCodes,
  TotpSecrets,
} from "@stagecraft/framework/auth";
import { signedIn } from "@stagecraft/framework/auth/guards";
import { expectProblem, FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { sql } from "kysely";
import { account, addPerson, AppUsers, mailsOf, signIn, signInAs, startAccounts } from "./account-application.js";
import { AppDatabase } from "./auth-database.js";
import { remember, visit } from "./remembered-devices.js";

const leaving = routes("leaving", "/leaving", {
  remove: Post("/", { guards: [signedIn] }),
});

@Controller(leaving)
class LeavingController {
  private readonly deletion = inject(AccountDeletion);

  @leaving.remove async remove(ctx: ContextOf<typeof leaving.remove>) {
    await this.deletion.delete(ctx);
    return Reply.noContent();
  }
}

const TABLES = [
  "framework_identities",
  "framework_single_use_links",
  "framework_remember_tokens",
  "framework_totp_secrets",
  "framework_recovery_codes",
  "framework_api_tokens",
  "framework_passkeys",
];

/** The number of rows of a user in each table that has some. */
async function countRows(db: AppDatabase, userId: string): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const { rows } = await sql`select * from ${sql.table(table)} where user_id = ${userId}`.execute(db.query);
    if (rows.length > 0) counts[table] = rows.length;
  }
  return counts;
}

class LeavingUsers extends AppUsers {
  readonly deleted: string[] = [];
  failure: Error | undefined;

  override delete(userId: string): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    this.deleted.push(userId);
    return Promise.resolve();
  }
}

async function start(clock = new FakeClock()) {
  const db = AppDatabase.on();
  const bindings = [provide(AppUsers).useClass(LeavingUsers)];
  const app = await startAccounts({ clock, db, bindings, controllers: [LeavingController] });
  return { app, db, [Symbol.asyncDispose]: () => app.stop() };
}

/** Adds a person who has something in each table. */
async function addEverything(app: TestApp, userId: string): Promise<void> {
  const email = await addPerson(app, userId);
  await app.post(account.forgot.url(), { json: { email } });
  await mailsOf(app, 1);
  await app.resolve(TotpSecrets).insert({ userId, secret: "encrypted", lastStep: 0, createdAt: 1 });
  await app.resolve(RecoveryCodes).replace(userId, [`a hash of ${userId}`, `another hash of ${userId}`]);
  await app.resolve(ApiTokens).create(userId, { name: "CI", scopes: [] });
  const key = { credentialId: "id", publicKey: "key", counter: 0, transports: [], usage: "sign-in", name: "" } as const;
  await app
    .resolve(PasskeyStore)
    .insert({ ...key, id: `key of ${userId}`, userId, createdAt: 1, lastUsedAt: undefined });
}

describe("the deletion of an account", () => {
  it("leaves nothing of the person in a table, and all of other persons", async () => {
    await using shop = await start();
    for (const userId of ["ada", "eve"]) await addEverything(shop.app, userId);
    const device = await remember(shop.app, "ada");
    const ada = await signInAs(shop.app, "ada");
    const before = await countRows(shop.db, "ada");

    const response = await ada.post(leaving.remove.url());

    expect(Object.keys(before)).to.have.members(TABLES);
    expect(response.status).to.equal(204);
    expect(await countRows(shop.db, "ada")).to.deep.equal({});
    expect(Object.keys(await countRows(shop.db, "eve"))).to.have.length(TABLES.length - 1);
    expect((shop.app.resolve(AppUsers) as LeavingUsers).deleted).to.deep.equal(["ada"]);
    expect((await visit(shop.app, device)).status).to.equal(401);
    expect((await ada.get(account.show.url())).status).to.equal(401);
    expect((await signIn(shop.app, "ada@shop.example")).status).to.equal(401);
  });

  it("ends a token that was seen just now", async () => {
    await using shop = await start();
    const { text } = await shop.app.resolve(ApiTokens).create("ada", { name: "CI", scopes: [] });
    expect(await shop.app.resolve(ApiTokens).verify(text)).to.include({ userId: "ada" });

    await shop.app.resolve(AccountDeletion).deleteUser("ada");

    expect(await shop.app.resolve(ApiTokens).verify(text)).to.equal(undefined);
  });

  it("changes nothing if the user of the application cannot be deleted", async () => {
    await using shop = await start();
    await addEverything(shop.app, "ada");
    const before = await countRows(shop.db, "ada");
    Object.assign(shop.app.resolve(AppUsers), { failure: new Error("the user has open invoices") });
    const ada = await signInAs(shop.app, "ada");

    const response = await ada.post(leaving.remove.url());

    expect(response.status).to.equal(500);
    expect(await countRows(shop.db, "ada")).to.deep.equal(before);
    expect((await ada.get(account.show.url())).status).to.equal(200);
  });

  it("asks for a recent confirmation, and refuses a request of another site", async () => {
    const clock = new FakeClock();
    await using shop = await start(clock);
    await addPerson(shop.app, "ada");
    const ada = await signInAs(shop.app, "ada");

    const foreign = await ada.post(leaving.remove.url(), { headers: { "sec-fetch-site": "cross-site" } });
    clock.advance(16 * 60_000);
    const late = await ada.post(leaving.remove.url());

    await expectProblem(foreign, { status: 403, slug: "cross-site" });
    await expectProblem(late, { status: 403, slug: "confirmation" });
    expect(await shop.app.resolve(Identities).find("ada")).to.include({ userId: "ada" });
  });
});
