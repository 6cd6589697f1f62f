/**
 * A guard as a value: a name, and the type of the values that it adds to the context of a handler. A front end may import it, because a
 * method of a provider on the server is its code: `@Guards(signedIn)` stands above that method. A guard that a route uses and no provider
 * has stops the start.
 *
 * @example
 * export const signedIn = guard<{ user: User }>("signed-in", { scheme: "bearer", refusals: [401] });
 * export const role = guard<object, [role: string], { user: User }>("role", { after: [signedIn] });
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
  /**
   * The guards that run before it on each route, whose values its code reads; of a list inside the list, one of them. A route that lacks one
   * stops the start.
   */
  readonly after?: readonly EarlierGuard[];
}

/** A guard on an endpoint, with its arguments. */
export interface GuardUse<Adds = unknown> {
  /** In types only. */
  readonly "~adds": Adds;
  /** In types only. */
  readonly "~use": true;
}

/** A guard that runs before another one, or several, of which one does. */
export type EarlierGuard<Adds = unknown> = GuardUse<Adds> | readonly [GuardUse<Adds>, ...(readonly GuardUse<Adds>[])];

/** A guard. A call gives it its arguments; one without arguments needs no call. */
export interface GuardDefinition<Adds = unknown, Args extends readonly unknown[] = readonly never[], Needs = unknown> {
  (...args: Args): GuardUse<Adds>;
  readonly name: string;
  readonly scheme: string | undefined;
  readonly refusals: readonly number[];
  /** The guards that run before it on each route: one of each list. */
  readonly after: readonly (readonly AnyGuard[])[];
  /** In types only. */
  readonly "~provides": { readonly adds: Adds; readonly args: Args; readonly needs: Needs };
}

export type Guard<Adds = unknown, Args extends readonly unknown[] = [], Needs = unknown> = GuardDefinition<
  Adds,
  Args,
  Needs
> &
  ([] extends Args ? GuardUse<Adds> : UncalledGuard);

/** A guard by its name. */
export interface AnyGuard {
  readonly name: string;
}

/** The guards of an endpoint. One guard is no list, and the compiler ends its message with the text. */
export type GuardList = { readonly "~use"?: "guards takes a list: [signedIn]" } & readonly GuardUse[];

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

/** `after` names the guards that add the values which a guard needs. */
type OptionsOf<Needs> = unknown extends Needs
  ? [options?: GuardOptions]
  : [options: GuardOptions & { readonly after: readonly EarlierGuard<Partial<Needs>>[] }];

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
 * @typeParam Needs the values that guards before it have added to the context
 * @throws FrameworkError `E_GUARD` for a name that is no text, or empty; `E_OPTION` for an unknown option
 */
export function guard<Adds extends object = object, Args extends readonly unknown[] = [], Needs = unknown>(
  name: GuardName<Adds>,
  ...[options = {}]: OptionsOf<Needs>
): Guard<Adds, Args, Needs> {
  if (typeof name !== "string" || name === "")
    throw createSetupError("E_GUARD", `guard(…) was given ${valueText(name)} for a name: give a text`);
  const place = `guard("${name}")`;
  checkOptionNames<GuardOptions>(options, { scheme: true, refusals: true, after: true }, place);
  const { scheme, refusals = [401, 403] } = options;
  const after = toEarlierGuards(options.after, place);
  const use = (...args: Args): UsedGuard => ({ definition, args });
  const members = { name, scheme, refusals: Object.freeze([...refusals]), after: Object.freeze(after) };
  const descriptors = Object.entries(members).map(([key, value]) => [key, { value, enumerable: true }]);
  // The members are defined, because the `name` of a function cannot be assigned. Those with `~` exist in types only.
  const definition = Object.defineProperties(use, Object.fromEntries(descriptors)) as unknown as GuardDefinition;
  markKind(definition, "guard");
  definitions.add(definition);
  return definition as unknown as Guard<Adds, Args, Needs>;
}

/** Whether `guard()` created the value. */
export function isGuard(value: unknown): value is GuardDefinition {
  return typeof value === "function" && definitions.has(value);
}

/**
 * The guards in an option of an endpoint, a table, a resource or a guard; none where the option is left out.
 *
 * @throws FrameworkError `E_GUARD` for a value that is no guard, and for anything but a list
 */
export function toUsedGuards(given: unknown, where: string, option = "guards"): readonly UsedGuard[] {
  if (given === undefined) return [];
  if (Array.isArray(given)) return given.map((each) => toUsedGuard(each, where, option));
  throw createSetupError(
    "E_GUARD",
    `${where}: "${option}" is ${valueText(given)}: give a list of guards, ${option}: [signedIn]`,
  );
}

function toEarlierGuards(given: unknown, where: string): readonly (readonly GuardDefinition[])[] {
  const entries: readonly unknown[] = Array.isArray(given) ? given : toUsedGuards(given, where, "after");
  return entries.map((each) => {
    const guards = toUsedGuards(Array.isArray(each) ? each : [each], where, "after");
    return Object.freeze(guards.map(({ definition }) => definition));
  });
}

function toUsedGuard(given: unknown, where: string, option: string): UsedGuard {
  const definition: unknown = typeof given === "object" ? Reflect.get(Object(given), "definition") : given;
  refuseForeignCopy(definition);
  if (!isGuard(definition))
    throw createSetupError(
      "E_GUARD",
      `${where}: ${valueText(given)} in "${option}" is no guard: give values of guard(…)`,
    );
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
