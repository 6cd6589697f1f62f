/**
 * The state of a maintenance in Redis, under `<namespace>:maintenance`, on the connection of a `RedisCache`. The key does not expire. A
 * server that removes keys when its memory is full may remove this one, which ends the maintenance: set `noeviction`.
 *
 * @example
 * const cache = new RedisCache({ url: "redis://cache.internal:6379", namespace: "shop" });
 * builder.maintenance(new Maintenance().store(new RedisMaintenanceStore(cache)));
 */
import type { Cache, CacheScript } from "../../cache/cache.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import {
  formatState,
  MAX_STATE_BYTES,
  type MaintenanceState,
  MaintenanceStore,
  parseState,
} from "./maintenance-store.js";

/** KEYS: the state. ARGV: its text, to write it. Returns at most one byte more than a state has; an empty text without a state. */
const SCRIPT = `
if ARGV[1] then redis.call('SET', KEYS[1], ARGV[1]) end
return redis.call('GETRANGE', KEYS[1], 0, ${MAX_STATE_BYTES})`;

export class RedisMaintenanceStore extends MaintenanceStore {
  private readonly script: CacheScript;

  /** @throws FrameworkError `E_CACHE_SCRIPT` for a cache without scripts */
  constructor(private readonly cache: Cache) {
    super();
    this.script = cache.script(SCRIPT);
  }

  override get name(): string {
    return `the key ${this.cache.namespace}:maintenance of the cache`;
  }

  override get subsystems(): readonly Subsystem[] {
    return [this.cache];
  }

  override async read(): Promise<MaintenanceState | undefined> {
    const text = String(await this.script.run(["maintenance"], []));
    return text === "" ? undefined : parseState(text, this.name);
  }

  override async write(state: MaintenanceState): Promise<void> {
    await this.script.run(["maintenance"], [formatState(state)]);
  }
}
