/**
 * What NestJS adds to its adapter's production set, from the modules that its documentation names: @nestjs/throttler, CORS of its own, and
 * nestjs-pino for the log.
 */
import { APP_GUARD } from "@nestjs/core";
import { ThrottlerGuard, ThrottlerModule } from "@nestjs/throttler";
import { Logger, LoggerModule } from "nestjs-pino";
import { ORIGIN, QUOTA } from "../../../../../dist/spec/tools/bench/fixtures.js";
import { echoedRequestId, log, tracedProps } from "./observability.mjs";
import { problems } from "./nest-problems.mjs";

/**
 * The throttler's own storage keeps the time of every hit and goes through all of them at the next: with one client that sends everything,
 * as here, nothing else would be measured. This one counts in a fixed window.
 */
class FixedWindows {
  #windows = new Map();

  async increment(key, ttl, limit) {
    const now = Date.now();
    let window = this.#windows.get(key);
    if (window === undefined || window.ends <= now) this.#windows.set(key, (window = { hits: 0, ends: now + ttl }));
    window.hits += 1;
    const seconds = Math.ceil((window.ends - now) / 1000);
    return {
      totalHits: window.hits,
      timeToExpire: seconds,
      isBlocked: window.hits > limit,
      timeToBlockExpire: seconds,
    };
  }
}

/** Imports and providers of the application's module. */
export const productionModules = () => ({
  imports: [
    LoggerModule.forRoot({ pinoHttp: { logger: log, genReqId: echoedRequestId, customProps: tracedProps } }),
    ThrottlerModule.forRoot({ throttlers: [{ ttl: 60_000, limit: QUOTA }], storage: new FixedWindows() }),
  ],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
});

export function nestProduction(app) {
  app.useLogger(app.get(Logger));
  app.enableCors({ origin: [ORIGIN] });
  problems(app);
}
