/** The application of the shared-quota journey: one of several processes that keep one quota in one Redis. */
import { Application, Cache, provide, RateLimit, Route, Routes } from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";

const { REDIS_URL = "", QUOTA = "0" } = process.env;
const cache = new RedisCache({ url: REDIS_URL, namespace: "journey" });

await Application.create()
  .provide(provide(Cache).useValue(cache))
  .routes(new Routes([Route.get("/", () => "fine")]))
  .rateLimit(RateLimit.perHour(Number(QUOTA)).by("global").redis(cache))
  .lifecycle({ drainDelayMs: 0 })
  .build()
  .run();
