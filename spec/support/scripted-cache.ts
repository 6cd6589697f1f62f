/** A cache without values. Its scripts give the answer of the spec, and it records the calls of its lifecycle. */
import { Cache, type CacheScript } from "../../lib/lifecycle/cache.js";

export class ScriptedCache extends Cache {
  readonly namespace = "spec";
  readonly seen: string[] = [];

  /** @param answer the result of every script; the default admits a request of a rate limit */
  constructor(private readonly answer: () => Promise<unknown> = async () => [1, 9, 0, 0]) {
    super();
  }

  override start(): void {
    this.seen.push("start");
  }

  override probe(): void {
    this.seen.push("probe");
  }

  override stop(): void {
    this.seen.push("stop");
  }

  override async get(): Promise<unknown> {
    return undefined;
  }

  override async set(): Promise<void> {}

  override async delete(): Promise<boolean> {
    return false;
  }

  override script(): CacheScript {
    return { run: () => this.answer() };
  }
}
