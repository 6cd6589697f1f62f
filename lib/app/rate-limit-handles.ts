/**
 * The rate limits of one application, wherever they stand: as a stage, among the layers, on a route or a group. Here is seen what none
 * of them sees alone: that two of them would use the same buckets, and which caches have to be up for them.
 */
import { RateLimit } from "../stages/rate-limit/rate-limit.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { titleOf } from "../routing/endpoint.js";
import type { Routes } from "../routing/routes.js";
import type { Cache } from "../lifecycle/cache.js";
import type { Plan } from "./plan.js";
import type { MadeStage } from "./chain.js";

export class RateLimits {
  private constructor(
    /** Each once, with the first place where it stands. */
    private readonly places: ReadonlyMap<RateLimit, string>,
  ) {}

  static of(stages: readonly MadeStage[], layers: Plan["layers"], routes: Routes): RateLimits {
    const standing: (readonly [unknown, string])[] = [
      ...stages.map(({ call, layer }) => [layer, call] as const),
      ...layers.map((layer) => [layer, ".layer(…)"] as const),
      ...routes.flattened().flatMap(({ descriptor, around }) => {
        const where = `middleware of ${titleOf(descriptor)}`;
        return around.map((each) => [each, where] as const);
      }),
    ];
    const places = new Map<RateLimit, string>();
    for (const [each, where] of standing) {
      if (each instanceof RateLimit && !places.has(each)) places.set(each, where);
    }
    return new RateLimits(places);
  }

  /** Without them the application is not ready, whether it provides them or not. */
  caches(): readonly Cache[] {
    return [...this.places.keys()].map(({ cache }) => cache).filter((cache) => cache !== undefined);
  }

  /** Two handles are two quotas, also where the numbers are the same. */
  findings(): readonly Diagnostic[] {
    const all = [...this.places];
    return all.flatMap(([limit, where], at) => {
      const [other] = all.slice(0, at).find(([earlier]) => earlier.sharesBucketsWith(limit)) ?? [];
      return other === undefined ? [] : [sharedBuckets(other, limit, where)];
    });
  }
}

function sharedBuckets(one: RateLimit, other: RateLimit, where: string): Diagnostic {
  const both = `a rate limit of ${String(one.quota)} and one of ${String(other.quota)} share the buckets of one cache`;
  return {
    code: "E_RATE_LIMIT_SHARED",
    what: other.bucketsName === "" ? both : `${both} under the name "${other.bucketsName}"`,
    where,
    fix: 'give one of them a name of its own: .redis(cache, "login"); or use one handle in both places',
  };
}
