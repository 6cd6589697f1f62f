import {
  Application,
  Cache,
  type Context,
  type PerProcess,
  type ProcessState,
  provide,
  RateLimit,
  Route,
  Routes,
} from "@stagecraft/framework";
import { MemoryCache } from "@stagecraft/framework/cache";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Idempotency, MemoryIdempotencyStore } from "@stagecraft/framework/idempotency";
import { Jobs, MemoryJobs } from "@stagecraft/framework/jobs";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { MemorySessionStore, SessionConfig } from "@stagecraft/framework/session";
import { MemoryStorage, Storage } from "@stagecraft/framework/storage";
import { expect } from "chai";
import type { ApplicationParts } from "../../../lib/app/build.js";
import type { ApplicationBuilder } from "../../../lib/app/builder.js";
import { listProcessStateWarnings, refuseProcessStates } from "../../../lib/app/workers/process-states.js";
import { AttemptLimits } from "../../../lib/auth/attempt-limits.js";
import { ScriptedCache } from "../../support/scripted-cache.js";
import { startupErrorOf } from "../../support/startup-error-of.js";

const KEY = "5a".repeat(64);

class ShopDatabase extends Database<Record<string, never>> {}

/** A store of the application, which the framework does not know. */
class MemoryNotes implements PerProcess {
  readonly perProcess = { what: "notes are in memory", fix: "provide SqlNotes" };
}

/** Its values reach the other processes by a way that the base class does not know. */
class ReplicatedSessions extends MemorySessionStore {
  override readonly perProcess = undefined;
}

class LocalSessions extends MemorySessionStore {
  override readonly perProcess: ProcessState = { what: "sessions are in a map", fix: "use Redis" };
}

class Fees {
  readonly perProcess = 3;
}

const empty = (): ApplicationBuilder => Application.create();
const withSessions = (store?: MemorySessionStore) => empty().session(new SessionConfig(KEY), store);

const REFUSED: readonly (readonly [string, () => ApplicationBuilder, string])[] = [
  ["sessions", () => withSessions(), "sessions are in memory"],
  ["sessions of a subclass that says so", () => withSessions(new LocalSessions()), "sessions are in a map"],
  [
    "idempotency keys",
    () =>
      empty().provide(
        provide(Idempotency).useFactory(
          () => new Idempotency(new MemoryIdempotencyStore(), { principal: (ctx: Context) => ctx.ip }),
        ),
      ),
    "idempotency keys are in memory",
  ],
  [
    "jobs",
    () => empty().provide(provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() }))),
    "jobs are in memory",
  ],
  [
    "files",
    () => empty().provide(provide(Storage).useFactory(() => new MemoryStorage())),
    "files of a storage are in memory",
  ],
  [
    "a database",
    () => empty().provide(provide(ShopDatabase).useFactory(() => new ShopDatabase(sqlite(":memory:")))),
    "the database is in memory",
  ],
  ["a provider that says so", () => empty().provide(MemoryNotes), "notes are in memory"],
];

const ADMITTED: readonly (readonly [string, () => ApplicationBuilder])[] = [
  ["sessions of a subclass that are elsewhere too", () => withSessions(new ReplicatedSessions())],
  ["a cache", () => empty().provide(provide(Cache).useFactory(() => new MemoryCache()))],
  ["mails of a trial", () => empty().provide(provide(Mailer).useFactory(() => new MemoryMailer()))],
  [
    "a database in a file",
    () => empty().provide(provide(ShopDatabase).useFactory(() => new ShopDatabase(sqlite("shop.db")))),
  ],
  ["a provider with another member of that name", () => empty().provide(Fees)],
];

function partsOf(builder: ApplicationBuilder): ApplicationParts {
  // The face of an application hides its parts.
  return (builder.build() as unknown as { readonly parts: ApplicationParts }).parts;
}

function withLimits(cache?: Cache): ApplicationBuilder {
  const limited = RateLimit.perMinute(5);
  const routes = new Routes([
    Route.get("/", () => "home").middleware(cache === undefined ? limited : limited.redis(cache)),
  ]);
  return empty()
    .routes(routes)
    .provide(provide(AttemptLimits).useFactory(() => new AttemptLimits(cache)));
}

describe("state in the memory of one process", () => {
  for (const [name, create, what] of REFUSED) {
    it(`is refused with more than one worker, with its cure: ${name}`, () => {
      const parts = partsOf(create());

      const { diagnostics } = startupErrorOf(() => refuseProcessStates(parts, 4));

      const [{ code, fix, ...rest } = { code: "", fix: "" }, ...more] = diagnostics;
      expect([code, more]).to.deep.equal(["E_WORKERS_MEMORY", []]);
      expect(rest).to.deep.equal({
        what: `${what}, which 4 workers do not share`,
        where: "runWorkers({ workers: 4 })",
      });
      expect(fix).to.match(/; or run\(\) in one process$/);
      expect(() => refuseProcessStates(parts, 1)).to.not.throw();
    });
  }

  for (const [name, create] of ADMITTED) {
    it(`is admitted: ${name}`, () => {
      const parts = partsOf(create());

      expect(() => refuseProcessStates(parts, 4)).to.not.throw();
      expect(listProcessStateWarnings(parts, 4)).to.deep.equal([]);
    });
  }

  it("is refused all at once", () => {
    const builder = withSessions().provide(MemoryNotes);

    const { diagnostics } = startupErrorOf(() => refuseProcessStates(partsOf(builder), 2));

    expect(diagnostics.map(({ fix }) => fix)).to.have.members([
      "provide SqlNotes; or run() in one process",
      "use RedisSessionStore or DatabaseSessionStore; or run() in one process",
    ]);
  });
});

describe("limits in the memory of one process", () => {
  it("are one warning, which names each of them and the factor", () => {
    const parts = partsOf(withLimits().rateLimit(RateLimit.perHour(100)));

    expect(() => refuseProcessStates(parts, 3)).to.not.throw();
    const [warning, ...more] = listProcessStateWarnings(parts, 3);
    expect(more).to.deep.equal([]);
    expect(warning?.message).to.include("3 workers let up to 3 times a quota through");
    expect(warning?.fields).to.deep.equal({
      workers: 3,
      state: [
        "attempts to sign in are counted in memory",
        "a rate limit of 100 per hour is in memory",
        "a rate limit of 5 per minute is in memory",
      ],
      fix: ["authentication({ attempts: Cache })", ".redis(cache)"],
    });
    expect(listProcessStateWarnings(parts, 1)).to.deep.equal([]);
  });

  it("are no warning where a cache counts for all processes", () => {
    expect(listProcessStateWarnings(partsOf(withLimits(new ScriptedCache())), 3)).to.deep.equal([]);
  });
});
