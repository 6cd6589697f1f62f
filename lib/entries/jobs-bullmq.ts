/**
 * The entry point `@stagecraft/framework/jobs/bullmq`: the jobs in BullMQ on Redis. Needs the packages `bullmq` and `ioredis`. If one is
 * missing, `new BullJobs` throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { BullJobs, type BullJobsOptions } from "../jobs/bullmq/bull-jobs.js";
