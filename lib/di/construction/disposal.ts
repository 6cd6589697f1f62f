/**
 * Disposes of instances by `Symbol.asyncDispose`, else `dispose()`, else `Symbol.dispose`; only one of them is called. The order is the
 * reverse of the construction, one instance after the other, so that the dependencies of an instance still work. Only promises are awaited.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { causeText } from "../../errors/thrown-value.js";
import { toPromise, isPromise } from "../../http/middleware.js";
import { describeToken } from "../token.js";

const METHODS = [Symbol.asyncDispose, "dispose", Symbol.dispose] as const;

/** Limits the time of one disposal: rejects if `work` takes too long. */
export type DisposalLimit = (work: Promise<unknown>) => Promise<unknown>;

const unlimited: DisposalLimit = (work) => work;

/**
 * Continues after a failure.
 *
 * @throws FrameworkError `E_DISPOSE` at the end when an instance failed; its cause is an `AggregateError` of all failures.
 */
export async function disposeAll(instances: readonly unknown[], limit = unlimited): Promise<void> {
  const failures: unknown[] = [];
  const names: string[] = [];
  for (const instance of instances.toReversed()) {
    try {
      const result = disposeOne(instance);
      if (isPromise(result)) await limit(toPromise(result));
    } catch (error) {
      failures.push(error);
      names.push(`${describeToken(instance?.constructor)} (${causeText(error)})`);
    }
  }
  if (failures.length > 0) throw disposalError(names, failures);
}

function disposeOne(instance: unknown): unknown {
  if ((typeof instance !== "object" && typeof instance !== "function") || instance === null) return undefined;
  for (const method of METHODS) {
    const dispose: unknown = Reflect.get(instance, method);
    if (typeof dispose === "function") return Reflect.apply(dispose, instance, []);
  }
  return undefined;
}

function disposalError(names: readonly string[], failures: readonly unknown[]): FrameworkError {
  return new FrameworkError(
    `could not dispose of ${names.join(", ")}; all others were disposed of: correct these dispose methods`,
    {
      code: "E_DISPOSE",
      cause: new AggregateError(failures),
    },
  );
}
