/**
 * What a class asks for when it is built: one entry per constructor parameter, each with the token to inject or with the reason why its
 * type names none. A class without a constructor of its own asks for what its parent asks for.
 */
import { isClass, type Class } from "./class.js";
import { injectionsOf, isInjectable } from "./injectable.js";
import { constructorTypes } from "./reflect.js";
import { isInjectionToken, type InjectionToken } from "./token.js";

/** Why a parameter's type is no token. */
export type Blank = "type-only" | "interface" | "undefined" | "primitive" | "not a token";

export interface Parameter {
  /** Counted from 1. */
  readonly position: number;
  readonly token: InjectionToken | undefined;
  /** Set where `token` is not. */
  readonly blank?: Blank;
  /** What stood where a token belongs; for messages. */
  readonly found: unknown;
}

export interface ConstructorShape {
  /** The class whose constructor it is: the one asked about, or the parent it is inherited from. */
  readonly declaredBy: object;
  readonly parameters: readonly Parameter[];
  /** The types are not known at all: no decorator, or one and a compiler that left nothing. */
  readonly unreadable?: "undecorated" | "metadata dropped";
}

const PRIMITIVES: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Symbol, Array]);

/** Reads the constructor of `target`. Never throws: what cannot be read is part of the answer. */
export function constructorOf(target: Class): ConstructorShape {
  const declaredBy = declaring(target);
  const types = constructorTypes(declaredBy);
  const named = injectionsOf(declaredBy);
  const length = Math.max(types?.length ?? 0, declaredBy.length, ...[...named.keys()].map((index) => index + 1));
  const all = Array.from({ length }, (_, index) =>
    named.has(index) ? injected(index, named.get(index)) : typed(index, types?.[index]),
  );
  if (types !== undefined || named.size === length) return { declaredBy, parameters: all };
  return { declaredBy, parameters: [], unreadable: isInjectable(declaredBy) ? "metadata dropped" : "undecorated" };
}

/** The nearest class, from `target` upwards, that shows a constructor of its own; `target` when none does. */
function declaring(target: Class): Class {
  let candidate: unknown = target;
  while (isClass(candidate) && !isNative(candidate)) {
    if (showsConstructor(candidate)) return candidate;
    candidate = Object.getPrototypeOf(candidate);
  }
  return target;
}

function showsConstructor(candidate: Class): boolean {
  return candidate.length > 0 || constructorTypes(candidate) !== undefined || injectionsOf(candidate).size > 0;
}

/** `class Failure extends Error {}`: the language's own constructors ask for nothing that could be injected. */
function isNative(candidate: Class): boolean {
  return Function.prototype.toString.call(candidate).endsWith("{ [native code] }");
}

function injected(index: number, token: unknown): Parameter {
  const position = index + 1;
  if (isInjectionToken(token)) return { position, token, found: token };
  return { position, token: undefined, blank: token === undefined ? "undefined" : "not a token", found: token };
}

function typed(index: number, type: unknown): Parameter {
  const position = index + 1;
  const blank = blankOf(type);
  if (blank !== undefined) return { position, token: undefined, blank, found: type };
  // `blankOf` lets only functions through, and a type's run-time function is its class.
  return { position, token: type as Class, found: type };
}

function blankOf(type: unknown): Blank | undefined {
  if (type === undefined) return "undefined";
  if (type === Function) return "type-only";
  if (type === Object) return "interface";
  if (PRIMITIVES.has(type)) return "primitive";
  return isClass(type) || typeof type === "function" ? undefined : "not a token";
}
