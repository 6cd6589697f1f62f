/**
 * How an instance is let go: by `Symbol.asyncDispose`, else `dispose()`, else `Symbol.dispose`; only one of them is called. In
 * reverse order of construction, one after the other, so that nothing is taken from under its users; only promises are waited for.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { isPromise } from "../http/middleware.js";
import { nameOf } from "./token.js";

const WAYS = [Symbol.asyncDispose, "dispose", Symbol.dispose] as const;

/**
 * Disposes of everything, whatever fails on the way.
 *
 * @throws FrameworkError `E_DISPOSE` at the end when something failed; its cause is an `AggregateError` of all failures.
 */
export async function disposeAll(instances: readonly unknown[]): Promise<void> {
  const failures: unknown[] = [];
  const names: string[] = [];
  for (const instance of instances.toReversed()) {
    try {
      const ending = disposeOf(instance);
      if (isPromise(ending)) await ending;
    } catch (error) {
      failures.push(error);
      names.push(nameOf(instance?.constructor));
    }
  }
  if (failures.length > 0) throw incomplete(names, failures);
}

function disposeOf(instance: unknown): unknown {
  if ((typeof instance !== "object" && typeof instance !== "function") || instance === null) return undefined;
  for (const way of WAYS) {
    const dispose: unknown = Reflect.get(instance, way);
    if (typeof dispose === "function") return Reflect.apply(dispose, instance, []);
  }
  return undefined;
}

function incomplete(names: readonly string[], failures: readonly unknown[]): FrameworkError {
  return new FrameworkError(`could not dispose of ${names.join(", ")}; everything else was disposed of`, {
    code: "E_DISPOSE",
    cause: new AggregateError(failures),
  });
}
