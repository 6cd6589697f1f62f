/**
 * The configuration documents of the providers (OpenID Connect Discovery 1.0 section 4): fetched at the first use, stored for an hour, and
 * for longer while the provider does not respond, or not with a usable document. After a failure the next attempt waits, longer each time.
 */
import type { Clock } from "../../runtime/clock.js";
import type { OAuthProvider } from "./provider.js";
import { ProviderUnavailableError } from "./provider-clients.js";

const FRESH_MS = 3_600_000;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

interface DocumentEntry {
  text?: string | undefined;
  loadedAt: number;
  failures: number;
  retryAt: number;
  loading?: Promise<string> | undefined;
}

export class DiscoveryDocuments {
  private readonly entries = new Map<string, DocumentEntry>();

  /** @param load fetches a document and checks it, and rejects with `ProviderUnavailableError` */
  constructor(
    private readonly clock: Clock,
    private readonly load: (provider: OAuthProvider) => Promise<string>,
  ) {}

  /** @throws ProviderUnavailableError at once while an attempt after a failure waits */
  async get(provider: OAuthProvider): Promise<string> {
    const entry = this.findEntry(provider.issuer);
    const now = this.clock.monotonic();
    if (entry.text === undefined) {
      if (entry.loading === undefined && now < entry.retryAt)
        throw new ProviderUnavailableError("discovery has failed");
      return this.reload(provider, entry);
    }
    const isDue = now - entry.loadedAt >= FRESH_MS && now >= entry.retryAt;
    // The document until now serves meanwhile. A failure is tried again.
    if (isDue) this.reload(provider, entry).catch(() => {});
    return entry.text;
  }

  private reload(provider: OAuthProvider, entry: DocumentEntry): Promise<string> {
    return (entry.loading ??= this.loadOnce(provider, entry));
  }

  private async loadOnce(provider: OAuthProvider, entry: DocumentEntry): Promise<string> {
    try {
      entry.text = await this.load(provider);
      entry.loadedAt = this.clock.monotonic();
      entry.failures = 0;
      return entry.text;
    } catch (error) {
      this.fail(entry);
      throw error;
    } finally {
      entry.loading = undefined;
    }
  }

  private fail(entry: DocumentEntry): void {
    const wait = Math.min(FIRST_WAIT_MS * 2 ** entry.failures, MAX_WAIT_MS);
    entry.failures++;
    entry.retryAt = this.clock.monotonic() + wait;
  }

  private findEntry(issuer: string): DocumentEntry {
    const entry = this.entries.get(issuer) ?? { loadedAt: 0, failures: 0, retryAt: 0 };
    this.entries.set(issuer, entry);
    return entry;
  }
}
