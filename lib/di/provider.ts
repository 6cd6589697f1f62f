/**
 * One node of the graph, which becomes one instance: the token, the source of the instance, the scope in which its dependencies are
 * resolved, and, once wired, these dependencies. The container has the instance itself.
 */
import type { Source } from "./provide.js";
import { describeToken, type InjectionToken } from "./token.js";

/** The providers that are visible from one scope, and the name of that scope for messages. */
export interface VisibleProviders {
  readonly name: string;
  find(token: InjectionToken): Provider | undefined;
}

export class Provider {
  /** The key of the instance in the container. */
  readonly key: symbol;
  /** In the order of the constructor parameters. A factory has none: the tokens that it resolves are not known before it runs. */
  dependencies: readonly Provider[] = [];

  constructor(
    readonly token: InjectionToken,
    readonly source: Source,
    readonly scope: VisibleProviders,
  ) {
    this.key = Symbol(describeToken(token));
  }

  /** `LinkStore`, or `LinkStore (SqlLinks)` where the token is bound to another class. */
  get label(): string {
    const { token, source } = this;
    if (source.kind !== "class" || source.implementation === token) return describeToken(token);
    return `${describeToken(token)} (${describeToken(source.implementation)})`;
  }
}
