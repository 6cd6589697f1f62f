/**
 * Which providers share one instance: several modules list one class under one token, and it gets the same dependencies in each of them.
 * Where the bindings of the modules give it different dependencies, each module has a separate instance.
 *
 * Parameters are compared before the first instance exists. What `inject` gets is known only after the constructor has run for one of the
 * modules: its tokens are then resolved from the others.
 */
import type { Provider, ShareGroup } from "../provider.js";
import type { Request } from "./requests.js";

/** Sets the groups. @param order wired providers, dependencies first */
export function groupProviders(order: Iterable<Provider>): void {
  const firstsByClass = new Map<unknown, Provider[]>();
  for (const provider of order) {
    if (provider.source.kind !== "class") continue;
    const firsts = firstsByClass.get(provider.source.implementation) ?? [];
    const equal = firsts.find((first) => isEqual(first, provider));
    if (equal !== undefined) join(equal.group, provider);
    else firstsByClass.set(provider.source.implementation, [...firsts, provider]);
  }
}

function join(group: ShareGroup, provider: Provider): void {
  group.members.push(provider);
  provider.group = group;
}

/** For two providers of one class. */
function isEqual(one: Provider, other: Provider): boolean {
  return (
    one.token === other.token &&
    one.parameters.every((parameter, at) => parameter?.group === other.parameters[at]?.group)
  );
}

/** The instances of one build. */
export class SharedInstances {
  /** Providers that get the instance of another, which was built before. */
  private readonly sharedWith = new Map<Provider, Provider>();

  /**
   * @param built providers whose instance exists
   * @param requests of each provider whose constructor or factory has run or is running
   */
  constructor(
    private readonly built: ReadonlySet<Provider>,
    private readonly requests: ReadonlyMap<Provider, readonly Request[]>,
  ) {}

  /** The provider whose instance `provider` gets; `undefined` if it gets a separate one. */
  find(provider: Provider): Provider | undefined {
    const { group } = provider;
    if (group.members.length === 1) return undefined;
    const built = group.members.filter((member) => this.built.has(member));
    const found = built.find((member) => this.getsSame(provider, member));
    if (found === undefined && built.length > 0) group.isSplit = true;
    return found;
  }

  /** The provider whose instance `provider` has: itself, unless it shares that of another. */
  getTarget(provider: Provider): Provider {
    return this.sharedWith.get(provider) ?? provider;
  }

  /** Whether the container would call the constructor of `provider` with that which `built` has got, or `provider` has its instance. */
  private getsSame(provider: Provider | undefined, built: Provider | undefined): boolean {
    if (provider === built || provider === undefined || built === undefined) return provider === built;
    const target = this.getTarget(built);
    if (this.getTarget(provider) === target) return true;
    if (provider.group !== target.group || this.sharedWith.has(provider) || this.requests.has(provider)) return false;
    const isSame =
      provider.parameters.every((parameter, at) => this.getsSame(parameter, target.parameters[at])) &&
      (this.requests.get(target) ?? []).every(
        ({ token, found }) => found !== undefined && this.getsSame(provider.scope.find(token), found),
      );
    if (isSame) this.sharedWith.set(provider, target);
    return isSame;
  }
}
