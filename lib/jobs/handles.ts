/**
 * `@Handles(job)` above a method: the method runs the jobs of that name. Its parameters are the payload and the `JobContext`, and it may
 * omit them. The class is a provider or a controller of any module. `build()` finds its methods, and refuses two methods for one job.
 *
 * @example
 * @Injectable()
 * class WelcomeMails {
 *   constructor(private readonly mailer: Mailer) {}
 *
 *   @Handles(sendWelcome)
 *   send({ to }: { to: string }, { signal }: JobContext) { return this.mailer.send(new WelcomeMail(to), { signal }); }
 * }
 */
import { requireParentheses } from "../errors/bare-decorator.js";
import { refuseForeignCopy } from "../errors/copy.js";
import { recordDecorated } from "../di/unlisted.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import type { AnyHandler } from "../endpoints/handler.js";
import { MethodRecords, toDecoratedMethod } from "../endpoints/method-records.js";
import { type AnyJob, Job } from "./job.js";
import type { JobContext } from "./job-context.js";
import { Schedule } from "./schedules/schedule.js";

/**
 * Every type, for a method that takes the payload of the job. For other methods it is a type that neither a method nor its descriptor has.
 * The compiler then shows the name of its property as the reason.
 */
export type FitsJob<H extends AnyHandler, Output> =
  TakesJob<Parameters<H>, Output> extends true
    ? unknown
    : { readonly "handler does not take the payload of this job": Output };

type TakesJob<P extends readonly unknown[], Output> = P extends []
  ? true
  : P extends [unknown]
    ? [Output] extends P
      ? true
      : false
    : [Output, JobContext] extends P
      ? true
      : false;

export interface JobMethod {
  readonly job: AnyJob;
  readonly key: string | symbol;
}

/** The standard kind of call comes first, as in `Endpoint`. */
export interface JobDecorator<Output> {
  <H extends AnyHandler>(method: H & FitsJob<H, Output>, context: ClassMethodDecoratorContext): void;
  <H extends AnyHandler>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<H> & FitsJob<H, Output>,
  ): void;
}

const handled = new MethodRecords<AnyJob>();

/**
 * @throws FrameworkError `E_DECORATOR_CALL` without parentheses or without a job, `E_DECORATOR_KIND` above anything but a public instance
 *   method
 */
export function Handles<Output>(job: Job<never, Output>, ...none: readonly never[]): JobDecorator<Output> {
  requireParentheses("Handles(job)", ["method"], job, none);
  refuseForeignCopy(job);
  if (!(job instanceof Job))
    throw createSetupError("E_DECORATOR_CALL", `@Handles needs the value of job(…), not ${valueText(job)}`);
  const decorator = job instanceof Schedule ? "Every(schedule)" : "Handles(job)";
  return (target: object, ...rest: readonly unknown[]): void => {
    const method = toDecoratedMethod(decorator, target, rest);
    recordDecorated(method.declaredBy, job instanceof Schedule ? "@Every" : "@Handles");
    handled.add(method, job);
  };
}

/**
 * The decorated methods of an object and of its base classes. A method that a subclass decorates again has only the jobs of the subclass.
 */
export function listJobMethods(instance: object): readonly JobMethod[] {
  return [...handled.getOfInstance(instance)].flatMap(([key, jobs]) => jobs.map((job) => ({ job, key })));
}
