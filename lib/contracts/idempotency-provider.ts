/**
 * The port for the code of `idempotent` endpoints. `Idempotency` of lib/idempotency implements it, and an application provides one. It runs
 * after the guards, the middleware and the validation of a route, so none of their refusals is stored.
 */
import type { Idempotent } from "../endpoints/idempotent.js";
import type { Handler } from "../endpoints/handler.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import type { Subsystem } from "../lifecycle/subsystem.js";

export abstract class IdempotencyProvider {
  /** The subsystems that the store needs. `run()` starts them, also if no module provides them. */
  abstract readonly subsystems: readonly Subsystem[];

  /** Returns a handler that runs `handler` once for each key. @internal */
  abstract wrap(handler: Handler, options: Idempotent): Handler;
}

/** The provider among the instances; one instance may be bound to several tokens. */
export function findIdempotencyProviders(instances: Iterable<unknown>): readonly IdempotencyProvider[] {
  return [...new Set(instances)].filter((each) => each instanceof IdempotencyProvider);
}

export const TWO_PROVIDERS: Diagnostic = {
  code: "E_IDEMPOTENCY_TWICE",
  what: "more than one Idempotency is provided",
  where: "providers",
  fix: "provide one, for all endpoints with idempotent",
};

export function describeMissingProvider(where: string): Diagnostic {
  return {
    code: "E_IDEMPOTENCY_MISSING",
    what: "the endpoint is idempotent by a key, and no Idempotency is provided",
    where,
    fix: "provide one: provide(Idempotency).useFactory(() => new Idempotency(store, { principal })), of @stagecraft/framework/idempotency",
  };
}
