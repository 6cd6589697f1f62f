/**
 * The access tokens of persons at a provider with `keepTokens`, for the calls that the application makes there. They are encrypted in the row
 * of the account. A token that is about to expire is refreshed: of all processes one at a time does it for an account, and the others wait
 * for it, because many providers revoke a refresh token that is used twice.
 *
 * @example
 * const found = await this.tokens.getAccessToken(ctx.identity.userId, "google");
 * if (found.kind !== "token") return redirect().route(account.startProvider, { provider: "google" });
 */
import { Encrypter } from "../../crypto/encrypter.js";
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import { Clock, sleep } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthSettings } from "../auth-settings.js";
import { ProviderAccounts, type StoredTokens } from "../provider-accounts.js";
import { OAuthSettings } from "./oauth-settings.js";
import type { OAuthProvider } from "./provider.js";
import { ProviderClients, ProviderRefusalError, type ProviderTokenValues } from "./provider-clients.js";

const log = tracing.target("framework::auth");

/**
 * `missing`: the person has no account at the provider, or its tokens are not stored. `expired`: the person has to sign in there again.
 * `unavailable`: the provider does not respond.
 */
export type AccessTokenResult =
  | {
      readonly kind: "token";
      /** A secret. */
      readonly accessToken: string;
    }
  | { readonly kind: "missing" | "expired" | "unavailable" };

/** Longer than a refresh may take. */
const LEASE_MS = 90_000;
const POLL_MS = 100;
/** A token that expires while a request is on its way is of no use. */
const MARGIN_MS = 60_000;
/** What each database keeps in a text. */
const MAX_LENGTH = 60_000;
/** Ten years: a database has no larger times. */
const MAX_LIFETIME_S = 315_360_000;

const MISSING: AccessTokenResult = { kind: "missing" };
const EXPIRED: AccessTokenResult = { kind: "expired" };
const UNAVAILABLE: AccessTokenResult = { kind: "unavailable" };

type AccountTokens = Pick<ProviderTokenValues, "accessToken" | "refreshToken">;

export class ProviderTokens {
  /** @internal */
  static readonly [PROVIDED_BY] = "...oauth({ providers, callback })";
  protected readonly settings = inject(OAuthSettings);
  protected readonly accounts = inject(ProviderAccounts);
  protected readonly clients = inject(ProviderClients);
  private readonly clock = inject(Clock);
  private readonly encrypter = new Encrypter(inject(AuthSettings).keys);
  private readonly running = new Map<string, Promise<AccessTokenResult>>();

  /**
   * @param provider the name of the provider
   * @throws NotFoundError (404) for a name that `oauth()` does not have
   */
  async getAccessToken(userId: string, provider: string): Promise<AccessTokenResult> {
    const found = this.settings.requireProvider(provider);
    const account = (await this.accounts.listOfUser(userId)).findLast((each) => each.provider === provider);
    if (account === undefined) return MISSING;
    const { id } = account;
    const running = this.running.get(id) ?? this.read(found, id).finally(() => this.running.delete(id));
    this.running.set(id, running);
    return running;
  }

  /** Stores the tokens of a sign-in. Many providers give a refresh token at the first one alone. @internal */
  async keep(id: string, tokens: ProviderTokenValues): Promise<void> {
    const stored = tokens.refreshToken === undefined ? await this.accounts.findTokens(id) : undefined;
    const { refreshToken } = (stored && this.decrypt(id, stored)) ?? {};
    if (stored === undefined || refreshToken === undefined) {
      await this.accounts.setTokens(id, this.encrypt(id, tokens));
      return;
    }
    const now = this.clock.now();
    const until = now + LEASE_MS;
    // Without the lease another process is about to replace the refresh token.
    if (await this.accounts.leaseTokens(id, { version: stored.version, now, until }))
      await this.accounts.setTokens(id, this.encrypt(id, { ...tokens, refreshToken }), until);
  }

  private async read(provider: OAuthProvider, id: string): Promise<AccessTokenResult> {
    const deadline = this.clock.monotonic() + 2 * this.settings.timeoutMs;
    for (;;) {
      const stored = await this.accounts.findTokens(id);
      const tokens = stored && this.decrypt(id, stored);
      if (stored === undefined || tokens === undefined) return MISSING;
      const now = this.clock.now();
      if ((stored.expiresAt ?? Infinity) - now > MARGIN_MS) return { kind: "token", accessToken: tokens.accessToken };
      if (tokens.refreshToken === undefined) return EXPIRED;
      const until = now + LEASE_MS;
      if (await this.accounts.leaseTokens(id, { version: stored.version, now, until }))
        return this.refresh(provider, { id, stored, until, refreshToken: tokens.refreshToken });
      if (this.clock.monotonic() > deadline) return UNAVAILABLE;
      await sleep(this.clock, POLL_MS);
    }
  }

  private async refresh(
    provider: OAuthProvider,
    { id, stored, until, refreshToken }: { id: string; stored: StoredTokens; until: number; refreshToken: string },
  ): Promise<AccessTokenResult> {
    let current: Omit<StoredTokens, "version"> | undefined = stored;
    try {
      const tokens = await this.clients.refresh(provider, refreshToken);
      current = this.encrypt(id, tokens);
      await this.accounts.setTokens(id, current, until);
      return { kind: "token", accessToken: tokens.accessToken };
    } catch (error) {
      const isRefused = error instanceof ProviderRefusalError && error.reason === "invalid_grant";
      // The lease ends; a refresh token that the provider refuses goes, and one that the database has not taken is tried again.
      await this.accounts.setTokens(id, isRefused ? undefined : current, until);
      if (!isRefused) log.warn("refresh of a token failed", { provider: provider.name, reason: toReason(error) });
      return isRefused ? EXPIRED : UNAVAILABLE;
    }
  }

  /** `undefined` for tokens that are too long. */
  private encrypt(id: string, { accessToken, refreshToken, lifetimeS }: ProviderTokenValues) {
    const values: AccountTokens = { accessToken, refreshToken };
    const tokens = this.encrypter.encrypt(JSON.stringify(values), toContext(id));
    if (tokens.length > MAX_LENGTH) {
      log.warn("tokens of a provider are too long to be stored", { account: id });
      return undefined;
    }
    if (lifetimeS === undefined) return { tokens, expiresAt: undefined };
    return { tokens, expiresAt: this.clock.now() + Math.round(Math.min(lifetimeS, MAX_LIFETIME_S) * 1000) };
  }

  private decrypt(id: string, { tokens }: StoredTokens): AccountTokens | undefined {
    const text = this.encrypter.decrypt(tokens, toContext(id));
    if (text === undefined) log.error("tokens of a provider: no key decrypts them", { account: id });
    // Only `encrypt` encrypts in this context.
    return text === undefined ? undefined : (JSON.parse(text) as AccountTokens);
  }
}

function toContext(id: string) {
  return { context: `framework_provider_accounts.tokens ${id}` };
}

/** For a log. */
export function toReason(error: unknown): string {
  const reason: unknown = Reflect.get(Object(error), "reason");
  return typeof reason === "string" ? reason : "unexpected";
}
