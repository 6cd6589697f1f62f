/**
 * One run of one job: finds the handler, checks the payload, runs the method inside its span and scope, and returns the outcome. It never
 * throws. Every engine of jobs uses it.
 */
import { DrainDeadlineError, FrameworkError } from "../../errors/framework-error.js";
import { causeText } from "../../errors/thrown-value.js";
import type { Operations } from "../../lifecycle/operations.js";
import { inWorkScope } from "../../lifecycle/work-scope.js";
import { RequestId } from "../../observe/request-id.js";
import { TraceContext } from "../../observe/trace-context.js";
import type { Clock } from "../../runtime/clock.js";
import type { Fields, RemoteParent } from "../../tracing/subscriber.js";
import type { ClaimedJob } from "../job-store.js";
import { FinalJobError, JobCancelledError, JobContext, JobTimeoutError } from "../job-context.js";
import type { JobHandlers, JobHandler } from "../job-handlers.js";
import { readPayload } from "../payload.js";
import { getRetryDelay } from "../retry-delay.js";

/**
 * The outcome of a run. `returned`: the process stops, and the attempt does not count. `cancelled`: the job is removed. `unhandled`: this
 * process has no handler, and another one may have one.
 */
export type JobOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly reason: string; readonly error: unknown; readonly retryInMs: number }
  | { readonly kind: "dead"; readonly reason: string; readonly error: unknown }
  | { readonly kind: "returned" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "unhandled" };

const DONE: JobOutcome = Object.freeze({ kind: "done" });
const MAX_REASON_CHARACTERS = 1000;

export interface JobTools {
  readonly handlers: JobHandlers;
  readonly operations: Operations;
  readonly clock: Clock;
}

/** @param control aborts when the claim is lost or the process stops */
export async function handleJob(job: ClaimedJob, tools: JobTools, control: AbortController): Promise<JobOutcome> {
  const handler = tools.handlers.find(job.name);
  if (handler === undefined) return { kind: "unhandled" };
  let payload: unknown;
  try {
    payload = await readPayload(handler.job, job.payload);
  } catch (error) {
    // The program that dispatched it may be newer than this one.
    return toOutcome(job, handler, error, control.signal);
  }
  return await runHandler(job, { handler, payload }, tools, control);
}

interface JobCall {
  readonly handler: JobHandler;
  readonly payload: unknown;
}

async function runHandler(
  job: ClaimedJob,
  { handler, payload }: JobCall,
  { operations, clock }: JobTools,
  control: AbortController,
): Promise<JobOutcome> {
  const { timeoutMs } = handler.job;
  const ctx = new JobContext(job, control.signal);
  const timer = clock.setTimeout(() => control.abort(new JobTimeoutError(timeoutMs)), timeoutMs);
  try {
    const call = async (): Promise<unknown> => handler.run(payload, ctx);
    await operations.run("handle", () => inWorkScope(ctx, call, undefined), toFields(ctx), getRemoteParent(ctx));
    return DONE;
  } catch (error) {
    return toOutcome(job, handler, error, control.signal);
  } finally {
    timer.cancel();
  }
}

function toOutcome(
  job: ClaimedJob,
  handler: JobHandler,
  error: unknown,
  { aborted, reason: why }: AbortSignal,
): JobOutcome {
  if (aborted && why instanceof DrainDeadlineError) return { kind: "returned" };
  if (aborted && why instanceof JobCancelledError) return { kind: "cancelled" };
  if (error instanceof FinalJobError || job.attempt >= job.maxAttempts) return toDeadOutcome(error);
  return {
    kind: "failed",
    reason: toReason(error),
    error,
    retryInMs: getRetryDelay(handler.job.backoff, job.attempt, error),
  };
}

function toDeadOutcome(error: unknown): JobOutcome {
  return { kind: "dead", reason: toReason(error), error };
}

/** The reason for the dead letters, bounded. */
function toReason(error: unknown): string {
  const code = error instanceof FrameworkError ? `${error.code} ` : "";
  return `${code}${causeText(error)}`.slice(0, MAX_REASON_CHARACTERS);
}

function toFields(ctx: JobContext): Fields {
  const request = RequestId.of(ctx);
  const trace = TraceContext.of(ctx);
  return {
    job: ctx.name,
    queue: ctx.queue,
    attempt: ctx.attempt,
    job_id: ctx.id,
    ...(request !== undefined && { request_id: request.value }),
    ...(trace !== undefined && { trace_id: trace.traceId, parent_span_id: trace.parentSpanId }),
  };
}

function getRemoteParent(ctx: JobContext): RemoteParent | undefined {
  const trace = TraceContext.of(ctx);
  if (trace === undefined) return undefined;
  return {
    traceId: trace.traceId,
    spanId: trace.parentSpanId,
    traceFlags: trace.flags,
    traceState: trace.tracestate,
  };
}
