/**
 * The tokens of injection: a class, abstract or not, or a `token` for a type without a class at run time (an interface, a string, a
 * function). Prefer an abstract class: it needs no `@Inject`.
 *
 * @example
 * const Greeting = token<string>("greeting");
 * provide(Greeting).useValue("hello");
 * constructor(@Inject(Greeting) private readonly greeting: string) {}
 */
import { markKind } from "../errors/copy-mark.js";
import { type AbstractClass, isClass } from "../runtime/class.js";
import { valueText } from "../errors/value-text.js";

/** A name for a value of type T. Two tokens of the same name are still two tokens. */
export class Token<T> {
  /** Only for the compiler: the property does not exist at run time. */
  declare protected readonly type: T;

  static {
    markKind(this.prototype, "token");
  }

  constructor(readonly name: string) {}

  toString(): string {
    return `token "${this.name}"`;
  }
}

/** The key of a binding. */
export type InjectionToken<T = unknown> = Token<T> | AbstractClass<T>;

/** Creates a token. `name` is for messages only and need not be unique. */
export function token<T>(name: string): Token<T> {
  return new Token<T>(name);
}

export function isInjectionToken(value: unknown): value is InjectionToken {
  return value instanceof Token || isClass(value);
}

/** The name of a token in messages and graphs. Takes any value, because a message may name a value that is no token. */
export function describeToken(value: unknown): string {
  if (value instanceof Token) return value.name;
  return valueText(value);
}
