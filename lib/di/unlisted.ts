/**
 * The classes whose decorators have an effect only where a module lists the class: those with `@Controller`, `@On`, `@Handles`,
 * `@Every`, `@Command` and `@Guards`. `run()` warns of each class that no module lists.
 */
import type { Warning } from "../errors/diagnostic.js";
import { isClass } from "../runtime/class.js";
import { listMethods } from "../runtime/original-methods.js";
import { describeToken } from "./token.js";

/** The decorators of each class; of a class that a standard decorator does not know, those of the method. Weak references, so that a class that a function has created can be collected as garbage. */
const decorators = new WeakMap<object, Set<string>>();
const declared = new Set<WeakRef<object>>();

/** The classes that a module of a built application lists, their bases, and the methods of both. */
const listed = new WeakSet<object>();

/** @param decorator as it is written: `@On` */
export function recordDecorated(target: object, decorator: string): void {
  const known = decorators.get(target);
  if (known === undefined) declared.add(new WeakRef(target));
  decorators.set(target, (known ?? new Set()).add(decorator));
}

export function markListed(target: object): void {
  for (let each: unknown = target; typeof each === "function"; each = Object.getPrototypeOf(each)) {
    listed.add(each);
    for (const method of listMethods(Object(each.prototype))) listed.add(method);
  }
}

/** The classes of the process that no module of a built application lists. */
export function findUnlistedClasses(decorator: string): readonly object[] {
  const alive = [...declared].map((each) => each.deref()).filter((each) => each !== undefined);
  return alive.filter((each) => !listed.has(each) && decorators.get(each)?.has(decorator) === true);
}

const EFFECTS: readonly (readonly [decorator: string, effect: string])[] = [
  ["@On", "its listeners are never called"],
  ["@Handles", "its jobs are not handled by this program"],
  ["@Every", "its schedules never run"],
  ["@Command", "its commands are unknown"],
  ["@Guards", "its guards protect no route"],
];

/** The warnings of `run()`. Controllers have a separate warning. */
export function findUnlistedProviders(): readonly Warning[] {
  return EFFECTS.flatMap(([decorator, effect]) => {
    const classes = findUnlistedClasses(decorator).map((each) =>
      isClass(each) ? describeToken(each) : `the class of ${describeToken(each)}()`,
    );
    if (classes.length === 0) return [];
    const message = `a class has ${decorator} and no module lists it: ${effect}`;
    return [{ message, fields: { classes, fix: "list the class under providers of a module" } }];
  });
}
