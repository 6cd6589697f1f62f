/** Creates the record of a dispatch: checks the payload and the options, and adds the ids of the request for which the code runs. */
import { FrameworkError } from "../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { valueText } from "../errors/value-text.js";
import type { Extensible } from "../http/request/extension.js";
import { currentWorkScope, type WorkScope } from "../lifecycle/work-scope.js";
import { RequestId } from "../observe/request-id.js";
import { TraceContext } from "../observe/trace-context.js";
import { type Clock, SystemClock } from "../runtime/clock.js";
import { checkPriority, checkQueue, type AnyJob, checkJobOption } from "./job.js";
import { JobIds } from "./job-id.js";
import type { ConcurrencyKey, KeyRule, NewJob } from "./job-store.js";
import { writePayload } from "./payload.js";

export interface DispatchOptions {
  /** Milliseconds before the job may run, at most 10 years; 0 unless set. */
  readonly delay?: number;
  /** The queue; that of the job unless set. */
  readonly queue?: string;
  /** From 0 to 100, a smaller one first; that of the job unless set. */
  readonly priority?: number;
  /**
   * At most one job of this name waits with the key, of 1 to 200 characters. A waiting job gets the payload, the attempts, the queue and
   * the priority of the newer dispatch, and the earlier of the two times. A running job does not count, because it may have read the data
   * before the change that the new job is about.
   */
  readonly key?: string;
  /** `until-done`: a job that waits or runs with the key stays as it is, and the new one is dropped; `waiting` unless set. */
  readonly unique?: KeyRule;
}

const NAMES: OptionNames<DispatchOptions> = { delay: true, queue: true, priority: true, key: true, unique: true };
const MAX_DELAY_MS = 315_360_000_000;
const MAX_KEY_CHARACTERS = 200;

export class NewJobs {
  private readonly ids = new JobIds();
  private clock: Clock = new SystemClock();

  useClock(clock: Clock): void {
    this.clock = clock;
  }

  /** @throws FrameworkError `E_JOB_PAYLOAD`, `E_JOB_OPTION`, `E_JOB_NAME`, `E_OPTION` */
  async create(job: AnyJob, payload: unknown, options: DispatchOptions): Promise<NewJob> {
    return this.createOne(job, payload, readSettings(job, options));
  }

  /** The options are checked once for all. @throws as `create` */
  async createAll(job: AnyJob, payloads: readonly unknown[], options: DispatchOptions): Promise<readonly NewJob[]> {
    const settings = readSettings(job, options);
    const jobs: NewJob[] = [];
    for (const payload of payloads) jobs.push(await this.createOne(job, payload, settings));
    return jobs;
  }

  private async createOne(job: AnyJob, payload: unknown, settings: DispatchSettings): Promise<NewJob> {
    const concurrency = toConcurrencyKey(job, payload);
    const from = getOrigin();
    const text = await writePayload(job, payload);
    return { id: this.ids.next(this.clock.now()), payload: text, ...settings, concurrency, ...from };
  }
}

type DispatchSettings = Pick<NewJob, "name" | "queue" | "priority" | "delayMs" | "maxAttempts" | "key" | "unique">;

function readSettings(job: AnyJob, options: DispatchOptions): DispatchSettings {
  checkOptionNames(options, NAMES, `dispatch of ${job.name}`);
  const { delay = 0, queue = job.queue, priority = job.priority, key, unique = "waiting" } = options;
  return {
    name: job.name,
    queue: checkQueue(queue),
    priority: checkPriority(priority),
    delayMs: checkJobOption("delay", delay, 0, MAX_DELAY_MS),
    maxAttempts: job.attempts,
    key: key === undefined ? undefined : checkKey(key),
    unique: checkRule(unique),
  };
}

/** The ids of the request, or of the job, that dispatches. */
function getOrigin(): Pick<NewJob, "requestId" | "traceparent" | "tracestate"> {
  const scope = currentWorkScope();
  if (!isExtensible(scope)) return { requestId: undefined, traceparent: undefined, tracestate: undefined };
  const { traceparent, tracestate } = TraceContext.of(scope)?.outboundHeaders() ?? {};
  return { requestId: RequestId.of(scope)?.value, traceparent, tracestate };
}

/** The scope of a request is its `Context`, that of a job its `JobContext`. */
function isExtensible(scope: WorkScope | undefined): scope is WorkScope & Extensible {
  return scope !== undefined && "extensions" in scope;
}

function toConcurrencyKey({ concurrency }: AnyJob, payload: unknown): ConcurrencyKey | undefined {
  if (concurrency === undefined) return undefined;
  // The compiler has compared the payload of the dispatch with the job.
  return { key: checkKey(concurrency.key(payload as never)), limit: concurrency.limit };
}

function checkKey(key: string): string {
  if (typeof key === "string" && key !== "" && key.length <= MAX_KEY_CHARACTERS && !/\p{Cc}/u.test(key)) return key;
  throw new FrameworkError(`the key of a job has 1 to ${MAX_KEY_CHARACTERS} characters and no control characters`, {
    code: "E_JOB_OPTION",
  });
}

function checkRule(unique: KeyRule): KeyRule {
  if (unique === "waiting" || unique === "until-done") return unique;
  throw new FrameworkError(`unique is "waiting" or "until-done", not ${valueText(unique)}`, { code: "E_JOB_OPTION" });
}
