/**
 * Refresh tokens beside short access tokens (RFC 6749 section 6, RFC 9700 section 4.14.2): each use replaces the token. Requests at the same
 * time get the same successor, because the token before the current one counts for a minute. After that it is a copy, and its family ends.
 *
 * @example
 * @session.refresh async refresh({ input }: ContextOf<typeof session.refresh>) {
 *   const tokens = await this.refreshTokens.refresh(input.body.refresh_token);
 *   return tokens ?? Reply.json({ error: "invalid_grant" }, 400);
 * }
 */
import { type Binding, provide } from "../../di/provide.js";
import { inject } from "../../di/construction/inject.js";
import type { InjectionToken } from "../../di/token.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import { checkOptionNames } from "../../errors/option-names.js";
import type { SecretKeyMaterial } from "../../errors/secret-keys.js";
import { Clock } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { RotatedTokens, rotateToken } from "../rotated-token.js";
import { type RefreshFamily, RefreshTokenStore } from "./refresh-token-store.js";
import { TokenIssuer } from "./token-issuer.js";
import { IdentitySubjects, TokenSubjects } from "./token-subjects.js";
import { checkNumber } from "./verification-options.js";

const log = tracing.target("framework::auth");

const PURPOSE = "stagecraft refresh token 1";
const DAY_MS = 86_400_000;

export interface RefreshTokenOptions {
  /** 128 hexadecimal characters, or a list of them: the first signs, all verify. */
  readonly keys: SecretKeyMaterial;
  /** How long a token is valid after its last use: 2 592 000 000 unless set, which is 30 days. */
  readonly lifetimeMs?: number;
  /** The class that extends `TokenSubjects`, which a module lists too; `IdentitySubjects` unless set. */
  readonly subjects?: InjectionToken<TokenSubjects>;
}

export interface NewRefreshToken {
  readonly scopes?: readonly string[];
  readonly clientId?: string | undefined;
}

/** The response of a token endpoint (RFC 6749 section 5.1). Send it with `Cache-Control: no-store`. */
export interface IssuedTokens {
  readonly access_token: string;
  readonly token_type: "Bearer";
  /** Seconds. */
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: string;
}

export class RefreshTokens {
  /** @internal */
  static readonly [PROVIDED_BY] = "...refreshTokens({ keys })";
  protected readonly issuer = inject(TokenIssuer);
  protected readonly store = inject(RefreshTokenStore);
  protected readonly subjects = inject(TokenSubjects);
  private readonly clock = inject(Clock);

  /** @internal `refreshTokens()` creates it. */
  constructor(
    private readonly tokens: RotatedTokens,
    private readonly lifetimeMs: number,
  ) {}

  /**
   * Starts a family, after a sign-in. `undefined` for a subject who may not act.
   *
   * @param subject 1 to 64 characters
   * @throws ValidationError (422) at `scopes` for a scope that is no word
   */
  async start(subject: string, { scopes = [], clientId }: NewRefreshToken = {}): Promise<IssuedTokens | undefined> {
    const stamp = await this.subjects.findStamp(subject);
    if (stamp === undefined) return undefined;
    const now = this.clock.now();
    const times = { createdAt: now, rotatedAt: now, expiresAt: now + this.lifetimeMs };
    const family = {
      selector: RotatedTokens.createSelector(),
      subject,
      clientId,
      scopes,
      stamp,
      generation: 0,
      ...times,
    };
    const tokens = await this.respond(family, 0);
    await this.store.insert(family);
    return tokens;
  }

  /**
   * The successor and a new access token; `undefined` for a text that is no valid token.
   *
   * @param text any text of a client
   * @param clientId the program that sends it, where programs identify themselves: the token of another one is refused
   */
  async refresh(text: string, clientId?: string): Promise<IssuedTokens | undefined> {
    const received = this.tokens.parse(text);
    const now = this.clock.now();
    const family = received && (await this.store.find(received.selector, now));
    if (received === undefined || family === undefined) return refuse("unknown");
    if (clientId !== undefined && family.clientId !== clientId) return refuse("client", family);
    if ((await this.subjects.findStamp(family.subject)) !== family.stamp) return refuse("stamp", family);
    const next = await rotateToken(this.store, family, received, { now, lifetimeMs: this.lifetimeMs });
    if (typeof next === "number") return this.respond(family, next);
    if (next === undefined) return refuse("generation", family);
    log.warn("refresh token used twice: its family ends", { subject: family.subject });
    await this.store.delete(family.selector);
    return undefined;
  }

  /** Ends the family of a token, for a sign-out (RFC 7009). Access tokens count until they expire. */
  async revoke(text: string): Promise<void> {
    const received = this.tokens.parse(text);
    if (received !== undefined) await this.store.delete(received.selector);
  }

  /** Ends all families of a subject. Returns their number. */
  revokeAll(subject: string): Promise<number> {
    return this.store.deleteOfSubject(subject);
  }

  private async respond({ selector, ...family }: RefreshFamily, generation: number): Promise<IssuedTokens> {
    const { subject, scopes, clientId } = family;
    return {
      access_token: await this.issuer.issue(subject, { scopes, clientId }),
      token_type: "Bearer",
      expires_in: Math.floor(this.issuer.lifetimeMs / 1000),
      refresh_token: this.tokens.format({ selector, generation }),
      scope: scopes.join(" "),
    };
  }
}

/**
 * Refresh tokens, as a list of bindings after those of `tokenIssuing()`. The store is among those of `authDatabase()`.
 *
 * @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION`, `E_CRYPTO_KEY`
 */
export function refreshTokens(options: RefreshTokenOptions): readonly Binding[] {
  checkOptionNames(options, { keys: true, lifetimeMs: true, subjects: true }, "refreshTokens");
  const { keys, lifetimeMs = 30 * DAY_MS, subjects } = options;
  checkNumber("lifetimeMs", lifetimeMs, 1000, 365 * DAY_MS);
  const tokens = new RotatedTokens(keys, PURPOSE);
  const bound = provide(TokenSubjects);
  return [
    subjects === undefined ? bound.useClass(IdentitySubjects) : bound.useFactory((resolve) => resolve(subjects)),
    provide(RefreshTokens).useFactory(() => new RefreshTokens(tokens, lifetimeMs)),
  ];
}

/** A refusal is no secret: nothing of the token is in the log. */
function refuse(reason: string, family?: RefreshFamily): undefined {
  log.info("refresh token refused", { reason, ...(family && { subject: family.subject }) });
}
