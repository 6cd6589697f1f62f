/**
 * Finds a second copy of the package in one process. Each copy has separate classes and registries, so a module of one is unknown to the
 * other. Every value that an application passes to the framework is marked with the copy that created it, and a diagnostic names both.
 *
 * Not for values that any copy understands, such as functions and plain objects.
 */
import type { Diagnostic } from "./diagnostic.js";
import { valueText } from "./value-text.js";

/** One copy: the same object for all its values, because a tool may load two copies from one place. */
interface Copy {
  readonly place: string;
}

const COPY = Symbol.for("@stagecraft/framework.copy");

/** The name of the file, where a bundle has no URL of the module. */
const THIS: Copy = {
  place: (import.meta as { readonly url?: string }).url?.replace(/lib\/errors\/copy\.\w+/, "") ?? __filename,
};

/** Marks a class, or the prototype of a class, with this copy. */
export function markCopy(target: object): void {
  Reflect.defineProperty(target, COPY, { value: THIS, configurable: true });
}

/** The diagnostic of a value that another copy created; `undefined` for any other value. */
export function findForeignCopy(value: unknown, where: string): Diagnostic | undefined {
  const copy = findCopy(value);
  if (copy === undefined || copy === THIS) return undefined;
  const what = `${valueText(value)} was created with another copy of the framework`;
  return { ...describeTwoCopies(what, copy.place), where };
}

/** A diagnostic without its place. @param place the other copy */
export function describeTwoCopies(what: string, place: string): Omit<Diagnostic, "where"> {
  const places = place === THIS.place ? `both from ${THIS.place}` : `${THIS.place} and ${place}`;
  return {
    code: "E_TWO_COPIES",
    what: `${what}; two are loaded: ${places}`,
    fix:
      "install the package once, which npm ls @stagecraft/framework shows, and load it in one way: " +
      'tsx and Jest load a second copy where CommonJS requires it, so set "type": "module" in package.json',
  };
}

function findCopy(value: unknown): Copy | undefined {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return undefined;
  const copy: unknown = Reflect.get(value, COPY);
  // Every version marks its values with this type.
  return typeof copy === "object" && copy !== null ? (copy as Copy) : undefined;
}
