/**
 * Jobs without work, added and worked off: a plain BullMQ program beside `BullJobs` on one Redis, and graphile-worker beside `DatabaseJobs` on
 * one PostgreSQL, plain and with jobs claimed ahead. Each measurement is a process of its own, and the contenders take turns within a round.
 */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { locate } from "../support/machine.js";
import { PostgresServer } from "../support/postgres-server.js";
import { RedisServer } from "../support/redis-server.js";
import { PEERS, ROOT } from "./places.js";
import type { JobsRates } from "./jobs-rates.js";
import type { BenchOptions } from "./options.js";
import { markdownTable, median, whole } from "./table.js";

const CONCURRENCIES = [1, 8, 32];

interface JobsProgram {
  readonly name: string;
  /** The program, and its first arguments. */
  readonly command: readonly string[];
}

/** The ratios are to the first of them. */
type Pair = readonly [JobsProgram, JobsProgram];

function own(name: string, argument: string): JobsProgram {
  return { name, command: [join(ROOT, "dist/spec/bench/jobs-contender.js"), argument] };
}

function graphile(name: string, mode: string): JobsProgram {
  return { name, command: [join(PEERS, "graphile-worker.mjs"), mode] };
}

const ON_REDIS: readonly Pair[] = [[own("BullMQ", "bullmq"), own("BullJobs", "bull-jobs")]];

const ON_POSTGRES: readonly Pair[] = [
  [graphile("graphile-worker", "plain"), own("DatabaseJobs", "database-jobs")],
  [graphile("graphile-worker, batched", "batched"), own("DatabaseJobs, prefetch 500", "database-jobs-batched")],
];

export const JOBS = [
  {
    name: "jobs:redis",
    what: "jobs a second without work, added and worked off, beside a plain BullMQ program",
    run: async (options: BenchOptions) => {
      if (!RedisServer.isInstalled) return "redis-server is not on the PATH: nothing was measured";
      await using server = await RedisServer.start();
      return await measured(ON_REDIS, server.url, options);
    },
  },
  {
    name: "jobs:postgres",
    what: "jobs a second without work, added and worked off, beside graphile-worker",
    run: async (options: BenchOptions) => {
      if (locate("postgres") === undefined) return "postgres is not installed: nothing was measured";
      await using server = await PostgresServer.start(["shared_buffers=128MB"]);
      return await measured(ON_POSTGRES, server.url, options);
    },
  },
] as const;

interface Comparison {
  readonly concurrency: number;
  readonly pair: Pair;
  /** Of each round, for both programs. */
  readonly rounds: (readonly [JobsRates, JobsRates])[];
}

async function measured(pairs: readonly Pair[], url: string, { rounds, jobs }: BenchOptions): Promise<string> {
  const comparisons = CONCURRENCIES.flatMap((concurrency) =>
    pairs.map((pair): Comparison => ({ concurrency, pair, rounds: [] })),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const { concurrency, pair, rounds: taken } of comparisons) {
      const rates = async (program: JobsProgram): Promise<JobsRates> => ratesOf(program, [url, jobs, concurrency]);
      taken.push([await rates(pair[0]), await rates(pair[1])]);
    }
  }
  return summary(comparisons);
}

async function ratesOf({ command }: JobsProgram, args: readonly unknown[]): Promise<JobsRates> {
  const env = { ...process.env, NODE_ENV: "production" };
  const { stdout } = await promisify(execFile)(process.execPath, [...command, ...args.map(String)], { env });
  // Printed by our own `printRates`.
  return JSON.parse(stdout) as JobsRates;
}

const COLUMNS = ["program", "concurrency", "added in bulk", "ratio", "added singly", "ratio", "worked off", "ratio"];
const RATES = ["bulk", "single", "done"] as const;

function summary(comparisons: readonly Comparison[]): string {
  const rows = comparisons.flatMap(({ concurrency, pair, rounds }) =>
    pair.map(({ name }, which) => {
      const figures = RATES.flatMap((rate) => {
        const taken = rounds.map((both) => ({ first: both[0][rate], rate: (both[which] ?? both[0])[rate] }));
        const ratio = median(taken.map((each) => each.rate / each.first));
        return [whole(median(taken.map((each) => each.rate))), ratio.toFixed(2)];
      });
      return [name, String(concurrency), ...figures];
    }),
  );
  return markdownTable(COLUMNS, rows);
}
