/**
 * Who sees what. A module sees the application's bindings, its own providers, what its imports export, and the framework's defaults, in
 * this order; a provider that is none of these does not exist for it. The application's own view is wider: see `ApplicationScope`.
 */
import { type Class, nameOf, type InjectionToken, isClass, isInjectionToken } from "./token.js";
import { type ModuleDefinition, moduleOf } from "./module.js";
import { Binding } from "./provide.js";
import { Provider, type VisibleProviders } from "./provider.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { depthFirst } from "./depth-first.js";
import { moduleCycle, notAModule, notAProvider, unknownExport } from "./diagnostics.js";

export abstract class Scope implements VisibleProviders {
  /** For messages. */
  abstract readonly name: string;
  /** Built here and not injected: controllers, middleware, the module itself. */
  readonly notInjected = new Map<InjectionToken, Provider>();

  /** What a constructor parameter or a factory of this scope is given for the token. */
  abstract find(token: InjectionToken): Provider | undefined;

  /** What `find` gives, or a member. */
  reach(token: InjectionToken): Provider | undefined {
    return this.find(token) ?? this.notInjected.get(token);
  }

  /** Puts other slots in the place of some. */
  replace(substitutes: ReadonlyMap<Provider, Provider>): void {
    replaceIn(this.notInjected, substitutes);
  }

  /** A slot of `target` in this scope: the one its token stands for already, else a new member. */
  providerOf(target: Class): Provider {
    const known = this.find(target) ?? this.notInjected.get(target);
    if (known !== undefined) return known;
    const slot = new Provider(target, { kind: "class", implementation: target }, this);
    this.notInjected.set(target, slot);
    return slot;
  }
}

/** The view from inside one module. */
export class ModuleScope extends Scope {
  readonly name: string;
  readonly own = new Map<InjectionToken, Provider>();
  readonly exports: ReadonlySet<unknown>;
  /** Filled by the walk, in the order of `imports`. */
  readonly imports: ModuleScope[] = [];

  constructor(
    readonly module: Class,
    readonly definition: ModuleDefinition,
    private readonly application: ApplicationScope,
  ) {
    super();
    this.name = nameOf(module);
    this.exports = new Set(definition.exports);
  }

  /** Provides the token here; the last call wins. */
  provide({ token, source }: Binding): void {
    this.own.set(token, new Provider(token, source, this));
  }

  override replace(substitutes: ReadonlyMap<Provider, Provider>): void {
    super.replace(substitutes);
    replaceIn(this.own, substitutes);
  }

  override find(token: InjectionToken): Provider | undefined {
    const { bindings, defaults } = this.application;
    return bindings.get(token) ?? this.local(token) ?? defaults.get(token);
  }

  /** Provided here or by an import. */
  local(token: InjectionToken): Provider | undefined {
    return this.own.get(token) ?? this.imported(token, new Set([this]));
  }

  /** The last import that exports the token wins. `asked` ends the search where modules import each other. */
  private imported(token: InjectionToken, asked: Set<ModuleScope>): Provider | undefined {
    for (const scope of this.imports.toReversed()) {
      const slot = scope.exported(token, asked);
      if (slot !== undefined) return slot;
    }
    return undefined;
  }

  private exported(token: InjectionToken, asked: Set<ModuleScope>): Provider | undefined {
    if (asked.has(this)) return undefined;
    asked.add(this);
    if (this.exports.has(token)) return this.own.get(token) ?? this.imported(token, asked);
    for (const scope of this.imports.toReversed()) {
      const slot = this.exports.has(scope.module) ? scope.exported(token, asked) : undefined;
      if (slot !== undefined) return slot;
    }
    return undefined;
  }
}

/**
 * The view from outside all modules, for the framework itself, for `Application.resolve` and for application-wide bindings: those
 * bindings first, then what the root module sees, then a token that modules provide as one slot (exported or not), then the defaults.
 */
export class ApplicationScope extends Scope {
  readonly name = "the application";
  /** Override every module's binding of the same token and are visible everywhere. */
  readonly bindings = new Map<InjectionToken, Provider>();
  /** Visible everywhere, and overridden by every other binding that is. */
  readonly defaults = new Map<InjectionToken, Provider>();
  /** Filled by the walk: the root first, each module once. */
  modules: readonly ModuleScope[] = [];
  root: ModuleScope | undefined;

