/**
 * The names of a constructor's parameters as its source has them. For messages only: a minifier changes them, and the list ends at the
 * first parameter that is more than a name.
 */
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

export function parameterNames(target: object): readonly string[] {
  const [, list = ""] = Function.prototype.toString.call(target).split("constructor(", 2);
  const parts = (list.split(")", 1)[0] ?? "").split(",").map((part) => part.trim());
  const end = parts.findIndex((part) => !IDENTIFIER.test(part));
  return end === -1 ? parts : parts.slice(0, end);
}
