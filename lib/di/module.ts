/**
 * A module: a part of an application with a boundary. Its providers are visible inside it, and where a module that exports them is
 * imported; nowhere else. Importing a module in several places shares its one set of instances.
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
import type { KoaMiddleware, Middleware } from "../http/middleware.js";
import { Annotation, Injectable } from "./injectable.js";
import type { AbstractClass, Class, InjectionToken } from "./token.js";
import type { Binding } from "./provide.js";

/** What `@Module` is given. Every list may be left out. */
export interface ModuleOptions {
  /** Modules whose exports are visible here. Where two export the same token, the last one listed wins. */
  readonly imports?: readonly Class[];
  /** Built inside this module; they answer requests and are not injected anywhere. */
  readonly controllers?: readonly Class[];
  /** A class stands for itself: `SqlLinks` is `provide(SqlLinks).useClass(SqlLinks)`. The last binding of a token wins. */
  readonly providers?: readonly (Class | Binding)[];
  /** Tokens provided here or visible through an import, or an imported module: then everything it exports. */
  readonly exports?: readonly InjectionToken[];
  /** Around every route of the module; classes are built inside it. */
  readonly middleware?: readonly (Class<Middleware> | Middleware | KoaMiddleware)[];
}

/** The same with every list present. */
export type ModuleDefinition = Required<ModuleOptions>;

const definitions = new Annotation<ModuleDefinition>();

/** Declares a module. The class is built once per application and may inject like any other. */
export function Module(options: ModuleOptions = {}): (target: AbstractClass) => void {
  const definition: ModuleDefinition = {
    imports: listOf(options.imports),
    controllers: listOf(options.controllers),
    providers: listOf(options.providers),
    exports: listOf(options.exports),
    middleware: listOf(options.middleware),
  };
  return (target) => {
    Injectable()(target);
    definitions.set(target, definition);
  };
}

/** From JavaScript may come what is no list: its one member then, which `build()` finds where it is none either. */
function listOf<T>(given: readonly T[] = []): readonly T[] {
  return Array.isArray(given) ? given : [given as T];
}

/** What this very class was declared with; `undefined` for anything that is not a module. */
export function moduleOf(target: unknown): ModuleDefinition | undefined {
  return typeof target === "function" ? definitions.of(target) : undefined;
}
