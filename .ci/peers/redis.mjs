/**
 * Uses the cache on a Redis server of its own, with the ioredis beside this file; the server falls silent in between.
 * Usage: node redis.mjs <built clone of the repository>
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { RedisCache } from "@stagecraft/framework/cache/redis";

const { RedisServer } = await import(pathToFileURL(join(process.argv[2], "dist/spec/support/redis-server.js")).href);
const server = await RedisServer.start();
const cache = new RedisCache({ url: server.url, namespace: "peers" });
await cache.start();
try {
  await cache.set("answer", { is: 42 }, 60_000);
  assert.deepEqual(await cache.get("answer"), { is: 42 });
  assert.equal(await cache.script("return ARGV[1] .. KEYS[1]").run(["k"], ["v"]), "vpeers:k");

  server.halt();
  await assert.rejects(cache.get("answer"), { name: "CacheUnavailableError" });
  server.resume();
  const deadline = Date.now() + 5000;
  while (
    await cache.probe().then(
      () => false,
      () => true,
    )
  )
    assert.ok(Date.now() < deadline, "the cache never came back");

  assert.equal(await cache.delete("answer"), true);
  assert.equal(await cache.get("answer"), undefined);
} finally {
  server.resume();
  await cache.stop();
  await server.kill();
}
console.log("keeps a value in Redis");
