/**
 * The attempts of a client: five for each address that it names, and fifty in all, in fifteen minutes. They are counted before anything else
 * is done, for known and unknown addresses alike, so a refusal tells nothing, and no flood of attempts hashes passwords.
 *
 * The buckets are those of the rate limit: in memory, or in the cache of the option `attempts`. A token returns every three minutes.
 */
import { PROVIDED_BY } from "../di/provided-by.js";
import type { Cache } from "../cache/cache.js";
import { TooManyRequestsError, UnavailableError } from "../errors/framework-error.js";
import type { Context } from "../http/request/context.js";
import type { PerProcess, ProcessState } from "../lifecycle/process-state.js";
import { CacheBuckets } from "../stages/rate-limit/cache-bucket.js";
import { readRateLimitKey } from "../stages/rate-limit/client-key.js";
import { Quota, type RateLimitDecision } from "../stages/rate-limit/quota.js";
import { TokenBuckets } from "../stages/rate-limit/token-bucket.js";
import { hash } from "node:crypto";

const WINDOW_MS = 900_000;
const PER_IDENTITY = Quota.of(5, WINDOW_MS);
const PER_CLIENT = Quota.of(50, WINDOW_MS);

const IN_MEMORY: ProcessState = {
  what: "attempts to sign in are counted in memory",
  fix: "authentication({ attempts: Cache })",
  isTolerable: true,
};

interface AttemptBuckets {
  take(key: string, now: number): RateLimitDecision | Promise<RateLimitDecision>;
}

const findClient = readRateLimitKey("ip");

export class AttemptLimits implements PerProcess {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  readonly perProcess: ProcessState | undefined;
  private readonly perIdentity: AttemptBuckets;
  private readonly perClient: AttemptBuckets;

  /** @param cache counts for all processes */
  constructor(cache: Cache | undefined) {
    this.perProcess = cache === undefined ? IN_MEMORY : undefined;
    const open = (quota: Quota, name: string): AttemptBuckets =>
      cache === undefined ? new TokenBuckets(quota) : new CacheBuckets(cache, quota, name);
    this.perIdentity = open(PER_IDENTITY, "auth-identity");
    this.perClient = open(PER_CLIENT, "auth-client");
  }

  /**
   * Counts an attempt.
   *
   * @param subject what is tried, with the address or the user: `sign-in ada@shop.example`. It may be any text of a client
   * @throws TooManyRequestsError (429) with `Retry-After`; UnavailableError (503) if the cache does not respond
   */
  async count(ctx: Context, subject: string): Promise<void> {
    const client = findClient(ctx);
    await this.take(ctx, this.perClient, client);
    // An address in the keys of a cache would be a list of the users.
    await this.take(ctx, this.perIdentity, hash("sha256", `${client} ${subject}`, "base64url"));
  }

  /** Counts an attempt on a subject by any client. Where strangers could count too, they would lock its person out. */
  async countOfAll(ctx: Context, subject: string): Promise<void> {
    await this.take(ctx, this.perClient, findClient(ctx));
    await this.take(ctx, this.perIdentity, hash("sha256", subject, "base64url"));
  }

  private async take(ctx: Context, buckets: AttemptBuckets, key: string): Promise<void> {
    const { isAdmitted, retryAfterSeconds } = await callBuckets(() => buckets.take(key, ctx.clock.monotonic()));
    if (isAdmitted) return;
    const headers = { "Retry-After": String(retryAfterSeconds) };
    throw new TooManyRequestsError("Too many attempts. Try again later.", { code: "E_AUTH_ATTEMPTS", headers });
  }
}

async function callBuckets<T>(take: () => T | Promise<T>): Promise<T> {
  try {
    return await take();
  } catch (cause) {
    throw new UnavailableError("Attempts cannot be counted now. Please try again shortly.", { cause });
  }
}
