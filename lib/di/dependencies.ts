/**
 * Wires each provider to the providers of its constructor parameters. A parameter without a provider becomes a diagnostic only after all
 * providers are wired, because the message shows the chain of its users.
 */
import { findForeignCopy } from "../errors/copy.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { describeParameterPlace, parameterWithoutToken, unreadableConstructor } from "./constructor-diagnostics.js";
import { readConstructor, type ConstructorParameter, type ConstructorShape } from "./constructor.js";
import { explainMissing } from "./missing-provider.js";
import type { ApplicationScope } from "./module-scope.js";
import type { Provider } from "./provider.js";
import { describeToken, type InjectionToken } from "./token.js";

export class DependencyWiring {
  /** Providers of constructor parameters, and those that `graph.ts` adds. */
  readonly used = new Set<Provider>();
  private readonly firstUser = new Map<Provider, Provider>();
  private readonly pendingDiagnostics: (() => Diagnostic)[] = [];

  constructor(private readonly application: ApplicationScope) {}

  /** Wires every given provider and all its direct and indirect dependencies, each once. */
  wire(providers: Iterable<Provider>): void {
    const pending = [...providers];
    const known = new Set(pending);
    for (const provider of pending) {
      provider.parameters = this.findParameters(provider);
      for (const dependency of provider.dependencies) {
        if (!known.has(dependency)) pending.push(dependency);
        known.add(dependency);
      }
    }
  }

  /** One diagnostic for each parameter and constructor that could not be wired, in the order of the providers. */
  diagnostics(): readonly Diagnostic[] {
    return this.pendingDiagnostics.map((describe) => describe());
  }

  private findParameters(provider: Provider): readonly (Provider | undefined)[] {
    if (provider.source.kind !== "class") return [];
    const target = provider.source.implementation;
    const foreign = findForeignCopy(target, `${describeToken(target)}, in ${provider.scope.name}`);
    if (foreign !== undefined) {
      this.pendingDiagnostics.push(() => foreign);
      return [];
    }
    const shape = readConstructor(target);
    if (shape.unreadableBecause !== undefined) {
      this.pendingDiagnostics.push(() => unreadableConstructor(provider, target, shape));
    }
    return shape.parameters.map((parameter) => this.findDependency(provider, target, shape, parameter));
  }

  private findDependency(
    provider: Provider,
    target: object,
    shape: ConstructorShape,
    parameter: ConstructorParameter,
  ): Provider | undefined {
    const { token, reason } = parameter;
    if (token === undefined) {
      if (reason === undefined) return undefined;
      this.pendingDiagnostics.push(() => parameterWithoutToken(provider, target, shape, parameter));
      return undefined;
    }
    const found = provider.scope.find(token);
    if (found !== undefined) this.recordUse(found, provider);
    else {
      const where = describeParameterPlace(provider, target, shape, parameter);
      this.pendingDiagnostics.push(() => this.describeMissing(provider, token, where));
    }
    return found;
  }

  private recordUse(found: Provider, user: Provider): void {
    this.used.add(found);
    if (!this.firstUser.has(found)) this.firstUser.set(found, user);
  }

  private describeMissing(provider: Provider, token: InjectionToken, where: string): Diagnostic {
    const { code, what, fix } = explainMissing(this.application, provider.scope, token);
    return { code, what: `${what} (${this.describeChain(provider)} -> ${describeToken(token)})`, where, fix };
  }

  /** From a provider without a user down to `provider`. A cycle ends the chain. */
  private describeChain(provider: Provider): string {
    const links = new Set([provider]);
    let user = this.firstUser.get(provider);
    while (user !== undefined && !links.has(user)) {
      links.add(user);
      user = this.firstUser.get(user);
    }
    return [...links]
      .toReversed()
      .map(({ label }) => label)
      .join(" -> ");
  }
}
