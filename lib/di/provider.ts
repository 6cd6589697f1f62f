/**
 * One place in the graph that becomes one instance: what it is bound to, the scope that its dependencies are looked up in, and, once
 * wired, the slots it needs. Holds no instance itself; that is the container's.
 */
import type { Source } from "./provide.js";
import { nameOf, type InjectionToken } from "./token.js";

/** Where a slot stands: what it may be given, and how messages call the place. */
export interface VisibleProviders {
  readonly name: string;
  find(token: InjectionToken): Provider | undefined;
}

export class Provider {
  /** Under which the container keeps the instance. */
  readonly key: symbol;
  /** By constructor parameter; what a factory resolves is not known before it runs. */
  dependencies: readonly Provider[] = [];

  constructor(
    readonly token: InjectionToken,
    readonly source: Source,
    readonly scope: VisibleProviders,
  ) {
    this.key = Symbol(nameOf(token));
  }

  /** `LinkStore`, or `LinkStore (SqlLinks)` where a class stands behind another name. */
  get label(): string {
    const { token, source } = this;
    if (source.kind !== "class" || source.implementation === token) return nameOf(token);
    return `${nameOf(token)} (${nameOf(source.implementation)})`;
  }
}
