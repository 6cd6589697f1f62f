/**
 * The rules of every connection to Redis, for the cache and for the jobs in BullMQ: how it opens at the start of the application, which
 * servers are refused, and when it is opened again.
 */
import type { Redis } from "ioredis";
import { createSetupError } from "../../errors/setup-error.js";
import { type Clock, OVERDUE, within } from "../../runtime/clock.js";

/** A server that restarts or pauses for a moment must not fail the start of the application. */
const START_LIMIT_MS = 10_000;

/** The server has refused the login. It would refuse every other attempt. */
const REFUSED = /^(?:WRONGPASS|NOAUTH|NOPERM|ERR (?:AUTH|invalid password))/;

/** Redis 6.2 reports an error of a command inside a script within an error of the script. */
const READ_ONLY = /^(?:READONLY|ERR Error running script .*-READONLY) /;

/**
 * Opens a connection, with further attempts for at most 10 seconds.
 *
 * @throws the error of the last attempt, or the refusal of the login at once; FrameworkError `E_REDIS_CLUSTER`. The client is disconnected.
 */
export async function openClient(client: Redis, clock: Clock, user: string): Promise<void> {
  try {
    await untilReady(client, clock);
    await refuseCluster(client, user);
  } catch (error) {
    client.disconnect();
    throw error;
  }
}

/** After a failover the old primary is read-only, and the connection must be opened again. */
export function isReadOnly(error: Error): boolean {
  return READ_ONLY.test(error.message);
}

/** The client repeats the attempt by its `retryStrategy`. */
async function untilReady(client: Redis, clock: Clock): Promise<void> {
  let lastError = new Error("the connection was closed");
  const ready = new Promise<void>((resolve, reject) => {
    const failed = (error: Error): void => {
      lastError = error;
      if (REFUSED.test(error.message)) reject(error);
    };
    client.on("error", failed);
    client.once("end", () => reject(lastError));
    client.once("ready", () => {
      client.off("error", failed);
      resolve();
    });
    // Each failure is an event as well.
    client.connect().catch(() => {});
  });
  if ((await within(clock, START_LIMIT_MS, ready)) === OVERDUE) throw lastError;
}

/** A script of several keys fails if the keys are on several servers. A server that does not show its mode passes. */
async function refuseCluster(client: Redis, user: string): Promise<void> {
  const mode = await client.info("cluster").catch(() => "");
  if (!/^cluster_enabled:1/m.test(mode)) return;
  const what = `${user} needs a server that is no part of a Redis cluster: use one primary, with replicas and Sentinel for a failover`;
  throw createSetupError("E_REDIS_CLUSTER", what);
}
