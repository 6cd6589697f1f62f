/** The scenarios of rate limits. */

import { Application, type Context, RateLimit, SystemClock } from "@stagecraft/framework";
import { QUOTA } from "../fixtures.js";
import { HelloModule } from "./modules.js";

function limited(limit: RateLimit) {
  return Application.create(HelloModule).rateLimit(limit);
}

/** The limit after so many requests. */
function asked(limit: RateLimit, times: number): RateLimit {
  const run = limit.wrap(() => undefined);
  const clock = new SystemClock();
  // As much of a request as a limit by a function reads.
  const request = { app: {}, clock, completeHeadWith: () => {} } as unknown as Context;
  for (let time = 0; time < times; time += 1) void run(request);
  return limit;
}

let keys = 0;

/** Each request has a key of its own. */
function freshKey(): string {
  keys += 1;
  return `key-${keys}`;
}

export function constant() {
  return limited(RateLimit.perSecond(QUOTA));
}

export function freshPerSecond() {
  return limited(RateLimit.perSecond(10).by(freshKey));
}

export function freshPerHour() {
  return limited(RateLimit.perHour(10).by(freshKey));
}

export function freshAfterAMillion() {
  return limited(asked(RateLimit.perHour(10).by(freshKey), 1_000_000));
}
