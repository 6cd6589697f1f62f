/** The input of `inspect` and its result. */
import type { Diagnostic } from "../errors/diagnostic.js";
import type { Container } from "./container.js";
import type { ModuleEvent } from "./module.js";
import type { Binding } from "./provide.js";
import type { InjectionToken } from "./token.js";
import type { Class } from "../runtime/class.js";

/** A token that the framework itself resolves. */
export interface RequiredToken {
  readonly token: InjectionToken;
  /** The call that needs it, for the message: `.maintenance()`. */
  readonly requiredBy: string;
}

/** Each member is optional. */
export interface InspectionOptions {
  /** For messages: the scope outside all modules. */
  readonly name?: string;
  readonly root?: Class | undefined;
  /** Visible in the whole application. They override every module's binding of the same token, and are always built. */
  readonly bindings?: readonly Binding[];
  /** Test overrides: like `bindings`, but they override these too, and one that is injected nowhere is refused. */
  readonly overrides?: readonly Binding[];
  /** Bindings of the framework: visible everywhere, overridden by every other visible binding, built at their first use. */
  readonly defaults?: readonly Binding[];
  /**
   * Further classes to build inside a module, unless they are provided there. Called once for each module, and once with `undefined` for
   * the application's scope.
   */
  readonly extras?: (module: Class | undefined) => readonly Class[];
  readonly requiredTokens?: readonly RequiredToken[];
  /** Whether the framework finds instances of the class by itself (subsystems). An override of such a class needs no injection. */
  readonly isCollected?: (candidate: Class) => boolean;
}

/** One module for the application's graph; every list in declared order. */
export interface ModuleDescription {
  readonly module: Class;
  readonly name: string;
  readonly imports: readonly Class[];
  readonly exports: readonly InjectionToken[];
  readonly controllers: readonly Class[];
  /** The tokens provided here, each once. */
  readonly providers: readonly InjectionToken[];
  /** Classes, objects and functions as listed. */
  readonly middleware: readonly unknown[];
  /** The events that the module emits. */
  readonly events: readonly ModuleEvent[];
}

export interface InspectionResult {
  /** Empty for a graph without faults. */
  readonly diagnostics: readonly Diagnostic[];
  /** The root first, then depth first along the imports; each module once. */
  readonly modules: readonly ModuleDescription[];
  /**
   * Builds all providers, dependencies first. Each call creates a new container.
   *
   * @throws StartupError with `diagnostics` if there are any; else with the failures of constructors and factories, and with the
   * overrides that were not resolved. The instances built until then are disposed of in the background.
   */
  readonly build: () => Container;
}
