/** The entry point `@stagecraft/framework/jobs`: jobs, their handlers, schedules, and the store in memory. Schedules need `croner`. */
export { Job, job, type AnyJob, type JobConcurrency, type JobOptions } from "../jobs/job.js";
export type { BackoffFunction, JobBackoff } from "../jobs/retry-delay.js";
export { Handles, type FitsJob, type JobDecorator } from "../jobs/handles.js";
export {
  FinalJobError,
  JobCancelledError,
  JobContext,
  JobLeaseLostError,
  JobTimeoutError,
} from "../jobs/job-context.js";
export { Jobs, type DispatchArguments } from "../jobs/jobs.js";
export type { JobsOptions } from "../jobs/jobs-options.js";
export type { DispatchOptions } from "../jobs/new-jobs.js";
export { MemoryJobs, type MemoryJobsOptions } from "../jobs/stores/memory/memory-jobs.js";
export { Every } from "../jobs/schedules/every.js";
export { Schedule, schedule, type ScheduledTick, type ScheduleOptions } from "../jobs/schedules/schedule.js";
export type {
  ClaimedJob,
  ClaimRequest,
  ConcurrencyKey,
  DeadJob,
  Dispatched,
  Heartbeat,
  JobClaim,
  JobCounts,
  JobFailure,
  JobStore,
  KeyRule,
  LiveWorker,
  NewJob,
  ReapedJob,
  UnhandledJobs,
} from "../jobs/job-store.js";
export { DatabaseJobs, type DatabaseJobsOptions } from "../jobs/stores/database/database-jobs.js";
export {
  type JobMigration,
  jobsMigrations,
  jobTables,
  type MigratedDatabase,
} from "../jobs/stores/database/job-migrations.js";
export type { JobDatabase, JobSqlFamily, RawResult, RawStatement } from "../jobs/stores/database/job-sql.js";
export type { JobEngine, JobWorker } from "../jobs/job-engine.js";
export type { JobOutcome, JobTools } from "../jobs/worker/handled-job.js";
export type { JobHandler, JobHandlers } from "../jobs/job-handlers.js";
export type { JobReports } from "../jobs/job-reports.js";
export type { WorkerSettings } from "../jobs/job-engine.js";
export type {
  Cancellation,
  DeadLetterPurge,
  JobAdmin,
  JobList,
  JobState,
  ListedJob,
  PausedQueue,
  QueueSummary,
  ShownJob,
  WorkerSummary,
} from "../jobs/job-admin.js";
export type { ListOptions } from "../jobs/admin-options.js";
export type { PurgeOptions } from "../jobs/dead-letters.js";
