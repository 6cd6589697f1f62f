/** Runs the guards of a route before its middleware, and adds their values to the context. */
import type { UsedGuard } from "../endpoints/guard.js";
import { FrameworkError } from "../errors/framework-error.js";
import { isPromise, type Run } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import type { GuardProvider } from "./guards.js";

/** A guard with its code. */
export interface ReadyGuard extends UsedGuard {
  readonly provider: GuardProvider;
}

/** A guard in its place on a route. */
interface PlacedGuard extends ReadyGuard {
  /** The guard stands on the route before, with other arguments: it may replace its own values. */
  readonly isRepeated: boolean;
}

/** Puts guards around a route; the first of the list runs first. */
export function runGuarded(guards: readonly ReadyGuard[], inner: Run): Run {
  return guards
    .map((guard, at) => ({ ...guard, isRepeated: hasGuard(guards.slice(0, at), guard) }))
    .reduceRight<Run>((rest, guard) => (ctx) => runGuard(guard, ctx, rest), inner);
}

function hasGuard(guards: readonly ReadyGuard[], { definition }: ReadyGuard): boolean {
  return guards.some((each) => each.definition === definition);
}

function runGuard(guard: PlacedGuard, ctx: Context, rest: Run): void | Promise<void> {
  const added = guard.provider.run(ctx, ...guard.args);
  if (!isPromise(added)) return enter(guard, added, ctx, rest);
  return Promise.resolve(added).then((settled) => enter(guard, settled, ctx, rest));
}

function enter(guard: PlacedGuard, added: unknown, ctx: Context, rest: Run): void | Promise<void> {
  if (added !== undefined) addTo(ctx, added, guard);
  return rest(ctx);
}

/** A guard that returns something else, such as `false`, may have meant to refuse: the handler does not run. */
function addTo(ctx: Context, added: unknown, { definition, provider: { place }, isRepeated }: PlacedGuard): void {
  const prototype: unknown = typeof added === "object" && added !== null && Object.getPrototypeOf(added);
  if (prototype !== Object.prototype && prototype !== null)
    throw createGuardError(
      `${place}, the guard ${definition.name}, returned no object of values: return { name: value }, or throw to refuse`,
    );
  for (const [name, value] of Object.entries(Object(added))) {
    if (name in ctx && !(isRepeated && isAdded(ctx, name)))
      throw createGuardError(`${place}, the guard ${definition.name}, adds ${name}, ${explainTaken(ctx, name)}`);
    Object.defineProperty(ctx, name, { value, enumerable: true, configurable: true, writable: false });
  }
}

/** The type of the handler would have the values of both guards, which one value is not. */
function explainTaken(ctx: Context, name: string): string {
  return isAdded(ctx, name)
    ? "which an earlier guard has added: choose another name, or name that guard in after and read its value"
    : "which the context has already";
}

/** No other member of the context is read-only. */
function isAdded(ctx: Context, name: string): boolean {
  return Object.getOwnPropertyDescriptor(ctx, name)?.writable === false;
}

function createGuardError(message: string): FrameworkError {
  return new FrameworkError(message, { code: "E_GUARD_RESULT" });
}
