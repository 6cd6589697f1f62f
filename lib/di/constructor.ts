/**
 * What a class asks for when it is built: one entry per constructor parameter, each with the token to inject or with the reason why its
 * type names none. A class without a constructor of its own asks for what its parent asks for.
 */
import { isClass, type Class, isInjectionToken, type InjectionToken, nameOf } from "./token.js";
import { injectionsOf, isInjectable, constructorTypes } from "./injectable.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import type { Provider } from "./provider.js";

/** Why a parameter's type is no token. */
export type NoTokenReason = "type-only" | "interface" | "undefined" | "primitive" | "not a token";

export interface ConstructorParameter {
  /** Counted from 1. */
  readonly position: number;
  readonly token: InjectionToken | undefined;
  /** Set where `token` is not. */
  readonly reason?: NoTokenReason;
  /** What stood where a token belongs; for messages. */
  readonly found: unknown;
}

export interface ConstructorShape {
  /** The class whose constructor it is: the one asked about, or the parent it is inherited from. */
  readonly declaredBy: object;
  readonly parameters: readonly ConstructorParameter[];
  /** The types are not known at all: no decorator, or one and a compiler that left nothing. */
  readonly unreadableBecause?: "undecorated" | "metadata dropped";
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
  return {
    declaredBy,
    parameters: [],
    unreadableBecause: isInjectable(declaredBy) ? "metadata dropped" : "undecorated",
  };
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

function injected(index: number, token: unknown): ConstructorParameter {
  const position = index + 1;
  if (isInjectionToken(token)) return { position, token, found: token };
  return { position, token: undefined, reason: token === undefined ? "undefined" : "not a token", found: token };
}

function typed(index: number, type: unknown): ConstructorParameter {
  const position = index + 1;
  const reason = blankOf(type);
  if (reason !== undefined) return { position, token: undefined, reason, found: type };
  // `blankOf` lets only functions through, and a type's run-time function is its class.
  return { position, token: type as Class, found: type };
}

function blankOf(type: unknown): NoTokenReason | undefined {
  if (type === undefined) return "undefined";
  if (type === Function) return "type-only";
  if (type === Object) return "interface";
  if (PRIMITIVES.has(type)) return "primitive";
  return isClass(type) || typeof type === "function" ? undefined : "not a token";
}

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

/** The faults of constructor parameters, in words: types that name nothing at run time, and types that are not known at all. */
export function unreadableConstructor(slot: Provider, target: object, shape: ConstructorShape): Diagnostic {
  const place = `constructor of ${nameOf(target)}, in ${slot.scope.name}`;
  const inherited = shape.declaredBy !== target;
  const name = nameOf(shape.declaredBy);
  const where = inherited ? `${place} (inherited from ${name})` : place;
  return shape.unreadableBecause === "undecorated"
    ? {
        code: "E_INJECTABLE_MISSING",
        what: `${name} takes constructor parameters and carries no decorator, so their types are not known`,
        where,
        fix: `decorate ${name} with @Injectable()${inherited ? `, or give ${nameOf(target)} a constructor of its own` : ""}`,
      }
    : {
        code: "E_METADATA_DROPPED",
        what: `${name} is decorated, and still the types of its constructor parameters are not known: the tool that compiled it drops decorator metadata`,
        where,
        fix: 'compile with tsc and "emitDecoratorMetadata": true (esbuild, tsx and vitest drop it), or put @Inject on every parameter',
      };
}

const TEXTS: Readonly<Record<NoTokenReason, { readonly code: string; readonly what: string; readonly fix: string }>> = {
  "type-only": {
    code: "E_TYPE_ERASED",
    what: "its type is Function at run time: a class imported with `import type`, or a function type",
    fix: "import the class, not its type; for a function use @Inject(token<…>(…))",
  },
  interface: {
    code: "E_TYPE_ERASED",
    what: "its type is Object at run time: an interface, a union, unknown, or a class that was not loaded yet",
    fix: "import the class, not its type: inject an abstract class instead of an interface, or use @Inject(token<…>(…))",
  },
  undefined: {
    code: "E_TYPE_UNDEFINED",
    what: "its type is undefined at run time: the class is used before it is defined (the files import each other, or it stands further down)",
    fix: "define the class first, or take one of the two file imports away",
  },
  primitive: {
    code: "E_TYPE_PRIMITIVE",
    what: "its type says nothing about which value is meant",
    fix: "use @Inject(token<…>(…)), or inject a class that carries the value",
  },
  "not a token": {
    code: "E_TOKEN_INVALID",
    what: "what stands there is neither a class nor a token",
    fix: "inject a class or what token<…>(…) returns",
  },
};

/** A parameter whose type names nothing that could be injected. */
export function parameterWithoutToken(
  slot: Provider,
  target: object,
  shape: ConstructorShape,
  parameter: ConstructorParameter,
): Diagnostic {
  const { code, what, fix } = TEXTS[parameter.reason ?? "not a token"];
  const found = parameter.reason === "undefined" ? "" : ` (${nameOf(parameter.found)})`;
  return {
    code,
    what: `${nameOf(target)} cannot be given parameter ${parameter.position}${found}: ${what}`,
    where: parameterPlace(slot, target, shape, parameter),
    fix,
  };
}

/** `LinksController, constructor parameter 1 (store), in ShopModule`. */
export function parameterPlace(
  slot: Provider,
  target: object,
  { declaredBy }: ConstructorShape,
  { position }: ConstructorParameter,
): string {
  const name = parameterNames(declaredBy)[position - 1];
  const inherited = declaredBy === target ? "" : ` of ${nameOf(declaredBy)}`;
  return `${nameOf(target)}, constructor parameter ${position}${name === undefined ? "" : ` (${name})`}${inherited}, in ${slot.scope.name}`;
}
