import { RedisCache } from "@stagecraft/framework/cache/redis";

/** What all instances of the application share. */
export function sharedCache(url: string) {
  return new RedisCache({ url, namespace: "links" });
}
