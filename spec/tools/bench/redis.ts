/**
 * The cost of a rate limit over Redis beyond its round trip: checks of the limiter beside a bare loop of EVALSHA with the same script, the
 * same client and the same concurrency, on the benchmark's own server.
 */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { RedisServer } from "../../support/redis-server.js";
import type { BenchOptions } from "./options.js";
import { pinned, ROOT } from "./places.js";

export const REDIS = {
  name: "redis",
  what: "a rate limit's check through Redis, beside a bare EVALSHA loop of the same client",
  run: runRedis,
} as const;

/** The server runs on the other core. */
const CLIENT_CORE = 0;

/** @returns the table as markdown, or the reason why it is missing */
export async function runRedis({ rounds, seconds, warmUp, connections }: BenchOptions): Promise<string> {
  if (!RedisServer.isInstalled) return "redis-server is not on the PATH: nothing was measured";
  await using server = await RedisServer.start();
  const program = join(ROOT, "dist/spec/tools/bench/redis-client.js");
  const numbers = [rounds, seconds, warmUp, connections].map(String);
  const [command, args] = pinned(CLIENT_CORE, process.execPath, [program, server.url, ...numbers]);
  const env = { ...process.env, NODE_ENV: "production" };
  const { stdout } = await promisify(execFile)(command, args, { env });
  return stdout.trimEnd();
}
