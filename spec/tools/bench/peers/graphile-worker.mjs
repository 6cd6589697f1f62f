/** graphile-worker for the scenario `jobs`: `node graphile-worker.mjs plain|batched <url> <count> <concurrency>`. Its pool has 10 connections, as ours. */
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { printRates } from "../../../../dist/spec/tools/bench/jobs-rates.js";

const [mode, connectionString, , concurrentJobs] = process.argv.slice(2);
const BATCH = 500;
const logger = new Logger(() => () => {});
const batched = { localQueue: { size: BATCH }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
const worker = { maxPoolSize: 10, concurrentJobs: Number(concurrentJobs), ...(mode === "batched" && batched) };
const preset = { worker: { ...worker, connectionString, logger } };

const utils = await makeWorkerUtils({ preset });
await utils.withPgClient((client) => client.query("DROP SCHEMA IF EXISTS graphile_worker CASCADE"));
await utils.migrate();
await printRates({
  async addAll(numbers) {
    for (let at = 0; at < numbers.length; at += BATCH)
      await utils.addJobs(numbers.slice(at, at + BATCH).map((payload) => ({ identifier: "noop", payload })));
  },
  add: (number) => utils.addJob("noop", number),
  async work(ran) {
    const runner = await run({ preset, noHandleSignals: true, taskList: { noop: async () => ran() } });
    return { stop: () => runner.stop() };
  },
});
