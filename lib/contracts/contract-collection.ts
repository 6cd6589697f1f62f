/** The contracts of the routes of an application: compiled before any instance exists, ready when the guards have their code. */
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import type { Contract } from "../endpoints/contract.js";
import { findIdempotencyProviders, TWO_PROVIDERS } from "./idempotency-provider.js";
import {
  ContractPlan,
  type ContractProviders,
  type ContractRoute,
  type ContractSettings,
  type ReadyContract,
} from "./contract-plan.js";
import { GuardProviders } from "./guards.js";

/** A route that may have a contract. */
interface AnyRoute {
  readonly descriptor: Omit<ContractRoute, "contract"> & { readonly contract?: Contract | undefined };
}

export class ContractCollection {
  private readonly plans = new Map<string, ContractPlan>();
  private readonly ready = new Map<string, ReadyContract>();
  private providers = new GuardProviders([]);

  /** @param routes with all prefixes */
  constructor(routes: readonly AnyRoute[]) {
    for (const { descriptor } of routes) {
      const { contract, method, path } = descriptor;
      if (contract !== undefined) this.plans.set(getKey(descriptor), new ContractPlan({ contract, method, path }));
    }
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.plans.values()].flatMap(({ diagnostics }) => diagnostics);
  }

  get warnings(): readonly Warning[] {
    const plans = [...this.plans.values()];
    const used = new Set(plans.flatMap((plan) => plan.guards.map(({ definition }) => definition)));
    return [...plans.flatMap(({ warnings }) => warnings), ...this.providers.warnOfUnused(used)];
  }

  /** Finds the code of the guards, and the store of idempotency keys, and checks the settings. The contracts are ready where it returns no diagnostic. */
  resolveProviders(
    provided: readonly (readonly [token: unknown, instance: unknown])[],
    settings: ContractSettings,
  ): readonly Diagnostic[] {
    const guards = (this.providers = new GuardProviders(provided));
    const [idempotency, other] = findIdempotencyProviders(provided.map(([, instance]) => instance));
    const providers: ContractProviders = { guards, idempotency };
    const plans = [...this.plans];
    const diagnostics = [
      ...guards.diagnostics,
      ...(other === undefined ? [] : [TWO_PROVIDERS]),
      ...plans.flatMap(([, plan]) => [...plan.checkProviders(providers), ...plan.checkStripped(settings)]),
    ];
    if (diagnostics.length > 0) return diagnostics;
    for (const [key, plan] of plans) this.ready.set(key, plan.ready(providers, settings));
    return [];
  }

  /** The diagnostics of forms with files, for an application without a reader of uploads. */
  checkUploads(): readonly Diagnostic[] {
    return [...this.plans.values()].flatMap((plan) => plan.checkUploads());
  }

  find({ descriptor }: AnyRoute): ReadyContract | undefined {
    return this.ready.get(getKey(descriptor));
  }
}

function getKey({ method, path }: AnyRoute["descriptor"]): string {
  return `${method} ${path}`;
}
