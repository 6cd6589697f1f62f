import { RedisCache } from "@stagecraft/framework/cache/redis";

/** The cache that all instances of the application share. */
export function sharedCache(url: string) {
  return new RedisCache({ url, namespace: "links" });
}
