/**
 * A module: a part of an application that hides its providers. They are visible inside the module, and in modules that import a module
 * that exports them. A module that is imported in several places still has one set of instances.
 *
 * @example
 * ```ts
 * @Module({
 *   imports: [AccountsModule],
 *   controllers: [LinksController],
 *   providers: [provide(LinkStore).useClass(SqlLinks)],
 *   exports: [LinkStore],
 * })
 * class ShopModule {}
 * ```
 */
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import type { KoaMiddleware, Middleware } from "../http/middleware.js";
import { requireClassOnce, requireParentheses } from "../errors/bare-decorator.js";
import { Annotation, markInjectable } from "./injectable.js";
import { describeToken, type InjectionToken } from "./token.js";
import type { AbstractClass, Class } from "../runtime/class.js";
import type { Binding } from "./provide.js";

/** The part of a value of `event()` that a module uses. */
export interface ModuleEvent {
  readonly name: string;
  readonly schema: unknown;
}

/** Each list is optional. */
export interface ModuleOptions {
  /** Modules whose exports are visible here. Where two of them export the same token, the last one listed wins. */
  readonly imports?: readonly Class[];
  /** Built inside this module. They handle requests and are never injected. */
  readonly controllers?: readonly Class[];
  /** A class is short for a binding: `SqlLinks` is `provide(SqlLinks).useClass(SqlLinks)`. The last binding of a token wins. */
  readonly providers?: readonly (Class | Binding)[];
  /** Tokens provided here or visible through an import. An imported module stands for all its exports. */
  readonly exports?: readonly InjectionToken[];
  /** Runs around every route of the module. Classes are built inside the module. */
  readonly middleware?: readonly (Class<Middleware> | Middleware | KoaMiddleware)[];
  /** The events that the module emits, for `application.graph()`: it cannot see an event that has no listener. */
  readonly events?: readonly ModuleEvent[];
}

const NAMES: OptionNames<ModuleOptions> = {
  imports: true,
  controllers: true,
  providers: true,
  exports: true,
  middleware: true,
  events: true,
};

/** The options with every list present. */
export type ModuleDefinition = Required<ModuleOptions>;

const definitions = new Annotation<ModuleDefinition>();

/** Declares a module. Its class is built once for each application, and its constructor is injected like any other. */
export function Module(
  options: ModuleOptions = {},
  ...none: readonly never[]
): (target: AbstractClass, context?: ClassDecoratorContext) => void {
  requireParentheses("Module({ … })", ["class"], options, none);
  const definition: ModuleDefinition = {
    imports: toList(options.imports),
    controllers: toList(options.controllers),
    providers: toList(options.providers),
    exports: toList(options.exports),
    middleware: toList(options.middleware),
    events: toList(options.events),
  };
  return (target, ...rest: readonly unknown[]) => {
    requireClassOnce("Module({ … })", target, rest);
    checkOptionNames(options, NAMES, `@Module of ${describeToken(target)}`);
    markInjectable(target, rest);
    definitions.set(target, definition);
  };
}

/** Untyped code may pass a single entry instead of a list. `build()` reports it if it is not a valid entry. */
function toList<T>(given: readonly T[] = []): readonly T[] {
  return Array.isArray(given) ? given : [given as T];
}

/** The options of this class, not of its parents; `undefined` for a value that is not a module. */
export function findModuleDefinition(target: unknown): ModuleDefinition | undefined {
  return typeof target === "function" ? definitions.get(target) : undefined;
}
