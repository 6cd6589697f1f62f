/** The bounded pool, with connections that a test opens and a clock that a test advances. */
import { expect } from "chai";
import * as fc from "fast-check";
import { DriverError } from "../../../lib/db/driver-error.js";
import { ConnectionPool } from "../../../lib/db/pool/pool.js";
import type { PoolMember } from "../../../lib/db/pool/pool-member.js";
import { toPoolLimits, type PoolOptions } from "../../../lib/db/pool/pool-options.js";
import { POOL_CONNECTIONS, POOL_WAITING } from "../../../lib/db/pool/pool-report.js";
import type { SubsystemHost } from "../../../lib/lifecycle/operations.js";
import { Metrics } from "../../../lib/observe/metrics/metrics.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { eventsOf } from "../../support/events-of.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { errorOf } from "../../support/error-of.js";

class Member implements PoolMember {
  isReusable = true;
  closed = 0;
  lastStatement: string | undefined = "select pg_sleep($1)";

  close(): void {
    this.closed++;
  }
}

const A = {};
const B = {};
const of = (count: number, batch: object | undefined) => Array.from({ length: count }, () => batch);

class Trial {
  readonly clock = new FakeClock();
  readonly metrics = new Metrics();
  readonly opened: Member[] = [];
  readonly pool: ConnectionPool<Member>;
  /** The failures of the next attempts to open, before they succeed. */
  readonly failures: unknown[] = [];
  hangs = false;
  aborted = 0;

  constructor(options: PoolOptions = {}) {
    const host: SubsystemHost = { name: "shop", clock: this.clock, metrics: this.metrics };
    const limits = toPoolLimits({ max: 2, maxWaiting: 2, ...options }, "pool");
    this.pool = new ConnectionPool<Member>(limits, host, "db.internal:5432/shop", (signal) => this.open(signal));
  }

  private async open(signal: AbortSignal): Promise<Member> {
    if (this.hangs) await this.hang(signal);
    if (this.failures.length > 0) throw this.failures.shift();
    const member = new Member();
    this.opened.push(member);
    return member;
  }

  private hang(signal: AbortSignal): Promise<never> {
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        this.aborted++;
        reject(signal.reason as Error);
      });
    });
  }
}

/** The number of callers that get the connection when the user of it releases it. */
async function servedAtOnce(batches: readonly (object | undefined)[], max = 1): Promise<number> {
  const { pool } = new Trial({ max, maxWaiting: 1000 });
  const held = await pool.take();
  for (let each = 1; each < max; each++) await pool.take();
  let count = 0;
  for (const batch of batches) void pool.take({}, batch).then(() => count++);
  await new Promise(setImmediate);
  pool.release(held);
  await new Promise(setImmediate);
  return count;
}

async function failureOf(promise: Promise<unknown>) {
  const error = await rejectionOf(promise);
  if (!(error instanceof DriverError)) throw error;
  return error.failure;
}

