/** What the application room hands to `inspect`, and what it gets back. */
import type { Diagnostic } from "../errors/diagnostic.js";
import type { Class, InjectionToken } from "./token.js";
import type { Container } from "./container.js";
import type { Binding } from "./provide.js";

/** A token the framework itself will ask the container for. */
export interface RequiredToken {
  readonly token: InjectionToken;
  /** Who asks, for the message: `.maintenance()`. */
  readonly requiredBy: string;
  /** Asked for only if it is there: nothing is reported when it is not. */
  readonly optional?: boolean;
}

/** What is to be checked. Everything may be left out. */
export interface InspectionOptions {
  readonly root?: Class | undefined;
  /** Application-wide: they override every module's binding of the same token, and are visible everywhere. Built with the rest. */
  readonly bindings?: readonly Binding[];
  /** Test doubles: as `bindings`, override them too, and are refused where nothing injects the token. */
  readonly overrides?: readonly Binding[];
  /** The framework's own: visible everywhere, overridden by any other visible binding, built when first needed. */
  readonly defaults?: readonly Binding[];
  /** Further classes to build inside a module (`undefined`: in the application's scope), unless provided there. Asked once for each. */
  readonly extras?: (module: Class | undefined) => readonly Class[];
  readonly requiredTokens?: readonly RequiredToken[];
  /** Classes the framework looks for among the instances (subsystems): a double of one of these is used even if nothing injects it. */
  readonly isCollected?: (candidate: Class) => boolean;
}

/** One module as the application's graph shows it; everything in declared order. */
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
}

export interface InspectionResult {
  readonly diagnostics: readonly Diagnostic[];
  /** The root first, then depth first along the imports; each module once. */
  readonly modules: readonly ModuleDescription[];
  /**
   * Builds everything provided, dependencies first. Each call makes a container of its own.
   *
   * @throws StartupError with the findings, if there are any; else with what constructors and factories threw, and with doubles that
   * nothing asked for. What was built until then is disposed of in the background.
   */
  readonly build: () => Container;
}
