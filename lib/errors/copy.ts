/**
 * Finds a second copy of the package in one process. Each copy has separate classes and registries: what a decorator or a function of one
 * copy records is unknown to the other, which would leave out a route, a listener or a guard without a word. So every class and
 * method with a decorator, and the values that only their own copy understands, are marked with their copy, and a diagnostic names both.
 *
 * Not for values that any copy understands, such as functions and plain objects.
 */
import type { Diagnostic } from "./diagnostic.js";
import { addMark, getMarks, isMarked, markKind, NO_MARKS, THIS_COPY, type Copy, type CopyMark } from "./copy-mark.js";
import { FrameworkError } from "./framework-error.js";
import { isClass, type Class } from "../runtime/class.js";
import { listMethods } from "../runtime/original-methods.js";
import { createSetupError } from "./setup-error.js";

// Not in its class, which a front end may load: the marks would be a part of its bundle.
markKind(FrameworkError.prototype, "error");

/**
 * @param target the value by which a decorator records: a class, a prototype, or the method of a standard call
 * @throws FrameworkError `E_DECORATOR_ORDER` for a frozen one, in which an application of another copy could not find the decorator
 */
export function markDecorated(target: object, decorated: string): void {
  if (markSubject(target, `a decorator above ${decorated}`)) return;
  throw createSetupError(
    "E_DECORATOR_ORDER",
    `${decorated} is frozen or sealed before a decorator of the framework above it runs: write the decorator that freezes it above all of the framework`,
  );
}

/** @param subject the subject of a message about the value */
export function markSubject(target: object, subject: string): boolean {
  return addMark(target, { copy: THIS_COPY, subject, isNamed: false });
}

/** Whether a method of the class has a decorator that was called as a standard one, which marks the function. */
export function hasStandardMethod({ prototype }: Class): boolean {
  return getMethodMarks(Object(prototype)).length > 0;
}

/** The diagnostic of a value or a class with a mark of another copy; `undefined` for any other value. */
export function findForeignCopy(value: unknown, where: string): Diagnostic | undefined {
  const mark = listMarks(value).find(({ copy }) => copy !== THIS_COPY);
  if (mark === undefined) return undefined;
  const subject = mark.isNamed ? `${mark.subject}${formatName(value)}` : mark.subject;
  return { ...describeTwoCopies(`${subject} is of another copy of the framework`, mark.copy), where };
}

/**
 * A value without a mark costs one lookup.
 *
 * @throws FrameworkError `E_TWO_COPIES` for a value that was created with another copy
 */
export function refuseForeignCopy(value: unknown): void {
  const error = findForeignError(value);
  if (error !== undefined) throw error;
}

/** The error `E_TWO_COPIES` for a value that was created with another copy; `undefined` for any other value. */
export function findForeignError(value: unknown): FrameworkError | undefined {
  const foreign = isObject(value) && isMarked(value) ? findForeignCopy(value, "") : undefined;
  return (
    foreign &&
    createSetupError(foreign.code, `${foreign.what}; fix: ${foreign.fix}`, value instanceof Error ? value : undefined)
  );
}

function describeTwoCopies(what: string, { place }: Copy): Omit<Diagnostic, "where"> {
  const places = place === THIS_COPY.place ? `both from ${place}` : `${THIS_COPY.place} and ${place}`;
  return {
    code: "E_TWO_COPIES",
    what: `${what}; two are loaded: ${places}`,
    fix:
      "install the package once, which npm ls @stagecraft/framework shows, and load it in one way: " +
      'tsx and Jest load a second copy where CommonJS requires it, so set "type": "module" in package.json',
  };
}

function formatName(value: unknown): string {
  const { name, message }: { readonly name?: unknown; readonly message?: unknown } = Object(value);
  const text = typeof name === "string" && name !== "" ? ` ${name}` : "";
  // The report of a provider that throws the error has no other place for its message.
  return value instanceof Error ? `${text} (${String(message)})` : text;
}

/** The marks of a value, of the classes that it inherits from, and of their methods. */
function listMarks(value: unknown): readonly CopyMark[] {
  if (!isObject(value)) return [];
  // The members of an instance are not listed, because it may be a large value, such as bytes.
  const prototypes = getChain(isClass(value) ? value.prototype : Object.getPrototypeOf(value));
  const holders = isClass(value) ? getChain(value) : [value];
  return [...[...holders, ...prototypes].flatMap(getMarks), ...prototypes.flatMap(getMethodMarks)];
}

/** The object and its prototypes, without those of the language. */
function getChain(leaf: unknown): readonly object[] {
  const chain: object[] = [];
  for (let each = leaf; isObject(each) && !NATIVE.has(each); each = Object.getPrototypeOf(each)) chain.push(each);
  return chain;
}

const NATIVE: ReadonlySet<object> = new Set([Object.prototype, Function.prototype]);

/** Those that standard decorators leave. A class may be a member of another one, and is not a method. */
function getMethodMarks(holder: object): readonly CopyMark[] {
  const marked = listMethods(holder).filter((method) => getMarks(method) !== NO_MARKS);
  return marked.filter((method) => !isClass(method)).flatMap(getMarks);
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
