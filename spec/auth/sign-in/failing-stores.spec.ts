/** A store that goes away in the middle of a sign-in: the person is signed in whole or not at all, and no log line has a secret. */
import { provide, UnavailableError, type Binding } from "@stagecraft/framework";
import {
  AttemptLimits,
  Identities,
  Passwords,
  RememberTokens,
  SecondStep,
  type StampReplacement,
} from "@stagecraft/framework/auth";
import { DatabaseIdentities, DatabaseRememberTokens } from "@stagecraft/framework/auth/db";
import { MemorySessionStore, Sessions } from "@stagecraft/framework/session";
import { DatabaseSessionStore } from "@stagecraft/framework/session/db";
import { expectProblem, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { ENGINES, openDriver } from "../../idempotency/db/order-database.js";
import { needs } from "../../support/machine.js";
import { ScriptedCache } from "../../support/scripted-cache.js";
import { account, addPerson, AppUsers, FAST, KEY, PASSWORD, signIn, startAccounts } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { findToken, remember, toHeaders, visit } from "../remembered-devices.js";

const EMAIL = "ada@shop.example";
const json = { email: EMAIL, password: PASSWORD, remember: true };

/** The stores of a sign-in, each of which a spec switches off. */
class Switches {
  readonly off = new Set<string>();

  call<T>(name: string, run: () => T): T {
    if (this.off.has(name)) throw new UnavailableError("The store is down.", { cause: new Error(`${name} is down`) });
    return run();
  }
}

function createBindings(db: AppDatabase, switches: Switches): readonly Binding[] {
  class SwitchedIdentities extends DatabaseIdentities {
    override async findByEmail(email: string) {
      return switches.call("identities", () => super.findByEmail(email));
    }

    override async setPassword(userId: string, change: StampReplacement & { readonly password: string }) {
      return switches.call("rehash", () => super.setPassword(userId, change));
    }
  }
  class SwitchedTokens extends DatabaseRememberTokens {
    override async insert(...args: Parameters<RememberTokens["insert"]>) {
      return switches.call("tokens", () => super.insert(...args));
    }

    override async delete(selector: string) {
      return switches.call("forget", () => super.delete(selector));
    }
  }
  class SwitchedUsers extends AppUsers {
    override async canSignIn(userId: string) {
      return switches.call("users", () => super.canSignIn(userId));
    }
  }
  class SwitchedStep extends SecondStep {
    override async isRequired() {
      return switches.call("second step", () => false);
    }
  }
  const cache = new ScriptedCache(async () => switches.call("attempts", () => [1, 9, 0, 0]));
  return [
    provide(AttemptLimits).useFactory(() => new AttemptLimits(cache)),
    provide(Identities).useValue(new SwitchedIdentities(db)),
    provide(RememberTokens).useValue(new SwitchedTokens(db)),
    provide(AppUsers).useClass(SwitchedUsers),
    provide(SecondStep).useClass(SwitchedStep),
  ];
}

class SwitchedSessions extends MemorySessionStore {
  constructor(private readonly switches: Switches) {
    super();
  }

  override load(...args: Parameters<MemorySessionStore["load"]>) {
    return this.switches.call("session read", () => super.load(...args));
  }

  override create(...args: Parameters<MemorySessionStore["create"]>) {
    return this.switches.call("session write", () => super.create(...args));
  }

  override move(...args: Parameters<MemorySessionStore["move"]>) {
    return this.switches.call("session write", () => super.move(...args));
  }
}

async function start(bindings: readonly Binding[] = []) {
  const switches = new Switches();
  const db = AppDatabase.on();
  const app = await startAccounts({
    db,
    sessions: new SwitchedSessions(switches),
    bindings: [...createBindings(db, switches), ...bindings],
  });
  await addPerson(app, "ada");
  await addPerson(app, "eve");
  return { app, db, switches };
}

const countSessions = async (app: TestApp) => (await app.resolve(Sessions).list("ada")).length;

/** The device of a response: the cookies that a browser would have after it. */
const toDevice = (response: Response) => ({
  token: findToken(response),
  session: findToken(response, "framework-id"),
});

describe("a store that is down in the middle of a sign-in", () => {
  for (const name of ["attempts", "identities", "users", "second step", "tokens", "session write"])
    it(`gives 503 and no cookie, where it is that of: ${name}`, async () => {
      const { app, switches } = await start();
      await using _ = app;
      switches.off.add(name);

      const response = await app.post(account.signIn.url(), { json });

      await expectProblem(response, { status: 503, slug: "unavailable" });
      expect(response.headers.getSetCookie()).to.deep.equal([]);
      switches.off.clear();
      expect(await countSessions(app)).to.equal(0);
      const transcript = app.logs.transcript();
      for (const secret of [PASSWORD, EMAIL, KEY, "$scrypt$"]) expect(transcript).not.to.include(secret);
      expect((await app.post(account.signIn.url(), { json })).status).to.equal(200);
    });

  // A session that is written in part has ended.
  const rows = { identities: 200, tokens: 200, forget: 200, "session read": 200, "session write": 401 };
  for (const [name, status] of Object.entries(rows))
    it(`signs no other person in on the device of a person, where it is that of: ${name}`, async () => {
      const { app, switches } = await start();
      await using _ = app;
      const eve = await remember(app, "eve");
      switches.off.add(name);

      const response = await app.post(account.signIn.url(), { json, headers: toHeaders(eve) });

      await expectProblem(response, { status: 503, slug: "unavailable" });
      expect(toDevice(response)).to.deep.equal({ token: undefined, session: undefined });
      switches.off.clear();
      expect(await countSessions(app)).to.equal(0);
      const after = await visit(app, { session: eve.session });
      expect([after.status, (await after.text()).includes('"eve"')]).to.deep.equal([status, status === 200]);
    });

  it("does not stop the sign-in where it is that of the renewed hash", async () => {
    class Renewing extends Passwords {
      override needsRehash(): boolean {
        return true;
      }
    }
    const { app, switches } = await start([provide(Passwords).useFactory(() => new Renewing(FAST))]);
    await using _ = app;
    switches.off.add("rehash");

    expect((await signIn(app, EMAIL)).status).to.equal(200);
    expect(app.logs.transcript()).to.include("hash of a password not renewed").and.not.include(PASSWORD);
  });
});

describe("a store of identities that rejects with an error of its own", () => {
  it("gives 500 to a request whose stamp cannot be compared, and the session goes on later", async () => {
    const db = AppDatabase.on();
    const identities = new DatabaseIdentities(db);
    await using app = await startAccounts({ db, bindings: [provide(Identities).useValue(identities)] });
    await addPerson(app, "ada");
    const session = findToken(await signIn(app, EMAIL), "framework-id");
    identities.find = () => Promise.reject(new Error("down"));

    expect((await visit(app, { session })).status).to.equal(500);
    identities.find = DatabaseIdentities.prototype.find.bind(identities);
    expect((await visit(app, { session })).status).to.equal(200);
  });
});

describe("a full queue of hashes", () => {
  class Crowded extends Passwords {
    other: Promise<unknown> = Promise.resolve();

    override async verify(...args: Parameters<Passwords["verify"]>) {
      const isRight = await super.verify(...args);
      // Another request takes the only place.
      this.other = this.hash("another password");
      return isRight;
    }

    override needsRehash(): boolean {
      return true;
    }
  }

  it("does not stop the sign-in of a person whose hash has old costs, and the next one renews it", async () => {
    const passwords = new Crowded({ ...FAST, concurrency: 1, queue: 0 });
    const { app } = await start([provide(Passwords).useValue(passwords)]);
    await using _ = app;
    const find = async () => (await app.resolve(Identities).find("ada"))?.password;
    const before = await find();

    expect((await signIn(app, EMAIL)).status).to.equal(200);
    expect(await find()).to.equal(before);

    await passwords.other;
    passwords.verify = Passwords.prototype.verify.bind(passwords);
    expect((await signIn(app, EMAIL)).status).to.equal(200);
    expect(await find()).to.not.equal(before);
  });
});

for (const { name, program, start: startEngine } of ENGINES) {
  describe(`${name} that goes away while a password is verified`, function () {
    this.timeout(120_000);

    if (program !== undefined) before(needs(program));

    it("gives 503, no cookie and no secret in the log", async () => {
      await using engine = await startEngine();
      const db = AppDatabase.on(openDriver(engine.url));
      let isInterrupted = false;
      class Interrupted extends Passwords {
        override async verify(...args: Parameters<Passwords["verify"]>) {
          const isRight = await super.verify(...args);
          if (isInterrupted) await db.stop();
          return isRight;
        }
      }
      const bindings = [provide(Passwords).useFactory(() => new Interrupted(FAST))];
      await using app = await startAccounts({ db, sessions: new DatabaseSessionStore(db), bindings });
      await addPerson(app, "ada");
      const { token, session } = await remember(app, "ada");
      isInterrupted = true;

      const response = await app.post(account.signIn.url(), { json, headers: toHeaders({ token, session }) });

      await expectProblem(response, { status: 503, slug: "unavailable" });
      expect(toDevice(response)).to.deep.equal({ token: undefined, session: undefined });
      const transcript = app.logs.transcript();
      for (const secret of [PASSWORD, KEY, "$scrypt$", token, session]) expect(transcript).not.to.include(secret);
    });
  });
}
