/**
 * A guard as a value: a name, and the type of the values that it adds to the context of a handler. A front end may import it, because a
 * method of a provider on the server is its code: `@Guards(signedIn)` stands above that method. A guard that a route uses and no provider
 * has stops the start.
 *
 * @example
 * export const signedIn = guard<{ user: User }>("signed-in", { scheme: "bearer", refusals: [401] });
 * export const role = guard<{ user: User }, [role: string]>("role");
 * Get("/", { guards: [role("admin")] });
 */
import { refuseForeignCopy } from "../errors/copy.js";
import { markKind } from "../errors/copy-mark.js";
import { checkOptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import type { Context } from "../http/request/context.js";

export interface GuardOptions {
  /** The name of the security scheme in API documents. */
  readonly scheme?: string;
  /** The statuses of its refusals; 401 and 403 unless set. */
  readonly refusals?: readonly number[];
}

/** A guard on an endpoint, with its arguments. */
export interface GuardUse<Adds = unknown> {
  /** In types only. */
  readonly "~adds": Adds;
  /** In types only. */
  readonly "~use": true;
}

/** A guard. A call gives it its arguments; one without arguments needs no call. */
export interface GuardDefinition<Adds = unknown, Args extends readonly unknown[] = readonly never[]> {
  (...args: Args): GuardUse<Adds>;
  readonly name: string;
  readonly scheme: string | undefined;
  readonly refusals: readonly number[];
  /** In types only. */
  readonly "~provides": { readonly adds: Adds; readonly args: Args };
}

export type Guard<Adds = unknown, Args extends readonly unknown[] = []> = GuardDefinition<Adds, Args> &
  ([] extends Args ? GuardUse<Adds> : UncalledGuard);

/** It is no `GuardUse`, and the compiler ends its message with the text. */
export interface UncalledGuard {
  /** In types only. */
  readonly "~adds": unknown;
  /** In types only. */
  readonly "~use": "this guard takes arguments: call it with them";
}

/** Every text, for a guard whose values have other names than the members of `Context`. */
type GuardName<Adds> =
  Extract<keyof Adds, keyof Context> extends never
    ? string
    : "a guard adds a name that Context has already: choose another name";

/** A guard and the arguments that an endpoint gives it. */
export interface UsedGuard {
  readonly definition: GuardDefinition;
  readonly args: readonly unknown[];
}

/**
 * Declares a guard.
 *
 * @typeParam Adds the values that it adds to the context, as an object
 * @typeParam Args the arguments that an endpoint gives it
 * @throws FrameworkError `E_GUARD` for a name that is no text, or empty; `E_OPTION` for an unknown option
 */
export function guard<Adds extends object = object, Args extends readonly unknown[] = []>(
  name: GuardName<Adds>,
  options: GuardOptions = {},
): Guard<Adds, Args> {
  if (typeof name !== "string" || name === "")
    throw createSetupError("E_GUARD", `guard(…) was given ${valueText(name)} for a name: give a text`);
  checkOptionNames<GuardOptions>(options, { scheme: true, refusals: true }, `guard("${name}")`);
  const { scheme, refusals = [401, 403] } = options;
  const use = (...args: Args): UsedGuard => ({ definition, args });
  const members = { name, scheme, refusals: Object.freeze([...refusals]) };
  const descriptors = Object.entries(members).map(([key, value]) => [key, { value, enumerable: true }]);
  // The members are defined, because the `name` of a function cannot be assigned. Those with `~` exist in types only.
  const definition = Object.defineProperties(use, Object.fromEntries(descriptors)) as unknown as GuardDefinition;
  markKind(definition, "guard");
  definitions.add(definition);
  return definition as unknown as Guard<Adds, Args>;
}

/** Whether `guard()` created the value. */
export function isGuard(value: unknown): value is GuardDefinition {
  return typeof value === "function" && definitions.has(value);
}

/**
 * The guards in the option `guards` of an endpoint, a table or a resource; none where the option is left out.
 *
 * @throws FrameworkError `E_GUARD` for a value that is no guard, and for anything but a list
 */
export function toUsedGuards(given: unknown, where: string): readonly UsedGuard[] {
  if (given === undefined) return [];
  if (Array.isArray(given)) return given.map((each) => toUsedGuard(each, where));
  throw createSetupError(
    "E_GUARD",
    `${where}: "guards" is ${valueText(given)}: give a list of guards, guards: [signedIn]`,
  );
}

function toUsedGuard(given: unknown, where: string): UsedGuard {
  const definition: unknown = typeof given === "object" ? Reflect.get(Object(given), "definition") : given;
  refuseForeignCopy(definition);
  if (!isGuard(definition))
    throw createSetupError("E_GUARD", `${where}: ${valueText(given)} in "guards" is no guard: give values of guard(…)`);
  if (definition === given) return { definition, args: [] };
  const { args } = given as UsedGuard;
  return { definition, args: Object.freeze([...args]) };
}

/** Returns a guard as it is written in `guards`: `role("admin")`. */
export function formatGuard({ definition: { name }, args }: UsedGuard): string {
  const texts = args.map((each) => (typeof each === "string" ? JSON.stringify(each) : valueText(each)));
  return texts.length === 0 ? name : `${name}(${texts.join(", ")})`;
}

const definitions = new WeakSet<object>();
