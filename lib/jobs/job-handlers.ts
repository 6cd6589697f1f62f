/**
 * The handlers of an application by the name of their job. `Jobs` reads them from all instances of the container when the application is
 * built.
 */
import { type Diagnostic, StartupError } from "../errors/diagnostic.js";
import { type JobMethod, listJobMethods } from "./handles.js";
import type { AnyJob } from "./job.js";
import type { JobContext } from "./job-context.js";
import type { ProviderWork } from "../lifecycle/subsystem.js";
import { Schedule } from "./schedules/schedule.js";

export interface JobHandler {
  readonly job: AnyJob;
  /** `WelcomeMails.send`, for messages. */
  readonly place: string;
  readonly run: (payload: unknown, ctx: JobContext) => unknown;
}

export class JobHandlers {
  private constructor(private readonly byName: ReadonlyMap<string, JobHandler>) {}

  /**
   * @param others handlers without `@Handles`, such as those of queued listeners
   * @throws StartupError with one `E_JOB_HANDLED_TWICE` for each job with several handlers
   */
  static of(instances: readonly unknown[], others: readonly JobHandler[] = []): JobHandlers {
    const byName = new Map<string, JobHandler>();
    const diagnostics: Diagnostic[] = [];
    for (const handler of [...instances.flatMap(listHandlers), ...others]) {
      const other = byName.get(handler.job.name);
      if (other !== undefined) diagnostics.push(handledTwice(handler, other));
      byName.set(handler.job.name, handler);
    }
    if (diagnostics.length > 0) throw new StartupError(diagnostics);
    return new JobHandlers(byName);
  }

  find(name: string): JobHandler | undefined {
    return this.byName.get(name);
  }

  get names(): readonly string[] {
    return [...this.byName.keys()];
  }

  get size(): number {
    return this.byName.size;
  }

  /** The schedules that a method handles. */
  schedules(): readonly Schedule[] {
    return [...this.byName.values()].flatMap(({ job }) => (job instanceof Schedule ? [job] : []));
  }
}

/** The methods with `@Handles` and `@Every`, for the graph. */
export function describeJobMethods(instance: object): ProviderWork {
  const describe = ({ job, key }: JobMethod): string => `${instance.constructor.name}.${String(key)} on ${job.name}`;
  const methods = listJobMethods(instance);
  return {
    jobs: methods.filter(({ job }) => !(job instanceof Schedule)).map(describe),
    schedules: methods.filter(({ job }) => job instanceof Schedule).map(describe),
  };
}

function listHandlers(instance: unknown): readonly JobHandler[] {
  if (typeof instance !== "object" || instance === null) return [];
  return listJobMethods(instance).map(({ job, key }) => ({
    job,
    place: `${instance.constructor.name}.${String(key)}`,
    run: getMethod(instance, key).bind(instance),
  }));
}

function getMethod(instance: object, key: string | symbol): JobHandler["run"] {
  // `@Handles` accepts methods only, and the compiler has compared their parameters with the job.
  return Reflect.get(instance, key) as JobHandler["run"];
}

function handledTwice({ job, place }: JobHandler, other: JobHandler): Diagnostic {
  return {
    code: "E_JOB_HANDLED_TWICE",
    what: `the job ${job.name} has more than one handler`,
    where: `${other.place} and ${place}`,
    fix: "give each method a separate job, or list the class in one module and export it",
  };
}
