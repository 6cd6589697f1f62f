/**
 * What a decorator stands above, read from the arguments of its call. A compiler of legacy decorators passes the prototype, or the class of a
 * static member, then the name, and then the descriptor or the index of a parameter. A compiler of standard decorators passes the value and
 * a context, which knows no class.
 *
 * @example
 * readPlace(Links.prototype, ["index", descriptor]); // { kind: "method", text: "above the method Links.index" }
 */
import { valueText } from "./value-text.js";

/** `method` is a public method of the instance, `parameter` is one of a constructor. */
export type PlaceKind = "class" | "method" | "parameter" | "other";

export interface DecoratorPlace {
  readonly kind: PlaceKind;
  /** With its preposition: `above the static method Links.index`. */
  readonly text: string;
}

/** Whether a call is of the standard kind, by its second argument. */
export function isStandardContext(value: unknown): value is DecoratorContext {
  return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string";
}

/** Whether the arguments are those with which a compiler calls the decorator of a member or of a parameter, or any standard decorator. */
export function isDecoratorCall(target: unknown, [second, third]: readonly unknown[]): boolean {
  if (isStandardContext(second)) return true;
  const isTarget = typeof target === "function" || (typeof target === "object" && target !== null);
  return isTarget && (isKey(second) || typeof third === "number");
}

/** @param rest the arguments after the first */
export function readPlace(target: unknown, rest: readonly unknown[]): DecoratorPlace {
  const [second, third] = rest;
  if (isStandardContext(second) && second.kind !== "class") return readStandardMember(second);
  const className = valueText(typeof target === "function" ? target : Object(target).constructor);
  if (typeof third === "number") return readParameter(className, second, third);
  if (!isKey(second)) return { kind: "class", text: `above the class ${className}` };
  const kind = readLegacyKind(target, second, rest);
  return readMember(kind, typeof target === "function" ? ["static"] : [], `${className}.${String(second)}`);
}

function readStandardMember(context: Exclude<DecoratorContext, ClassDecoratorContext>): DecoratorPlace {
  const marks = [...(context.private ? ["private"] : []), ...(context.static ? ["static"] : [])];
  return readMember(context.kind, marks, String(context.name));
}

function readParameter(className: string, method: unknown, index: number): DecoratorPlace {
  const parameter = `on parameter ${index + 1} of`;
  if (isKey(method)) return { kind: "other", text: `${parameter} ${className}.${String(method)}` };
  return { kind: "parameter", text: `${parameter} the constructor of ${className}` };
}

function readMember(kind: string, marks: readonly string[], name: string): DecoratorPlace {
  const isInstanceMethod = kind === "method" && marks.length === 0;
  return { kind: isInstanceMethod ? "method" : "other", text: `above the ${[...marks, kind].join(" ")} ${name}` };
}

function readLegacyKind(target: unknown, key: PropertyKey, rest: readonly unknown[]): string {
  // Compilers pass `undefined` for the descriptor of a field. A call by hand may leave it out.
  if (rest.length > 1 && rest[1] === undefined) return "field";
  const given: PropertyDescriptor = Object(rest[1]);
  const descriptor = findDescriptor(target, key) ?? given;
  // A decorator below may have replaced one of the two by a getter, as one that binds the method does.
  if (typeof given.value === "function" || typeof descriptor.value === "function") return "method";
  if (descriptor.get !== undefined) return descriptor.set === undefined ? "getter" : "accessor";
  return descriptor.set === undefined ? "field" : "setter";
}

function findDescriptor(target: unknown, key: PropertyKey): PropertyDescriptor | undefined {
  for (let each = target; each !== null && each !== undefined; each = Object.getPrototypeOf(each)) {
    const descriptor = Object.getOwnPropertyDescriptor(each, key);
    if (descriptor !== undefined) return descriptor;
  }
  return undefined;
}

/** esbuild gives the name of `1() {}` as a number, which the types do not say. */
function isKey(value: unknown): value is PropertyKey {
  return typeof value === "string" || typeof value === "symbol" || typeof value === "number";
}
