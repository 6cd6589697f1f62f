/**
 * Who sees what. A module sees the application's bindings, its own providers, what its imports export, and the framework's defaults, in
 * this order; a provider that is none of these does not exist for it. The application's own view is wider: see `ApplicationScope`.
 */
import type { Class } from "./class.js";
import type { ModuleDefinition } from "./module.js";
import type { Binding } from "./provide.js";
import { Slot, type Viewpoint } from "./slot.js";
import { nameOf, type InjectionToken } from "./token.js";

export abstract class Scope implements Viewpoint {
  /** For messages. */
  abstract readonly name: string;
  /** Built here and not injected: controllers, middleware, the module itself. */
  readonly members = new Map<InjectionToken, Slot>();

  /** What a constructor parameter or a factory of this scope is given for the token. */
  abstract find(token: InjectionToken): Slot | undefined;

  /** What `find` gives, or a member. */
  reach(token: InjectionToken): Slot | undefined {
    return this.find(token) ?? this.members.get(token);
  }

  /** Puts other slots in the place of some. */
  replace(substitutes: ReadonlyMap<Slot, Slot>): void {
    replaceIn(this.members, substitutes);
  }

  /** A slot of `target` in this scope: the one its token stands for already, else a new member. */
  member(target: Class): Slot {
    const known = this.find(target) ?? this.members.get(target);
    if (known !== undefined) return known;
    const slot = new Slot(target, { kind: "class", implementation: target }, this);
    this.members.set(target, slot);
    return slot;
  }
}

/** The view from inside one module. */
export class ModuleScope extends Scope {
  readonly name: string;
  readonly own = new Map<InjectionToken, Slot>();
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
    this.own.set(token, new Slot(token, source, this));
  }

  override replace(substitutes: ReadonlyMap<Slot, Slot>): void {
    super.replace(substitutes);
    replaceIn(this.own, substitutes);
  }

  override find(token: InjectionToken): Slot | undefined {
    const { bindings, defaults } = this.application;
    return bindings.get(token) ?? this.local(token) ?? defaults.get(token);
  }

  /** Provided here or by an import. */
  local(token: InjectionToken): Slot | undefined {
    return this.own.get(token) ?? this.imported(token, new Set([this]));
  }

  /** The last import that exports the token wins. `asked` ends the search where modules import each other. */
  private imported(token: InjectionToken, asked: Set<ModuleScope>): Slot | undefined {
    for (const scope of this.imports.toReversed()) {
      const slot = scope.exported(token, asked);
      if (slot !== undefined) return slot;
    }
    return undefined;
  }

  private exported(token: InjectionToken, asked: Set<ModuleScope>): Slot | undefined {
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
  readonly bindings = new Map<InjectionToken, Slot>();
  /** Visible everywhere, and overridden by every other binding that is. */
  readonly defaults = new Map<InjectionToken, Slot>();
  /** Filled by the walk: the root first, each module once. */
  modules: readonly ModuleScope[] = [];
  root: ModuleScope | undefined;

  override find(token: InjectionToken): Slot | undefined {
    const { bindings, defaults, root } = this;
    return bindings.get(token) ?? root?.local(token) ?? this.only(({ own }) => own.get(token)) ?? defaults.get(token);
  }

  override reach(token: InjectionToken): Slot | undefined {
    return super.reach(token) ?? this.only(({ members }) => members.get(token));
  }

  /** The modules that provide the token. */
  holders(token: InjectionToken): readonly ModuleScope[] {
    return this.modules.filter(({ own }) => own.has(token));
  }

  private only(pick: (scope: ModuleScope) => Slot | undefined): Slot | undefined {
    const slots = new Set(this.modules.map(pick).filter((slot) => slot !== undefined));
    return slots.size === 1 ? [...slots][0] : undefined;
  }
}

function replaceIn(slots: Map<InjectionToken, Slot>, substitutes: ReadonlyMap<Slot, Slot>): void {
  for (const [token, slot] of slots) slots.set(token, substitutes.get(slot) ?? slot);
}
