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
import { bareDecorator, refuseStandardCall } from "../errors/bare-decorator.js";
import { recordDecorated } from "../di/unlisted.js";
import { createSetupError } from "../errors/setup-error.js";
import type { AnyHandler } from "../endpoints/handler.js";
import { type AnyJob, Job } from "./job.js";
import type { JobContext } from "./job-context.js";
import { Schedule } from "./schedules/schedule.js";

/**
 * The descriptor of a method that takes the payload of the job. For other methods it is a type that no descriptor has. The compiler then
 * shows the name of its property as the reason.
 */
export type FitsJob<H extends AnyHandler, Output> =
  TakesJob<Parameters<H>, Output> extends true
    ? TypedPropertyDescriptor<H>
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

/** The decorated methods by prototype. */
const decorated = new WeakMap<object, readonly JobMethod[]>();

/** @throws FrameworkError `E_DECORATOR_CALL` without parentheses, `E_JOB_STATIC` above a static method */
export function Handles<Output>(
  job: Job<never, Output>,
): <H extends AnyHandler>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<H> & FitsJob<H, Output>,
) => void {
  if (!(job instanceof Job)) throw bareDecorator("Handles(job)", job);
  return (target, key) => {
    refuseStandardCall("Handles(job)", key);
    if (typeof target === "function")
      throw createSetupError(
        "E_JOB_STATIC",
        `@Handles stands above the static method ${target.name}.${String(key)}: make it a method of the instance`,
      );
    recordDecorated(target.constructor, job instanceof Schedule ? "@Every" : "@Handles");
    decorated.set(target, [...(decorated.get(target) ?? []), { job, key }]);
  };
}

/**
 * The decorated methods of an object and of its base classes. A method that a subclass decorates again has only the jobs of the subclass.
 */
export function listJobMethods(instance: object): readonly JobMethod[] {
  const byKey = new Map<string | symbol, readonly JobMethod[]>();
  for (const prototype of listPrototypes(instance)) {
    const methods = decorated.get(prototype) ?? [];
    for (const { key } of methods)
      byKey.set(
        key,
        methods.filter((method) => method.key === key),
      );
  }
  return [...byKey.values()].flat();
}

/** The methods of the base class come first. */
function listPrototypes(instance: object): readonly object[] {
  const chain: object[] = [];
  for (let each: unknown = instance; typeof each === "object" && each !== null; each = Object.getPrototypeOf(each)) {
    chain.unshift(each);
  }
  return chain;
}
