/**
 * The configuration documents of the providers (OpenID Connect Discovery 1.0 section 4): fetched at the first use, stored for an hour, and
 * for longer while the provider does not respond. After a failure the next attempt waits, longer each time.
 */
import type { Clock } from "../../runtime/clock.js";
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

  /** @param load fetches a document, and rejects with `ProviderUnavailableError` */
  constructor(
    private readonly clock: Clock,
    private readonly load: (url: string) => Promise<string>,
  ) {}

  /** @throws ProviderUnavailableError at once while an attempt after a failure waits */
  async get(url: string): Promise<string> {
    const entry = this.findEntry(url);
    const now = this.clock.monotonic();
    if (entry.text === undefined) {
      if (entry.loading === undefined && now < entry.retryAt)
        throw new ProviderUnavailableError("discovery has failed");
      return this.reload(url, entry);
    }
    const isDue = now - entry.loadedAt >= FRESH_MS && now >= entry.retryAt;
    // The document until now serves meanwhile. A failure is tried again.
    if (isDue) this.reload(url, entry).catch(() => {});
    return entry.text;
  }

  /** The document cannot be used: it counts as a failure. */
  discard(url: string): void {
    const entry = this.findEntry(url);
    entry.text = undefined;
    this.fail(entry);
  }

  private reload(url: string, entry: DocumentEntry): Promise<string> {
    return (entry.loading ??= this.loadOnce(url, entry));
  }

  private async loadOnce(url: string, entry: DocumentEntry): Promise<string> {
    try {
      entry.text = await this.load(url);
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

  private findEntry(url: string): DocumentEntry {
    const entry = this.entries.get(url) ?? { loadedAt: 0, failures: 0, retryAt: 0 };
    this.entries.set(url, entry);
    return entry;
  }
}
