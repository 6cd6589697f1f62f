/**
 * Idempotency keys in the memory of this process: for development, for tests, and for an application that is one process. A handler runs at
 * most once for each key, until the process ends: a restart forgets all keys. A handler that failed leaves its key unknown, because its
 * effects may stand.
 *
 * Its size is bounded: above `maxBytes` the keys that ended first are removed, and are free again.
 *
 * @example
 * new Idempotency(new MemoryIdempotencyStore(), { principal: (ctx: Context & { user?: User }) => ctx.user?.id });
 */
import { checkOptionNames } from "../errors/option-names.js";
import { checkWholeNumber } from "../errors/whole-number.js";
import type { PerProcess, ProcessState } from "../lifecycle/process-state.js";
import {
  type ClaimState,
  type IdempotencyClaim,
  IdempotencyStore,
  type IdempotentWork,
  RAN,
  RUNNING,
} from "./idempotency-store.js";
import { type RecordedResponse, serializeResponse } from "./recorded-response.js";

export interface MemoryIdempotencyStoreOptions {
  /** The most bytes of all responses, counted as 512 for each key and its stored text; the default is 67,108,864 (64 MiB). */
  readonly maxBytes?: number;
}

const IN_MEMORY: ProcessState = {
  what: "idempotency keys are in memory",
  fix: "use DatabaseIdempotencyStore or RedisIdempotencyStore",
};

const DEFAULT_MAX_BYTES = 67_108_864;
const KEY_BYTES = 512;

interface StoredKey {
  readonly state: ClaimState;
  readonly expiresAt: number;
  readonly bytes: number;
}

export class MemoryIdempotencyStore extends IdempotencyStore implements PerProcess {
  readonly perProcess: ProcessState | undefined = IN_MEMORY;
  private readonly running = new Set<string>();
  /** The entry that ended first is the first. */
  private readonly entries = new Map<string, StoredKey>();
  private readonly maxBytes: number;
  private bytes = 0;

  /** @throws FrameworkError `E_IDEMPOTENCY_OPTION`, `E_OPTION` */
  constructor(options: MemoryIdempotencyStoreOptions = {}) {
    super();
    checkOptionNames<MemoryIdempotencyStoreOptions>(options, { maxBytes: true }, "new MemoryIdempotencyStore");
    const { maxBytes = DEFAULT_MAX_BYTES } = options;
    this.maxBytes = checkWholeNumber("E_IDEMPOTENCY_OPTION", "maxBytes", maxBytes, [KEY_BYTES]);
  }

  override async run(claim: IdempotencyClaim, work: IdempotentWork): Promise<ClaimState> {
    const { id, fingerprint } = claim;
    if (this.running.has(id)) return RUNNING;
    const entry = this.entries.get(id);
    if (entry !== undefined && entry.expiresAt > claim.clock.now()) return entry.state;
    this.running.add(id);
    try {
      const { outcome, response } = await work();
      if (outcome === "failed") this.store(claim, { kind: "unknown", fingerprint });
      else if (outcome !== "released") this.store(claim, { kind: "recorded", fingerprint, response }, response);
      return RAN;
    } catch (error) {
      this.store(claim, { kind: "unknown", fingerprint });
      throw error;
    } finally {
      this.running.delete(id);
    }
  }

  private store({ id, ttlMs, clock }: IdempotencyClaim, state: ClaimState, response?: RecordedResponse): void {
    const bytes = KEY_BYTES + (response === undefined ? 0 : serializeResponse(response).length);
    this.drop(id);
    this.entries.set(id, { state, expiresAt: clock.now() + ttlMs, bytes });
    this.bytes += bytes;
    this.makeRoom(clock.now());
  }

  /** Each new entry checks the two oldest ones, so that expired entries cannot fill the map. */
  private makeRoom(now: number): void {
    let checked = 0;
    for (const [id, { expiresAt }] of this.entries) {
      if (this.bytes <= this.maxBytes && (checked++ === 2 || expiresAt > now)) return;
      this.drop(id);
    }
  }

  private drop(id: string): void {
    this.bytes -= this.entries.get(id)?.bytes ?? 0;
    this.entries.delete(id);
  }
}
