/**
 * Reads the constructor of a class: one entry for each parameter, with the token to inject, or with the reason why the type of the
 * parameter is not a token. A class that declares no constructor has the parameters of its parent. A class with an empty constructor has
 * none.
 */
import { enterContext } from "./construction/inject.js";
import { getConstructorTypes, findDecoratorKind, getInjections } from "./injectable.js";
import { isInjectionToken, type InjectionToken } from "./token.js";
import { isClass, type Class } from "../runtime/class.js";

/** Why a parameter has no token. */
export type NoTokenReason = "type-only" | "interface" | "undefined" | "primitive" | "not a token" | "standard";

export interface ConstructorParameter {
  /** Counted from 1. */
  readonly position: number;
  readonly token: InjectionToken | undefined;
  /** Set where the parameter has neither a token nor a default. */
  readonly reason?: NoTokenReason;
  /** The type at run time, or the value under `@Inject`; for messages. */
  readonly found: unknown;
}

export interface ConstructorShape {
  /** The given class, or the parent that declares its constructor. */
  readonly declaredBy: object;
  readonly parameters: readonly ConstructorParameter[];
  /** Set where no type is known: the class has no decorator, or the compiler left no metadata. */
  readonly unreadableBecause?: "undecorated" | "metadata dropped";
}

const PRIMITIVES: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Symbol, Array]);

/** Never throws: for a constructor that cannot be read, the result has the reason. */
export function readConstructor(target: Class): ConstructorShape {
  const declaredBy = findDeclaringClass(target);
  const types = getConstructorTypes(declaredBy);
  const injections = getInjections(declaredBy);
  const length = Math.max(declaredBy.length, ...[...injections.keys()].map((index) => index + 1));
  const parameters = Array.from({ length }, (_, index) => {
    if (injections.has(index)) return toInjectedParameter(index, injections.get(index));
    return index < declaredBy.length ? toTypedParameter(index, types?.[index]) : toDefaultedParameter(index);
  });
  const isReadable = parameters.every(({ position }) => position > declaredBy.length || injections.has(position - 1));
  if (types !== undefined || isReadable) return { declaredBy, parameters };
  if (findDecoratorKind(declaredBy) === "standard")
    return { declaredBy, parameters: parameters.map(toUntypedParameter) };
  const unreadableBecause = findDecoratorKind(declaredBy) === "legacy" ? "metadata dropped" : "undecorated";
  return { declaredBy, parameters: [], unreadableBecause };
}

/**
 * The nearest class, from `target` upwards, that declares a constructor; `target` where none has parameters: what is not there cannot be
 * forwarded, so it does not matter which of them declares one.
 */
function findDeclaringClass(target: Class): Class {
  const line = listLine(target);
  const end = line.findIndex((each) => hasParameters(each) || getConstructorTypes(each) !== undefined);
  const declaring = line[end];
  if (declaring === undefined || !hasParameters(declaring)) return declaring ?? target;
  return line.slice(0, end).find((each) => !forwardsArguments(each)) ?? declaring;
}

/** The class and its parents, without those of the language. */
function listLine(target: Class): readonly Class[] {
  const line: Class[] = [];
  let candidate: unknown = target;
  while (isClass(candidate) && !isNative(candidate)) {
    line.push(candidate);
    candidate = Object.getPrototypeOf(candidate);
  }
  return line;
}

function hasParameters(candidate: Class): boolean {
  return candidate.length > 0 || getInjections(candidate).size > 0;
}

/** For `class Failure extends Error {}`: the parameters of built-in constructors cannot be injected. */
function isNative(candidate: Class): boolean {
  return Function.prototype.toString.call(candidate).endsWith("{ [native code] }");
}

function toInjectedParameter(index: number, token: unknown): ConstructorParameter {
  const position = index + 1;
  if (isInjectionToken(token)) return { position, token, found: token };
  return { position, token: undefined, reason: token === undefined ? "undefined" : "not a token", found: token };
}

/** Standard decorators know no types, so only a default can say what to inject. */
function toUntypedParameter(parameter: ConstructorParameter): ConstructorParameter {
  return parameter.reason === undefined ? parameter : { ...parameter, reason: "standard" };
}

/**
 * From the first parameter with a default on, no type is used, also where the compiler emitted one: it cannot be seen which of these
 * parameters have a default, and the same source must not get other instances from a compiler that emits no types.
 */
function toDefaultedParameter(index: number): ConstructorParameter {
  return { position: index + 1, token: undefined, found: undefined };
}

function toTypedParameter(index: number, type: unknown): ConstructorParameter {
  const position = index + 1;
  const reason = findNoTokenReason(type);
  if (reason !== undefined) return { position, token: undefined, found: type, reason };
  // Without a reason the type is a function, and the function that stands for a type at run time is its class.
  return { position, token: type as Class, found: type };
}

function findNoTokenReason(type: unknown): NoTokenReason | undefined {
  if (type === undefined) return "undefined";
  if (type === Function) return "type-only";
  if (type === Object) return "interface";
  if (PRIMITIVES.has(type)) return "primitive";
  return typeof type === "function" ? undefined : "not a token";
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/**
 * The parameter names of a constructor, read from its source. For messages only: a minifier changes them. The list ends at the first
 * parameter with a default value or a pattern.
 */
export function readParameterNames(target: object): readonly string[] {
  const [, list = ""] = Function.prototype.toString.call(target).split("constructor(", 2);
  const parts = (list.split(")", 1)[0] ?? "").split(",").map((part) => part.trim());
  const end = parts.findIndex((part) => !IDENTIFIER.test(part));
  return end === -1 ? parts : parts.slice(0, end);
}

/** The arguments of a constructor that is called to be observed: more than a constructor declares, and no default applies. */
const PROBES = Array.from({ length: 20 }, () => Symbol("probe"));

const forwarding = new WeakMap<Class, boolean>();

/**
 * Whether a class forwards its arguments to its parent, as the language does for a class that declares no constructor. A class that
 * declares a constructor without parameters calls its parent with other arguments, or not at all, and has no other difference.
 *
 * Called only for a class without decorator metadata whose parent takes parameters, and finds out once for each class.
 */
function forwardsArguments(candidate: Class): boolean {
  const known = forwarding.get(candidate);
  if (known !== undefined) return known;
  // The parent of a sealed class cannot be replaced, so here the source text decides. A nested class with a constructor misleads it.
  const isForwarding = Object.isExtensible(candidate)
    ? probeForwarding(candidate)
    : !/\bconstructor\s*\(/.test(Function.prototype.toString.call(candidate));
  forwarding.set(candidate, isForwarding);
  return isForwarding;
}

/**
 * For one construction the parent is a function that records its arguments and throws, so no field is set and no code of the parent runs.
 * The code of a declared constructor before `super()` runs, without its defaults, and `inject` throws in it.
 */
function probeForwarding(candidate: Class): boolean {
  const parent = Reflect.getPrototypeOf(candidate);
  let passed: readonly unknown[] = [];
  const observer = function (...given: readonly unknown[]): never {
    passed = given;
    throw PROBES[0];
  };
  const outer = enterContext(throwProbe);
  try {
    Reflect.setPrototypeOf(candidate, observer);
    Reflect.construct(candidate, PROBES);
  } catch {
    // The observer throws; so may the constructor, before it calls its parent.
  } finally {
    enterContext(outer);
    Reflect.setPrototypeOf(candidate, parent);
  }
  return PROBES.every((probe, at) => passed[at] === probe);
}

function throwProbe(): never {
  throw PROBES[0];
}
