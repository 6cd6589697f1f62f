/**
 * The marks by which a copy of the package knows what it has created or decorated, and what another copy has. `copy.ts` says why, and names
 * both copies. It imports nothing, so that every file may mark its classes.
 *
 * Not for values that any copy understands, such as functions and plain objects.
 */

/** One copy: the same object for all its values, because a tool may load two copies from one place. */
export interface Copy {
  readonly place: string;
}

/** Plain data, because a copy of another version may have written it. */
export interface CopyMark {
  readonly copy: Copy;
  /** `a decorator above Links.index`, `the token`. */
  readonly subject: string;
  /** The name of the value belongs to the subject. */
  readonly isNamed: boolean;
}

const MARKS = Symbol.for("@stagecraft/framework.copies");

/** In the package this module is a file, or in a chunk of its entry points. */
const IN_PACKAGE = /lib\/(?:errors\/copy-mark|chunks\/[\w-]+)\.\w+$/;

/** The name of the file, where a bundle has no URL of the module. */
export const THIS_COPY: Copy = {
  place: (import.meta as { readonly url?: string }).url?.replace(IN_PACKAGE, "") ?? getFileName(),
};

/** A bundle for a browser has neither. */
function getFileName(): string {
  return typeof __filename === "string" ? __filename : "a bundle";
}

/** Marks a value, or the prototype of a class, as created with this copy. @param kind `token` */
export function markKind(target: object, kind: string): void {
  addMark(target, { copy: THIS_COPY, subject: `the ${kind}`, isNamed: true });
}

/** Returns whether the target has the mark: a frozen object without marks of this copy cannot have one. */
export function addMark(target: object, mark: CopyMark): boolean {
  const marks = getMarks(target);
  if (marks.some(({ copy }) => copy === THIS_COPY)) return true;
  return Reflect.defineProperty(target, MARKS, { value: [...marks, mark], configurable: true });
}

/** Whether the value, or an object that it inherits from, has marks: a cheap check for the values of requests. */
export function isMarked(value: object): boolean {
  return MARKS in value;
}

/** The own marks: those of a class are not those of a subclass. */
export function getMarks(target: object): readonly CopyMark[] {
  const marks: unknown = Object.getOwnPropertyDescriptor(target, MARKS)?.value;
  return Array.isArray(marks) ? marks : NO_MARKS;
}

export const NO_MARKS: readonly CopyMark[] = [];
