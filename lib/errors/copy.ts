/**
 * Finds a second copy of the package in one process. Each copy has separate classes and registries: what a decorator or a function of one
 * copy records is unknown to the other, which would leave out a route, a listener or a guard without a word. So every value that an
 * application passes to the framework, and every class and method with a decorator, is marked with its copy, and a diagnostic names both.
 *
 * Not for values that any copy understands, such as functions and plain objects.
 */
import type { Diagnostic } from "./diagnostic.js";
import { isClass, type Class } from "../runtime/class.js";
import { listMethods } from "../runtime/original-methods.js";
import { createSetupError } from "./setup-error.js";

/** One copy: the same object for all its values, because a tool may load two copies from one place. */
interface Copy {
  readonly place: string;
}

/** Plain data, because a copy of another version may have written it. */
interface CopyMark {
  readonly copy: Copy;
  /** `a decorator above Links.index`, `the token`. */
  readonly subject: string;
  /** The name of the value belongs to the subject. */
  readonly isNamed: boolean;
}

const MARKS = Symbol.for("@stagecraft/framework.copies");

/** The name of the file, where a bundle has no URL of the module. */
const THIS: Copy = {
  place: (import.meta as { readonly url?: string }).url?.replace(/lib\/errors\/copy\.\w+/, "") ?? getFileName(),
};

/** A bundle for a browser has neither. */
function getFileName(): string {
  return typeof __filename === "string" ? __filename : "a bundle";
}

/** Marks a value, or the prototype of a class, as created with this copy. @param kind `token` */
export function markKind(target: object, kind: string): void {
  addMark(target, { copy: THIS, subject: `the ${kind}`, isNamed: true });
}

/** @param target the value by which a decorator records: a class, a prototype, or the method of a standard call */
export function markDecorated(target: object, decorated: string): void {
  markSubject(target, `a decorator above ${decorated}`);
}

/** @param subject the subject of a message about the value */
export function markSubject(target: object, subject: string): void {
  addMark(target, { copy: THIS, subject, isNamed: false });
}

function addMark(target: object, mark: CopyMark): void {
  const marks = getMarks(target);
  if (!marks.some(({ copy }) => copy === THIS))
    Reflect.defineProperty(target, MARKS, { value: [...marks, mark], configurable: true });
}

/** Whether a method of the class has a decorator that was called as a standard one, which marks the function. */
export function hasStandardMethod({ prototype }: Class): boolean {
  return getMethodMarks(Object(prototype)).length > 0;
}

/** The diagnostic of a value or a class with a mark of another copy; `undefined` for any other value. */
export function findForeignCopy(value: unknown, where: string): Diagnostic | undefined {
  const mark = listMarks(value).find(({ copy }) => copy !== THIS);
  if (mark === undefined) return undefined;
  const subject = mark.isNamed ? `${mark.subject}${formatName(value)}` : mark.subject;
  return { ...describeTwoCopies(`${subject} is of another copy of the framework`, mark.copy), where };
}

/** @throws FrameworkError `E_TWO_COPIES` for a value that was created with another copy */
export function refuseForeignCopy(value: unknown): void {
  const foreign = findForeignCopy(value, "");
  if (foreign !== undefined) throw createSetupError(foreign.code, `${foreign.what}; fix: ${foreign.fix}`);
}

function describeTwoCopies(what: string, { place }: Copy): Omit<Diagnostic, "where"> {
  const places = place === THIS.place ? `both from ${place}` : `${THIS.place} and ${place}`;
  return {
    code: "E_TWO_COPIES",
    what: `${what}; two are loaded: ${places}`,
    fix:
      "install the package once, which npm ls @stagecraft/framework shows, and load it in one way: " +
      'tsx and Jest load a second copy where CommonJS requires it, so set "type": "module" in package.json',
  };
}

function formatName(value: unknown): string {
  const name: unknown = Reflect.get(Object(value), "name");
  return typeof name === "string" && name !== "" ? ` ${name}` : "";
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

/** The own marks: those of a class are not those of a subclass. */
function getMarks(target: object): readonly CopyMark[] {
  const marks: unknown = Object.getOwnPropertyDescriptor(target, MARKS)?.value;
  return Array.isArray(marks) ? marks : NO_MARKS;
}

const NO_MARKS: readonly CopyMark[] = [];

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
