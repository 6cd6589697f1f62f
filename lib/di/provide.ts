/**
 * Binds a token to what stands behind it. The same word provides in a module, for the whole application and in a test; where one list
 * binds a token twice, the last binding wins. Each binding makes one instance per application.
 *
 * Values are the caller's: what is given with `useValue` is never disposed of by the container; what a class or a factory makes is.
 *
 * @example
 * provide(LinkStore).useClass(SqlLinks)                         // SqlLinks must be a LinkStore, or it does not compile
 * provide(Greeting).useValue("hello")
 * provide(Pool).useFactory((resolve) => new Pool(resolve(AppConfig).url))
 * provide(LinkReader).useFactory((resolve) => resolve(LinkStore)) // a second name for the same instance
 */
import type { Class, InjectionToken } from "./token.js";

/**
 * Looks up a token where the binding stands, with the same visibility as a constructor parameter. It may be kept and asked later, until
 * the container is disposed of.
 *
 * @throws ResolutionError when the token is missing, invisible or part of a cycle.
 */
export type Resolve = <T>(token: InjectionToken<T>) => T;

/** Where an instance comes from. */
export type Source<T = unknown> =
  | { readonly kind: "class"; readonly implementation: Class<T> }
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "factory"; readonly factory: (resolve: Resolve) => T };

/** A token and what stands behind it; made by `provide`. */
export class Binding<T = unknown> {
  constructor(
    readonly token: InjectionToken<T>,
    readonly source: Source<T>,
  ) {}
}

/** The three ways to bind a token of type T. */
export class Provision<T> {
  constructor(private readonly token: InjectionToken<T>) {}

  /** Built by the container, once, with its own dependencies injected. */
  useClass(implementation: Class<T>): Binding<T> {
    return new Binding(this.token, { kind: "class", implementation });
  }

  /** This very value; `null` and `undefined` are values like any other. Not disposed of. */
  useValue(value: T): Binding<T> {
    return new Binding(this.token, { kind: "value", value });
  }

  /** Called once, when the application is built. It must not return a promise: what has to be waited for belongs in `Subsystem.start`. */
  useFactory(factory: (resolve: Resolve) => T): Binding<T> {
    return new Binding(this.token, { kind: "factory", factory });
  }
}

/** Begins a binding; the rest of the sentence is checked against the token's type. */
export function provide<T>(token: InjectionToken<T>): Provision<T> {
  return new Provision(token);
}
