/**
 * All rate limits of one application: of the stage, of the layers, and of the middleware of routes. Checks that no two of them use the same
 * buckets, and lists the caches that they need.
 */
import { RateLimit } from "../stages/rate-limit/rate-limit.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { formatRoute } from "../endpoints/endpoint.js";
import type { Routes } from "../routing/routes.js";
import type { Cache } from "../cache/cache.js";
import type { Plan } from "./plan.js";
import type { BuiltStage } from "./chain.js";

export class RateLimits {
  private constructor(
    /** Each rate limit once, with its first use. */
    private readonly firstUses: ReadonlyMap<RateLimit, string>,
  ) {}

  static of(stages: readonly BuiltStage[], layers: Plan["layers"], routes: Routes): RateLimits {
    const uses: (readonly [unknown, string])[] = [
      ...stages.map(({ call, layer }) => [layer, call] as const),
      ...layers.map((layer) => [layer, ".layer(…)"] as const),
      ...routes.flatten().flatMap(({ descriptor, around }) => {
        const where = `middleware of ${formatRoute(descriptor)}`;
        return around.map((each) => [each, where] as const);
      }),
    ];
    const firstUses = new Map<RateLimit, string>();
    for (const [each, where] of uses) {
      if (each instanceof RateLimit && !firstUses.has(each)) firstUses.set(each, where);
    }
    return new RateLimits(firstUses);
  }

  /** The caches of the rate limits. They are subsystems of the application, also if no module provides them. */
  caches(): readonly Cache[] {
    return [...this.firstUses.keys()].map(({ cache }) => cache).filter((cache) => cache !== undefined);
  }

  /** Two `RateLimit` objects have separate quotas, also if the numbers are the same. So they must not share buckets. */
  diagnostics(): readonly Diagnostic[] {
    const all = [...this.firstUses];
    return all.flatMap(([limit, where], at) => {
      const [other] = all.slice(0, at).find(([earlier]) => earlier.sharesBucketsWith(limit)) ?? [];
      return other === undefined ? [] : [describeSharedBuckets(other, limit, where)];
    });
  }
}

function describeSharedBuckets(one: RateLimit, other: RateLimit, where: string): Diagnostic {
  const both = `a rate limit of ${String(one.quota)} and one of ${String(other.quota)} share the buckets of one cache`;
  return {
    code: "E_RATE_LIMIT_SHARED",
    what: other.bucketsName === "" ? both : `${both} under the name "${other.bucketsName}"`,
    where,
    fix: 'give one of them a separate name: .redis(cache, "login"); or use one handle in both places',
  };
}
