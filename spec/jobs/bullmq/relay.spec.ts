/** The relay over a table whose statements are carried out while their responses are lost, and over a queue that fails. */
import { DatabaseJobs } from "@stagecraft/framework/jobs";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Relay } from "../../../lib/jobs/bullmq/relay.js";
import type { ClaimRequest, JobClaim, NewJob } from "../../../lib/jobs/job-store.js";
import { temporaryFolder } from "../../db/shop-database.js";
import { jobsDatabase, makeTables, passSlowly } from "../jobs-database.js";

/** Loses the responses to the next claims and of the next completions. */
class LossyRows extends DatabaseJobs {
  lostClaims = 0;
  lostCompletions = 0;

  override async claimForTransit(request: ClaimRequest) {
    const claimed = await super.claimForTransit(request);
    if (claimed.length > 0 && this.lostClaims-- > 0) throw new Error("the connection was closed");
    return claimed;
  }

  override async complete(claims: readonly JobClaim[]) {
    if (this.lostCompletions-- > 0) throw new Error("the connection was closed");
    return super.complete(claims);
  }
}

function newJob(id: string): NewJob {
  const none = { key: undefined, requestId: undefined, traceparent: undefined, tracestate: undefined };
  return {
    ...none,
    id,
    name: "job",
    queue: "q",
    priority: 0,
    payload: "1",
    delayMs: 0,
    maxAttempts: 1,
    unique: "waiting",
  };
}

describe("the relay of BullJobs", function () {
  this.timeout(30_000);

  for (const [title, lost] of [
    ["claims", "lostClaims"],
    ["completions", "lostCompletions"],
  ] as const) {
    it(`moves each row once and in seconds when the responses to its ${title} are lost`, async () => {
      await using folder = await temporaryFolder();
      const clock = new FakeClock();
      await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), clock);
      await makeTables(db);
      const rows = new LossyRows(db);
      rows[lost] = 2;
      rows.prepare({ clock });
      const moved: string[] = [];
      const relay = new Relay(rows, async (jobs) => void moved.push(...jobs.map(({ id }) => id)), clock);
      await rows.add(["1", "2", "3"].map(newJob));

      await relay.start();
      await passSlowly(clock, 5000);
      const { waiting, running } = await rows.counts();
      await relay.stop();

      expect(moved).to.deep.equal(["1", "2", "3"]);
      expect([waiting, running]).to.deep.equal([0, 0]);
    });
  }

  it("moves the rows of several batches in their order and once when moves fail", async () => {
    await using folder = await temporaryFolder();
    const clock = new FakeClock();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), clock);
    await makeTables(db);
    const rows = new DatabaseJobs(db);
    rows.prepare({ clock });
    const moved: string[] = [];
    let calls = 0;
    const move = async (jobs: readonly NewJob[]): Promise<void> => {
      calls += 1;
      if (calls === 1 || calls === 3) throw new Error("Redis has failed");
      moved.push(...jobs.map(({ id }) => id));
    };
    const relay = new Relay(rows, move, clock);
    const ids = Array.from({ length: 1700 }, (_, number) => String(number).padStart(4, "0"));
    await rows.add(ids.map(newJob));

    await relay.start();
    await passSlowly(clock, 5000);
    const { waiting, running } = await rows.counts();
    await relay.stop();

    expect(moved).to.deep.equal(ids);
    expect([waiting, running]).to.deep.equal([0, 0]);
  });
});
