/** Runs the work that `db.afterCommit` has collected, once and in order. A failure is logged, and the rest runs. */
import { describeThrown } from "../../errors/thrown-value.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::db");

/** Never rejects. @param database its name in the event of a failure */
export async function runAfterCommit(work: readonly (() => unknown)[], database: string): Promise<void> {
  for (const each of work) {
    try {
      await each();
    } catch (error) {
      log.error("work after the commit failed", { subsystem: database, ...describeThrown(error) });
    }
  }
}
