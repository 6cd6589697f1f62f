/**
 * The visibility of providers. A module sees the bindings of the application, the providers of the module, the exports of its imports, and
 * the defaults of the framework, in this order, and no other provider. The application itself sees more: see `ApplicationScope`.
 */
import type { ModuleDefinition } from "./module.js";
import type { Binding } from "./provide.js";
import { Provider, type VisibleProviders } from "./provider.js";
import { describeToken, type InjectionToken } from "./token.js";
import type { Class } from "../runtime/class.js";

export abstract class Scope implements VisibleProviders {
  /** For messages. */
  abstract readonly name: string;
  /** Built in this scope, but never injected: controllers, middleware, the module class. */
  readonly notInjected = new Map<InjectionToken, Provider>();

  /** The provider that a constructor parameter or a factory of this scope gets for the token. */
  abstract find(token: InjectionToken): Provider | undefined;

  /** As `find`, and also a provider that is not injected. */
  findAny(token: InjectionToken): Provider | undefined {
    return this.find(token) ?? this.notInjected.get(token);
  }

  /** The provider of a class that this scope builds: the visible one, else a new one that is not injected. */
  ensureProvider(target: Class): Provider {
    const known = this.find(target) ?? this.notInjected.get(target);
    if (known !== undefined) return known;
    const provider = new Provider(target, { kind: "class", implementation: target }, this);
    this.notInjected.set(target, provider);
    return provider;
  }
}

/** The scope of one module. */
export class ModuleScope extends Scope {
  readonly name: string;
  /** The providers of this module by token. */
  readonly providers = new Map<InjectionToken, Provider>();
  readonly exports: ReadonlySet<unknown>;
  /** In declared order; filled by `collectModules`. */
  readonly imports: ModuleScope[] = [];

  constructor(
    readonly module: Class,
    readonly definition: ModuleDefinition,
    private readonly application: ApplicationScope,
  ) {
    super();
    this.name = describeToken(module);
    this.exports = new Set(definition.exports);
  }

  /** Provides the token here; the last call wins. */
  provide({ token, source }: Binding): void {
    this.providers.set(token, new Provider(token, source, this));
  }

  override find(token: InjectionToken): Provider | undefined {
    const { bindings, defaults } = this.application;
    return bindings.get(token) ?? this.findLocal(token) ?? defaults.get(token);
  }

  /** Provided here or exported by an import. */
  findLocal(token: InjectionToken): Provider | undefined {
    return this.providers.get(token) ?? this.findImported(token, new Set([this]));
  }

  /** The last import that exports the token wins. `visited` ends the search where modules import each other. */
  private findImported(token: InjectionToken, visited: Set<ModuleScope>): Provider | undefined {
    for (const scope of this.imports.toReversed()) {
      const provider = scope.findExported(token, visited);
      if (provider !== undefined) return provider;
    }
    return undefined;
  }

  private findExported(token: InjectionToken, visited: Set<ModuleScope>): Provider | undefined {
    if (visited.has(this)) return undefined;
    visited.add(this);
    if (this.exports.has(token)) return this.providers.get(token) ?? this.findImported(token, visited);
    for (const scope of this.imports.toReversed()) {
      const provider = this.exports.has(scope.module) ? scope.findExported(token, visited) : undefined;
      if (provider !== undefined) return provider;
    }
    return undefined;
  }
}

/**
 * The scope outside all modules: for the framework, for `Application.resolve` and for the bindings of the application. It sees these
 * bindings first, then the providers that the root module sees, then a token for which all modules have the same provider (exported or
 * not), then the defaults.
 */
export class ApplicationScope extends Scope {
  /** Visible everywhere; they override every module's binding of the same token. */
  readonly bindings = new Map<InjectionToken, Provider>();
  /** Visible everywhere; every other visible binding overrides them. */
  readonly defaults = new Map<InjectionToken, Provider>();
  /** The root first, each module once; filled by `collectModules`. */
  modules: readonly ModuleScope[] = [];
  root: ModuleScope | undefined;

  constructor(readonly name = "the application") {
    super();
  }

  override find(token: InjectionToken): Provider | undefined {
    const { bindings, defaults, root } = this;
    return (
      bindings.get(token) ??
      root?.findLocal(token) ??
      this.findOnly(({ providers }) => providers.get(token)) ??
      defaults.get(token)
    );
  }

  override findAny(token: InjectionToken): Provider | undefined {
    return super.findAny(token) ?? this.findOnly(({ notInjected }) => notInjected.get(token));
  }

  /** The modules that provide the token. */
  findHolders(token: InjectionToken): readonly ModuleScope[] {
    return this.modules.filter(({ providers }) => providers.has(token));
  }

  /** The provider, if all modules that have one share its instance. */
  private findOnly(pick: (scope: ModuleScope) => Provider | undefined): Provider | undefined {
    const [first, ...others] = this.modules.map(pick).filter((provider) => provider !== undefined);
    const isShared = others.every(({ group }) => group === first?.group && !group.isSplit);
    return isShared ? first : undefined;
  }
}
