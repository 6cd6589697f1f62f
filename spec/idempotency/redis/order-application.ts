/** A program that takes orders with keys in the Redis of `REDIS_URL`. An order of `dies` kills the process after its effect, a line of output. */
import { Reply } from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { RedisIdempotencyStore } from "@stagecraft/framework/idempotency/redis";
import { buildOrders } from "../orders.js";

const cache = new RedisCache({ url: process.env["REDIS_URL"] ?? "", namespace: "shop" });

await buildOrders(new RedisIdempotencyStore(cache, { leaseMs: 1000 }), ({ input }) => {
  const { article } = (input as { readonly body: { readonly article: string } }).body;
  if (article === "dies") process.kill(process.pid, "SIGKILL");
  return Reply.json({ article }, 201);
})
  .build()
  .run();
