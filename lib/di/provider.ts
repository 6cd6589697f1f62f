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

/**
 * Providers that differ in their module only: one class under one token, with equal parameters. They share one instance, unless `inject`
 * gets something else in one of their modules, which is known when their constructors have run.
 */
export interface ShareGroup {
  readonly members: Provider[];
  /** Whether two of the members have different instances. */
  isSplit: boolean;
}

export class Provider {
  /** The key of the instance in the container. */
  readonly key: symbol;
  /**
   * One entry for each constructor parameter; `undefined` where the default of the parameter applies. A factory has none: the tokens that it
   * resolves are not known before it runs, and neither are those of `inject`.
   */
  parameters: readonly (Provider | undefined)[] = [];
  group: ShareGroup = { members: [this], isSplit: false };

  constructor(
    readonly token: InjectionToken,
    readonly source: Source,
    readonly scope: VisibleProviders,
  ) {
    this.key = Symbol(describeToken(token));
  }

  get dependencies(): readonly Provider[] {
    return this.parameters.filter((each) => each !== undefined);
  }

  /** `LinkStore`, or `LinkStore (SqlLinks)` where the token is bound to another class. */
  get label(): string {
    const { token, source } = this;
    if (source.kind !== "class" || source.implementation === token) return describeToken(token);
    return `${describeToken(token)} (${describeToken(source.implementation)})`;
  }
}
