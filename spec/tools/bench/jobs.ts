/**
 * Jobs without work, added and worked off: a plain BullMQ program beside `BullJobs` on one Redis, without a database, with one, and with
 * one in whose transactions the jobs are dispatched, and graphile-worker beside `DatabaseJobs` on one PostgreSQL, plain and with jobs
 * claimed ahead. Each measurement is a process of its own, and the contenders take turns within a round.
 */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { locate } from "../../support/machine.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { RedisServer } from "../../support/redis-server.js";
import { PEERS, ROOT } from "./places.js";
import type { JobsRates } from "./jobs-rates.js";
import type { BenchOptions } from "./options.js";
import { markdownTable, median, whole } from "./table.js";

const CONCURRENCIES = [1, 8, 32];

interface JobsProgram {
  readonly name: string;
  /** The name in `--only`. */
  readonly slug: string;
  /** The program, and its first arguments. */
  readonly command: readonly string[];
}

/** The ratios are to the first of them. */
type Group = readonly JobsProgram[];

function own(name: string, argument: string): JobsProgram {
  return { name, slug: argument, command: [join(ROOT, "dist/spec/tools/bench/jobs-contender.js"), argument] };
}

function graphile(name: string, mode: string): JobsProgram {
  return { name, slug: `graphile-worker-${mode}`, command: [join(PEERS, "graphile-worker.mjs"), mode] };
}

const WITHOUT_RELAY = [own("BullMQ", "bullmq"), own("BullJobs without a database", "bull-jobs")] as const;
const ON_REDIS: Group = [
  ...WITHOUT_RELAY,
  own("BullJobs with SQLite", "bull-jobs-sqlite"),
  own("BullJobs, in transactions of SQLite", "relay-sqlite"),
];
const WITH_POSTGRES: Group = [
  ...ON_REDIS,
  own("BullJobs with PostgreSQL", "bull-jobs-postgres"),
  own("BullJobs, in transactions of PostgreSQL", "relay-postgres"),
];

const ON_POSTGRES: readonly Group[] = [
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
      if (locate("postgres") === undefined) return await measured([ON_REDIS], [server.url], options);
      await using rows = await PostgresServer.start(["shared_buffers=128MB"]);
      return await measured([WITH_POSTGRES], [server.url, rows.url], options);
    },
  },
  {
    name: "jobs:postgres",
    what: "jobs a second without work, added and worked off, beside graphile-worker",
    run: async (options: BenchOptions) => {
      if (locate("postgres") === undefined) return "postgres is not installed: nothing was measured";
      await using server = await PostgresServer.start(["shared_buffers=128MB"]);
      return await measured(ON_POSTGRES, [server.url], options);
    },
  },
] as const;

interface Comparison {
  readonly concurrency: number;
  readonly group: Group;
  /** Of each round, for all programs of the group. */
  readonly rounds: (readonly JobsRates[])[];
}

async function measured(
  groups: readonly Group[],
  urls: readonly string[],
  { rounds, jobs, only }: BenchOptions,
): Promise<string> {
  const wanted = groups.map((group) => group.filter(({ slug }) => only?.includes(slug) ?? true));
  const comparisons = CONCURRENCIES.flatMap((concurrency) =>
    wanted.map((group): Comparison => ({ concurrency, group, rounds: [] })),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const { concurrency, group, rounds: taken } of comparisons) {
      const rates: JobsRates[] = [];
      for (const program of group) rates.push(await ratesOf(program, [...urls, jobs, concurrency]));
      taken.push(rates);
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

const FIGURES = ["bulk added", "bulk worked off", "singles added", "singles worked off"];
const RATES = ["bulk", "bulkDone", "single", "singleDone"] as const;

/** Each figure is a median, and so is the ratio to the first program of the group, round by round. */
function summary(comparisons: readonly Comparison[]): string {
  const rows = comparisons.flatMap(({ concurrency, group, rounds }) =>
    group.map(({ name }, which) => {
      const figures = RATES.map((rate) => {
        const taken = rounds.map((all) => ({ first: all[0]?.[rate] ?? NaN, own: all[which]?.[rate] ?? NaN }));
        const ratio = median(taken.map((each) => each.own / each.first));
        return `${whole(median(taken.map((each) => each.own)))} (${ratio.toFixed(2)})`;
      });
      return [`${name}, ${concurrency} at once`, ...figures];
    }),
  );
  return markdownTable(["program", ...FIGURES.map((each) => `${each} (ratio)`)], rows);
}