describe("a pool of connections", function () {
  this.timeout(60_000);
  describe("with callers of one batch", () => {
    for (const { what, batches, max, expected } of [
      { what: "half of those that wait for the only connection", batches: of(8, A), max: 1, expected: 4 },
      { what: "half of the share of each connection", batches: of(24, A), max: 3, expected: 4 },
      { what: "at most 32", batches: of(500, A), max: 1, expected: 32 },
      { what: "one where few wait", batches: of(3, A), max: 2, expected: 1 },
      { what: "those in front alone", batches: [...of(2, A), ...of(20, B)], max: 1, expected: 2 },
      { what: "one where the next is of another batch", batches: [A, B, A, B, A, B, A, B], max: 1, expected: 1 },
      { what: "one where they are of no batch", batches: of(20, undefined), max: 1, expected: 1 },
    ])
      it(`gives a connection to ${what}`, async () => {
        expect(await servedAtOnce(batches, max)).to.equal(expected);
      });

    it("gives a shared connection to the next callers when the last user has released it", async () => {
      const { pool } = new Trial({ max: 1, maxWaiting: 1000 });
      const held = await pool.take();
      const batch = of(4, A).map((key) => pool.take({}, key));
      pool.release(held);
      await Promise.all(batch.slice(0, 2));
      expect(pool.figures).to.deep.equal({ inUse: 1, idle: 0, waiting: 2 });

      pool.release(held);
      expect(pool.figures.waiting).to.equal(2);
      pool.release(held);

      expect(await batch[2]).to.equal(held);
      expect(pool.figures.waiting).to.equal(1);
    });

    it("closes a shared connection once, however many use it", async () => {
      const { pool, opened } = new Trial({ max: 1, maxWaiting: 1000 });
      const held = await pool.take();
      const batch = of(4, A).map((key) => pool.take({}, key));
      pool.release(held);
      await Promise.all(batch.slice(0, 2));

      pool.discard(held);
      pool.release(held);
      pool.release(held);

      expect(opened[0]?.closed).to.equal(1);
      expect(await batch[2]).to.equal(opened[1]);
    });
  });

  it("opens a connection for a caller and gives it to the next one after its release", async () => {
    const { pool, opened } = new Trial();

    const first = await pool.take();
    pool.release(first);
    const second = await pool.take();

    expect(second).to.equal(first);
    expect(opened).to.have.length(1);
  });

  it("opens no more than its limit, and serves callers in the order of their arrival", async () => {
    const { pool, opened } = new Trial();
    const [one, two] = [await pool.take(), await pool.take()];
    const served: string[] = [];
    const waiting = [pool.take().then(() => served.push("third")), pool.take().then(() => served.push("fourth"))];

    pool.release(two);
    pool.release(one);
    await Promise.all(waiting);

    expect(opened).to.have.length(2);
    expect(served).to.deep.equal(["third", "fourth"]);
  });

  it("refuses a caller at once when too many wait, and names the time of the oldest use", async () => {
    const { pool, clock } = new Trial({ max: 1, maxWaiting: 1 });
    await pool.take();
    clock.advance(1500);
    const waiting = rejectionOf(pool.take());

    const failure = await failureOf(pool.take());
    void pool.stop(0);
    clock.advance(0);
    await waiting;

    expect(failure).to.include({ kind: "overloaded", code: "POOL_WAITING" });
    expect(failure.text).to.equal(
      "1 callers wait for a connection already: 1 of 1 are in use, one of them for 1500 ms",
    );
  });

  it("refuses a caller that has waited too long, with a code of its own", async () => {
    const { pool, clock } = new Trial({ max: 1, waitMs: 400 });
    await pool.take();

    const refused = failureOf(pool.take());
    await clock.advanceAsync(400);

    expect(await refused).to.include({ kind: "overloaded", code: "POOL_WAIT" });
    expect(pool.figures).to.deep.equal({ inUse: 1, idle: 0, waiting: 0 });
  });

  it("names the oldest use in events, once a second", async () => {
    const events = await eventsOf(async () => {
      const { pool, clock } = new Trial({ max: 1, maxWaiting: 0 });
      await pool.take();
      clock.advance(700);
      await failureOf(pool.take());
      await failureOf(pool.take());
    });

    expect(events).to.deep.equal([
      "WARN framework::db: no connection is free subsystem=shop in_use=1 limit=1 waiting=0 held_ms=700 statement=select pg_sleep($1)",
      "WARN framework::db: connection in use while others wait subsystem=shop held_ms=700 statement=select pg_sleep($1)",
    ]);
  });

  it("lets a caller leave when its signal aborts, and keeps its place for others", async () => {
    const { pool } = new Trial({ max: 1, maxWaiting: 1 });
    const held = await pool.take();
    const leaving = new AbortController();
    const left = rejectionOf(pool.take(leaving));

    leaving.abort(new Error("the client left"));
    expect((await left).message).to.equal("the client left");
    const next = pool.take();
    pool.release(held);

    expect(await next).to.equal(held);
  });

  it("keeps a connection that was opened for a caller that has left", async () => {
    const { pool, opened } = new Trial();
    const leaving = new AbortController();
    const left = rejectionOf(pool.take(leaving));
    leaving.abort(new Error("the client left"));
    await left;
    await new Promise((resolve) => setImmediate(resolve));

    expect(pool.figures).to.deep.equal({ inUse: 0, idle: 1, waiting: 0 });
    expect(await pool.take()).to.equal(opened[0]);
  });

  it("gives the failure of an attempt to one caller, and still opens its maximum of connections", async () => {
    const { pool, failures } = new Trial({ max: 1 });
    failures.push(new Error("refused"), new Error("refused again"));

    expect((await rejectionOf(pool.take())).message).to.equal("refused");
    expect((await rejectionOf(pool.take())).message).to.equal("refused again");
    expect(await pool.take()).to.be.instanceOf(Member);
  });

  it("waits for its own connections where the server has no place for another one", async () => {
    const { pool, failures } = new Trial();
    const held = await pool.take();
    failures.push(new DriverError({ kind: "overloaded", code: "53300" }));
    const waiting = pool.take();
    await new Promise((resolve) => setImmediate(resolve));

    pool.release(held);

    expect(await waiting).to.equal(held);
  });

  it("ends an attempt that takes too long, and says the address", async () => {
    const trial = new Trial({ connectMs: 300 });
    trial.hangs = true;

    const refused = failureOf(trial.pool.take());
    await trial.clock.advanceAsync(300);

    const failure = await refused;
    expect(failure).to.include({ kind: "connection", code: "CONNECT_TIMEOUT" });
    expect(failure.text).to.equal("no connection to db.internal:5432/shop within 300 ms");
    expect(trial.aborted).to.equal(1);
    trial.hangs = false;
    expect(await trial.pool.take()).to.be.instanceOf(Member);
  });

  it("closes a connection that is not fit for another user, and opens one for the next", async () => {
    const { pool, opened } = new Trial({ max: 1 });
    const unfit = await pool.take();
    const waiting = pool.take();

    unfit.isReusable = false;
    pool.release(unfit);

    expect(await waiting).to.equal(opened[1]);
    expect(unfit.closed).to.equal(1);
  });

  it("never gives a connection to a caller that the server has closed", async () => {
    const { pool, opened } = new Trial();
    const lost = await pool.take();
    pool.release(lost);

    pool.discard(lost);

    expect(await pool.take()).to.equal(opened[1]);
    expect(lost.closed).to.equal(1);
  });

  it("replaces a connection that is too old", async () => {
    const { pool, clock, opened } = new Trial({ maxAgeMs: 1000, idleMs: 100_000 });
    const old = await pool.take();
    clock.advance(1001);
    pool.release(old);

    expect(await pool.take()).to.equal(opened[1]);
    expect(old.closed).to.equal(1);
  });

  it("closes connections that are not used", async () => {
    const { pool, clock } = new Trial({ idleMs: 500 });
    const [one, two] = [await pool.take(), await pool.take()];
    pool.release(one);
    clock.advance(400);
    pool.release(two);

    clock.advance(100);
    expect([one.closed, two.closed]).to.deep.equal([1, 0]);
    clock.advance(500);
    expect([one.closed, two.closed]).to.deep.equal([1, 1]);
  });

  it("ignores a second release of a connection", async () => {
    const { pool } = new Trial();
    const member = await pool.take();

    pool.release(member);
    pool.release(member);

    expect(pool.figures).to.deep.equal({ inUse: 0, idle: 1, waiting: 0 });
  });

  it("refuses callers when it stops, and closes connections in use after the grace period", async () => {
    const { pool, clock } = new Trial({ max: 1 });
    const held = await pool.take();
    const waiting = failureOf(pool.take());

    const stopping = pool.stop(1000);
    expect(await waiting).to.include({ code: "POOL_STOPPED" });
    expect(held.closed).to.equal(0);
    await clock.advanceAsync(1000);
    await stopping;

    expect(held.closed).to.equal(1);
    expect(await failureOf(pool.take())).to.include({ code: "POOL_STOPPED" });
  });

  it("closes a connection whose opening ends after the stop", async () => {
    const { pool, opened } = new Trial();
    const refused = failureOf(pool.take());
    await pool.stop(0);

    await refused;
    await new Promise((resolve) => setImmediate(resolve));

    expect(opened.map(({ closed }) => closed)).to.deep.equal([1]);
    expect(pool.figures).to.deep.equal({ inUse: 0, idle: 0, waiting: 0 });
  });

  it("shows its figures as gauges", async () => {
    const { pool, clock, metrics } = new Trial({ max: 1 });
    await pool.take();
    const waiting = pool.take();
    clock.advance(250);

    const text = metrics.render();

    expect(text).to.include(`${POOL_CONNECTIONS}{state="in_use",subsystem="shop"} 1`);
    expect(text).to.include(`${POOL_CONNECTIONS}{state="idle",subsystem="shop"} 0`);
    expect(text).to.include(`${POOL_WAITING}{subsystem="shop"} 1`);
    void rejectionOf(waiting);
    void pool.stop(0);
    clock.advance(1);
  });

  it("keeps its bounds and its figures for any sequence of calls", async () => {
    const step = fc.constantFrom("take", "take of A", "take of B", "abort", "give", "break", "lose", "fail", "wait");

    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), async (max, steps) => {
        const { pool, clock, failures, opened } = new Trial({ max, maxWaiting: 7 - max, waitMs: 100 });
        let held: Member[] = [];
        const signals: AbortController[] = [];
        for (const each of steps) {
          if (each.startsWith("take")) {
            const batch = each === "take" ? undefined : each === "take of A" ? A : B;
            const controller = new AbortController();
            signals.push(controller);
            void pool.take(controller, batch).then(
              (member) => held.push(member),
              () => {},
            );
          }
          if (each === "abort") signals.pop()?.abort(new Error("left"));
          if (each === "fail") failures.push(new Error("refused"));
          if (each === "wait") await clock.advanceAsync(40);
          const member = each === "give" || each === "break" || each === "lose" ? held.shift() : undefined;
          if (member !== undefined && each === "break") member.isReusable = false;
          if (member !== undefined) (each === "lose" ? pool.discard.bind(pool) : pool.release.bind(pool))(member);
          if (each === "lose") held = held.filter((other) => other !== member);
          await new Promise((resolve) => setImmediate(resolve));
          const { inUse, idle, waiting } = pool.figures;
          expect(inUse + idle).to.be.at.most(max);
          expect(waiting).to.be.at.most(7);
          expect(inUse).to.equal(new Set(held).size);
        }
        await clock.advanceAsync(100);
        const stopping = pool.stop(10);
        await clock.advanceAsync(10);
        await stopping;
        expect(opened.filter(({ closed }) => closed !== 1)).to.deep.equal([]);
        expect(pool.figures).to.deep.equal({ inUse: 0, idle: 0, waiting: 0 });
      }),
      { numRuns: 100 },
    );
  });
});

describe("the limits of a pool", () => {
  const WRONG: readonly (readonly [PoolOptions, string])[] = [
    [{ max: 0 }, "pool: max is a whole number from 1 to 10000, not 0"],
    [{ max: 1.5 }, "pool: max is a whole number from 1 to 10000, not 1.5"],
    [{ maxWaiting: -1 }, "pool: maxWaiting is a whole number from 0 to 1000000, not -1"],
    [{ waitMs: Number.NaN }, "pool: waitMs is a whole number from 1 to 2147483647, not NaN"],
  ];

  for (const [options, message] of WRONG)
    it(`refuse ${JSON.stringify(options)}`, () => {
      expect(errorOf(() => toPoolLimits(options, "pool"))).to.include({ code: "E_DB_SETTING", message });
    });
});