  override find(token: InjectionToken): Provider | undefined {
    const { bindings, defaults, root } = this;
    return bindings.get(token) ?? root?.local(token) ?? this.only(({ own }) => own.get(token)) ?? defaults.get(token);
  }

  override reach(token: InjectionToken): Provider | undefined {
    return super.reach(token) ?? this.only(({ notInjected }) => notInjected.get(token));
  }

  /** The modules that provide the token. */
  holders(token: InjectionToken): readonly ModuleScope[] {
    return this.modules.filter(({ own }) => own.has(token));
  }

  private only(pick: (scope: ModuleScope) => Provider | undefined): Provider | undefined {
    const slots = new Set(this.modules.map(pick).filter((slot) => slot !== undefined));
    return slots.size === 1 ? [...slots][0] : undefined;
  }
}

function replaceIn(slots: Map<InjectionToken, Provider>, substitutes: ReadonlyMap<Provider, Provider>): void {
  for (const [token, slot] of slots) slots.set(token, substitutes.get(slot) ?? slot);
}

// From the root module to every module that is reached from it, each once; checks what the modules list, and fills the scopes.

/** The modules in the order in which their providers are built: what is imported comes first. Puts the scopes into `application`. */
export function walkModules(
  root: Class,
  application: ApplicationScope,
  findings: Diagnostic[],
): readonly ModuleScope[] {
  const scopes = new Map<unknown, ModuleScope>();
  const enter = (value: unknown, where: string): ModuleScope | undefined => {
    const scope = scopes.get(value) ?? open(value, application);
    if (scope === undefined) findings.push(notAModule(value, where));
    else scopes.set(value, scope);
    return scope;
  };
  const top = enter(root, "the root of the application");
  if (top === undefined) return [];
  const walk = depthFirst([top], (scope) => importsOf(scope, enter));
  for (const path of walk.cycles) findings.push(moduleCycle(path));
  application.root = top;
  application.modules = walk.preorder;
  for (const scope of walk.preorder) fill(scope, findings);
  for (const scope of walk.preorder) checkExports(scope, findings);
  return walk.postorder;
}

function open(value: unknown, application: ApplicationScope): ModuleScope | undefined {
  const definition = moduleOf(value);
  return definition === undefined || !isClass(value) ? undefined : new ModuleScope(value, definition, application);
}

function importsOf(
  scope: ModuleScope,
  enter: (value: unknown, where: string) => ModuleScope | undefined,
): readonly ModuleScope[] {
  for (const [index, value] of scope.definition.imports.entries()) {
    const imported = enter(value, `import ${index + 1} of ${scope.name}`);
    if (imported !== undefined) scope.imports.push(imported);
  }
  return scope.imports;
}

function fill(scope: ModuleScope, findings: Diagnostic[]): void {
  for (const [index, entry] of scope.definition.providers.entries()) {
    const binding = isClass(entry) ? new Binding(entry, { kind: "class", implementation: entry }) : entry;
    const fault = checkBinding(binding, `provider ${index + 1} of ${scope.name}`);
    if (fault === undefined) scope.provide(binding);
    else findings.push(fault);
  }
  for (const [index, entry] of scope.definition.controllers.entries()) {
    if (!isClass(entry)) findings.push(notAProvider(entry, `controller ${index + 1} of ${scope.name}`));
  }
}

/** What is wrong with a binding as it came from JavaScript, where types do not hold. */
export function checkBinding(binding: unknown, where: string): Diagnostic | undefined {
  if (!(binding instanceof Binding)) return notAProvider(binding, where);
  const { token, source } = binding;
  if (!isInjectionToken(token)) return notAProvider(token, where);
  if (moduleOf(token) !== undefined)
    return notAProvider(token, where, `${nameOf(token)} is a module: it belongs under imports`);
  if (source.kind === "class" && !isClass(source.implementation)) return notAProvider(source.implementation, where);
  if (source.kind === "factory" && typeof source.factory !== "function") return notAProvider(source.factory, where);
  return undefined;
}

function checkExports(scope: ModuleScope, findings: Diagnostic[]): void {
  for (const entry of scope.definition.exports) {
    const known = isInjectionToken(entry) && (isImported(scope, entry) || scope.local(entry) !== undefined);
    if (!known) findings.push(unknownExport(entry, scope.name, moduleOf(entry) !== undefined));
  }
}

function isImported({ imports }: ModuleScope, entry: unknown): boolean {
  return imports.some(({ module }) => module === entry);
}
