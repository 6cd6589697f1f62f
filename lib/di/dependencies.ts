/**
 * Ties each slot to the slots that its constructor asks for. What cannot be tied is kept until all are tied: only then is it known who
 * wanted the slot in the first place, and a message can show the whole chain.
 */
import type { Diagnostic } from "../errors/diagnostic.js";
import { ModuleScope, type ApplicationScope } from "./module-scope.js";
import type { VisibleProviders, Provider } from "./provider.js";
import { nameOf, type InjectionToken } from "./token.js";
import {
  constructorOf,
  type ConstructorShape,
  type ConstructorParameter,
  parameterWithoutToken,
  parameterPlace,
  unreadableConstructor,
} from "./constructor.js";

// Why a token is not to be had in a scope, told apart so that the fix is one edit: nobody provides it, somebody does and does not
// export it, somebody does and is not imported, or two do and the application cannot choose.

/** A finding without its place. */
export type Explanation = Pick<Diagnostic, "code" | "what" | "fix">;

export function explainMissing(
  application: ApplicationScope,
  scope: VisibleProviders,
  token: InjectionToken,
): Explanation {
  const holders = application.holders(token);
  if (holders.length === 0) return unprovided(application, scope, token);
  return scope instanceof ModuleScope ? invisible(scope, holders, token) : ambiguous(holders, token);
}

function invisible(scope: ModuleScope, holders: readonly ModuleScope[], token: InjectionToken): Explanation {
  const exporter = holders.find(({ exports }) => exports.has(token));
  const neighbour = holders.find((holder) => scope.imports.includes(holder));
  const holder = exporter ?? neighbour ?? holders[0] ?? scope;
  const name = nameOf(token);
  const toExports = `add ${name} to the exports of ${holder.name}`;
  const toImports = `add ${holder.name} to the imports of ${scope.name}`;
  const [gap, fix] =
    exporter !== undefined
      ? [`provides and exports it, but ${scope.name} does not import ${holder.name}`, toImports]
      : neighbour !== undefined
        ? [`provides it, but does not export it`, toExports]
        : [
            `provides it, but does not export it, and ${scope.name} does not import ${holder.name}`,
            `${toExports} and ${toImports}`,
          ];
  return { code: "E_PROVIDER_INVISIBLE", what: `${name} is not visible in ${scope.name}: ${holder.name} ${gap}`, fix };
}

function ambiguous(holders: readonly ModuleScope[], token: InjectionToken): Explanation {
  const names = holders.map((holder) => holder.name).join(" and ");
  return {
    code: "E_PROVIDER_AMBIGUOUS",
    what: `${names} each provide ${nameOf(token)}, and the root module sees none of them`,
    fix: "export it from one of them and import that module in the root module, or bind it for the whole application",
  };
}

function unprovided(application: ApplicationScope, scope: VisibleProviders, token: InjectionToken): Explanation {
  const name = nameOf(token);
  const home = scope instanceof ModuleScope ? scope.name : (application.root?.name ?? "a module");
  const fix = `add ${name}, or a binding provide(${name})…, to the providers of ${home}, or import a module that exports it`;
  const reason = { code: "E_PROVIDER_MISSING", what: `nothing provides ${name}`, fix };
  return (
    member(application, token, reason) ??
    namesake(application, token, reason) ??
    derived(application, token, reason) ??
    reason
  );
}

function member({ modules }: ApplicationScope, token: InjectionToken, reason: Explanation): Explanation | undefined {
  const home = modules.find(({ notInjected }) => notInjected.has(token));
  if (home === undefined) return undefined;
  const what = `${reason.what}: it is a controller, a middleware or the module itself in ${home.name}, and those are not injected`;
  return { ...reason, what, fix: `move what is needed of ${nameOf(token)} into a provider` };
}

/** Two classes of one name: the commonest cause is a file or a package that is loaded twice. */
function namesake({ modules }: ApplicationScope, token: InjectionToken, reason: Explanation): Explanation | undefined {
  const home = modules.find(({ own }) => [...own.keys()].some((other) => nameOf(other) === nameOf(token)));
  if (home === undefined) return undefined;
  const what = `${reason.what}: what ${home.name} provides under this name is another class or token`;
  return {
    ...reason,
    what,
    fix: "import the same one in both places; a file or package loaded twice makes two of them",
  };
}

/** `providers: [SqlLinks]` binds SqlLinks to itself and not to the LinkStore that it is. */
function derived({ modules }: ApplicationScope, token: InjectionToken, reason: Explanation): Explanation | undefined {
  if (typeof token !== "function") return undefined;
  for (const { own, name } of modules) {
    const heir = [...own.keys()].find((other) => typeof other === "function" && other.prototype instanceof token);
    if (heir !== undefined) {
      const what = `${reason.what}: ${name} provides ${nameOf(heir)}, which is one, under its own name only`;
      return { ...reason, what, fix: `bind it in ${name}: provide(${nameOf(token)}).useClass(${nameOf(heir)})` };
    }
  }
  return undefined;
}

export class DependencyWiring {
  /** Slots that something was given, or asked for by name. */
  readonly asked = new Set<Provider>();
  private readonly firstUser = new Map<Provider, Provider>();
  private readonly faults: (() => Diagnostic)[] = [];

  constructor(private readonly application: ApplicationScope) {}

  /** Wires every slot in `slots` and everything they lead to; each once. */
  wire(slots: Iterable<Provider>): void {
    const pending = [...slots];
    const known = new Set(pending);
    for (const slot of pending) {
      slot.dependencies = this.dependenciesOf(slot);
      for (const dependency of slot.dependencies) {
        if (!known.has(dependency)) pending.push(dependency);
        known.add(dependency);
      }
    }
  }

  /** What could not be wired, in the order of the slots. */
  diagnostics(): readonly Diagnostic[] {
    return this.faults.map((fault) => fault());
  }

  private dependenciesOf(slot: Provider): readonly Provider[] {
    if (slot.source.kind !== "class") return [];
    const target = slot.source.implementation;
    const shape = constructorOf(target);
    if (shape.unreadableBecause !== undefined) this.faults.push(() => unreadableConstructor(slot, target, shape));
    return shape.parameters.flatMap((parameter) => this.given(slot, target, shape, parameter) ?? []);
  }

  private given(
    slot: Provider,
    target: object,
    shape: ConstructorShape,
    parameter: ConstructorParameter,
  ): Provider | undefined {
    const { token } = parameter;
    if (token === undefined) {
      this.faults.push(() => parameterWithoutToken(slot, target, shape, parameter));
      return undefined;
    }
    const found = slot.scope.find(token);
    if (found === undefined)
      this.faults.push(() => this.missing(slot, token, parameterPlace(slot, target, shape, parameter)));
    else this.note(found, slot);
    return found;
  }

  private note(found: Provider, user: Provider): void {
    this.asked.add(found);
    if (!this.firstUser.has(found)) this.firstUser.set(found, user);
  }

  private missing(slot: Provider, token: InjectionToken, where: string): Diagnostic {
    const { code, what, fix } = explainMissing(this.application, slot.scope, token);
    return { code, what: `${what} (${this.chain(slot)} -> ${nameOf(token)})`, where, fix };
  }

  /** From whoever nobody asks for down to `slot`; a cycle above it ends the chain. */
  private chain(slot: Provider): string {
    const links = new Set([slot]);
    for (let user = this.firstUser.get(slot); user !== undefined && !links.has(user); user = this.firstUser.get(user)) {
      links.add(user);
    }
    return [...links]
      .toReversed()
      .map(({ label }) => label)
      .join(" -> ");
  }
}
