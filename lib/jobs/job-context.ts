/**
 * The second argument of a job's handler: the id of the job, the number of its attempts, and the signal that ends it. `RequestId.of(ctx)`
 * and `TraceContext.of(ctx)` give the ids of the request that dispatched the job, as they do in a request.
 *
 * A job runs at least once: after the death of a process, or of its connection, it runs again. A handler whose second run would do harm
 * compares `token`, which is larger at each run of the same job.
 */
import { setMaxListeners } from "node:events";
import { FrameworkError, UnavailableError } from "../errors/framework-error.js";
import type { Extensible } from "../http/request/extension.js";
import type { WorkScope } from "../lifecycle/work-scope.js";
import { RequestId } from "../observe/request-id.js";
import { TraceContext } from "../observe/trace-context.js";
import type { ClaimedJob } from "./job-store.js";

export class JobContext implements WorkScope, Extensible {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  /** 1 for the first run. */
  readonly attempt: number;
  /** The attempt after which a failure goes to the dead letters. */
  readonly maxAttempts: number;
  /** The fencing token: a number that each run of this job raises. A store that keeps the largest one can refuse an old run. */
  readonly token: number;
  /** @internal */
  extensions: unknown[] | undefined = undefined;

  /** @internal */
  constructor(
    { id, name, queue, attempt, maxAttempts, token, requestId, traceparent, tracestate }: ClaimedJob,
    /** Aborts with a `JobTimeoutError`, a `JobLeaseLostError`, a `JobCancelledError`, or a `DrainDeadlineError` when the process ends. */
    readonly signal: AbortSignal,
  ) {
    // A handler may pass the signal to many operations. Without this call, Node warns of the eleventh listener.
    setMaxListeners(0, signal);
    this.id = id;
    this.name = name;
    this.queue = queue;
    this.attempt = attempt;
    this.maxAttempts = maxAttempts;
    this.token = token;
    if (requestId !== undefined) RequestId.set(this, RequestId.fromHeader(requestId));
    const trace = TraceContext.parse(traceparent, tracestate);
    if (trace !== undefined) TraceContext.set(this, trace);
  }
}

/** Thrown by a handler: this job cannot succeed. It goes to the dead letters at once, with the message as its reason. */
export class FinalJobError extends FrameworkError {
  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(reason, { code: "E_JOB_FINAL", ...options });
  }
}

/** The reason of the signal when the handler has exceeded the `timeoutMs` of its job. */
export class JobTimeoutError extends UnavailableError {
  constructor(timeoutMs: number) {
    super(`The job took longer than ${timeoutMs} ms.`, { code: "E_JOB_TIMEOUT" });
  }
}

/**
 * The reason of the signal when another process may run the job: this process sent no heartbeat, or did not renew its
 * lease, in time. The store refuses its result.
 */
export class JobLeaseLostError extends UnavailableError {
  constructor() {
    super("The job belongs to another process now.", { code: "E_JOB_LEASE_LOST" });
  }
}

/** The reason of the signal when `jobs.cancel` asked for the end of the job. It is not tried again. */
export class JobCancelledError extends UnavailableError {
  constructor() {
    super("The job is cancelled.", { code: "E_JOB_CANCELLED" });
  }
}
