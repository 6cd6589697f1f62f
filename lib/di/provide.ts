/**
 * `provide(Token)` binds a token to a class, a value or a factory: in a module, for the whole application, and in a test. Where one list
 * binds a token twice, the last binding wins. Each binding has one instance for each application.
 *
 * The container disposes of the instances of classes and factories. A value given with `useValue` belongs to the caller.
 *
 * @example
 * provide(LinkStore).useClass(SqlLinks)                         // SqlLinks must be a LinkStore, or it does not compile
 * provide(Greeting).useValue("hello")
 * provide(Pool).useFactory((resolve) => new Pool(resolve(AppConfig).url))
 * provide(LinkReader).useFactory((resolve) => resolve(LinkStore)) // a second name for the same instance
 */
import { markKind } from "../errors/copy-mark.js";
import type { InjectionToken } from "./token.js";
import { isClass, type Class } from "../runtime/class.js";

/**
 * Resolves a token with the visibility of a constructor parameter in the same module. A factory may store it and call it later, until the
 * container is disposed of.
 *
 * @throws ResolutionError when the token is missing, invisible or part of a cycle.
 */
export type Resolve = <T>(token: InjectionToken<T>) => T;

/** The source of an instance. */
export type Source<T = unknown> =
  | { readonly kind: "class"; readonly implementation: Class<T> }
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "factory"; readonly factory: (resolve: Resolve) => T };

/** A token and the source of its instance; created by `provide`. */
export class Binding<T = unknown> {
  static {
    markKind(this.prototype, "binding");
  }

  constructor(
    readonly token: InjectionToken<T>,
    readonly source: Source<T>,
  ) {}
}

/** The three ways to bind a token of type T. */
export class Provision<T> {
  constructor(private readonly token: InjectionToken<T>) {}

  /** The container builds the class once and injects its dependencies. */
  useClass(implementation: Class<T>): Binding<T> {
    return new Binding(this.token, { kind: "class", implementation });
  }

  /** The value itself; `null` and `undefined` are allowed. The container never disposes of it. */
  useValue(value: T): Binding<T> {
    return new Binding(this.token, { kind: "value", value });
  }

  /** Called once, when the application is built. It must not return a promise: asynchronous work belongs in `Subsystem.start`. */
  useFactory(factory: (resolve: Resolve) => T): Binding<T> {
    return new Binding(this.token, { kind: "factory", factory });
  }
}

/** Starts a binding. The compiler checks the class, value or factory against the type of the token. */
export function provide<T>(token: InjectionToken<T>): Provision<T> {
  return new Provision(token);
}

/** The binding that an entry of a list of providers stands for: a class is short for a binding of the class to itself. @internal */
export function toBinding(entry: Class | Binding): Binding {
  return isClass(entry) ? new Binding(entry, { kind: "class", implementation: entry }) : entry;
}
