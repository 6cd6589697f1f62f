/**
 * The keys of an issuer that publishes them. They are read when the first token needs them, never at the start, and again after ten minutes
 * or for an unknown key id, one request of a process at a time. With traffic no request waits: after five minutes they are read beside it.
 *
 * While the issuer is down, the last keys count for a bounded time. After that each token is a 503, and never a 401, at which clients delete
 * their tokens.
 */
import { UnavailableError } from "../../errors/framework-error.js";
import { describeThrown } from "../../errors/thrown-value.js";
import type { Clock } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import type { SignatureAlgorithm } from "./algorithms.js";
import { KeySet, type TokenHeader, type VerificationKey } from "./key-set.js";
import { VerificationKeys } from "./verification-keys.js";
import { isSafeUrl } from "./verification-options.js";

const log = tracing.target("framework::auth");

const FRESH_MS = 600_000;
/** The keys are read beside the requests from this age on. */
const RENEW_MS = FRESH_MS / 2;
/** Clients choose key ids, so an unknown one may not cause a request each time. */
const PAUSE_MS = 30_000;
const FIRST_RETRY_MS = 1000;
/** Of each document, with the connection. */
const TIMEOUT_MS = 5000;
/** The sets of large issuers have 20 kB. */
const MAX_BYTES = 262_144;

export interface RemoteKeysOptions {
  /** The name of the issuer, for the log. */
  readonly name: string;
  readonly issuer: string;
  /** `undefined` for discovery. */
  readonly jwksUrl: string | undefined;
  readonly algorithms: readonly SignatureAlgorithm[];
  readonly staleMs: number;
}

export class RemoteKeys extends VerificationKeys {
  private set: KeySet | undefined;
  /** By the monotonic clock, as all times here. */
  private readAt = -Infinity;
  private nextReadAt = -Infinity;
  /** Since the last success. */
  private failures = 0;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly options: RemoteKeysOptions,
    private readonly clock: Clock,
  ) {
    super();
  }

  override find(header: TokenHeader): VerificationKey | undefined | Promise<VerificationKey | undefined> {
    const found = this.findNow(header);
    return found !== undefined && this.age < RENEW_MS ? found : this.findAfterRead(header, found);
  }

  private async findAfterRead(
    header: TokenHeader,
    found: VerificationKey | undefined,
  ): Promise<VerificationKey | undefined> {
    if (this.clock.monotonic() >= this.nextReadAt) this.reading ??= this.read();
    // An issuer that is down or slow delays no request whose key is known.
    if (found !== undefined && (this.age < FRESH_MS || this.failures > 0)) return found;
    await this.reading;
    const key = this.findNow(header);
    // The key may be a new one of an issuer that is down.
    if (key === undefined && this.failures > 0) throw this.createUnavailableError();
    return key;
  }

  private findNow(header: TokenHeader): VerificationKey | undefined {
    return this.age < this.options.staleMs ? this.set?.find(header) : undefined;
  }

  private get age(): number {
    return this.clock.monotonic() - this.readAt;
  }

  /** Never rejects. */
  private async read(): Promise<void> {
    const { name, algorithms } = this.options;
    try {
      const set = await KeySet.read(await this.fetchKeys(), algorithms);
      if (set.exposed > 0)
        log.error("issuer publishes private keys, which are left out", { issuer: name, count: set.exposed });
      this.set = set;
      this.readAt = this.clock.monotonic();
      this.failures = 0;
      this.nextReadAt = this.readAt + PAUSE_MS;
    } catch (error) {
      this.nextReadAt = this.clock.monotonic() + Math.min(PAUSE_MS, FIRST_RETRY_MS * 2 ** this.failures);
      this.failures++;
      log.warn("keys of an issuer not read", { issuer: name, failures: this.failures, ...describeThrown(error) });
    } finally {
      this.reading = undefined;
    }
  }

  private async fetchKeys(): Promise<unknown> {
    const { issuer, jwksUrl = await this.discover(issuer) } = this.options;
    return fetchJson(jwksUrl, this.clock);
  }

  /** OpenID Connect Discovery 1.0 section 4: the document names the issuer that it was asked for. */
  private async discover(issuer: string): Promise<string> {
    const document = Object(
      await fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, this.clock),
    );
    const { issuer: given, jwks_uri: url }: { readonly issuer?: unknown; readonly jwks_uri?: unknown } = document;
    if (given !== issuer) throw new Error("a discovery document of another issuer");
    if (!isSafeUrl(url)) throw new Error("a discovery document whose jwks_uri is no https URL");
    return url;
  }

  private createUnavailableError(): UnavailableError {
    const seconds = Math.max(1, Math.ceil((this.nextReadAt - this.clock.monotonic()) / 1000));
    const headers = { "Retry-After": String(seconds) };
    return new UnavailableError("Tokens cannot be checked now. Please try again shortly.", {
      code: "E_AUTH_KEYS",
      headers,
    });
  }
}

/** From the given address alone, within limits of time and bytes. @throws Error for another status than 200, a redirect, too many bytes, no JSON, and after five seconds */
async function fetchJson(url: string, clock: Clock): Promise<unknown> {
  const abort = new AbortController();
  const timer = clock.setTimeout(() => abort.abort(new Error(`no document after ${TIMEOUT_MS} ms`)), TIMEOUT_MS, {
    background: true,
  });
  try {
    const headers = { accept: "application/json, application/jwk-set+json" };
    const response = await fetch(url, { headers, redirect: "manual", signal: abort.signal });
    if (response.status !== 200) throw new Error(`a response with the status ${response.status}`);
    return JSON.parse(await readText(response));
  } finally {
    timer.cancel();
    // Ends a body that was not read.
    abort.abort();
  }
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`a document of more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  // Leaves out a byte order mark, which some servers write.
  return new TextDecoder().decode(Buffer.concat(chunks));
}
