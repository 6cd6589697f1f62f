/**
 * The API tokens of users: they let a program act for a user, with the scopes that the user has chosen. `create` returns the text of a token
 * once, and the store has its hash alone. The guard `apiToken(scope)` checks the tokens of requests.
 *
 * Not for the sessions of browsers, nor for a token of another issuer.
 *
 * @example
 * @tokens.create
 * async create({ identity, input }: ContextOf<typeof tokens.create>) {
 *   const { text, token } = await this.apiTokens.create(identity.userId, input.body);
 *   return Reply.json({ text, id: token.id }, 201);
 * }
 */
import { randomBytes } from "node:crypto";
import { inject } from "../../di/construction/inject.js";
import { markListed } from "../../di/unlisted.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import { ConflictError, FrameworkError, UnavailableError } from "../../errors/framework-error.js";
import { describeThrown } from "../../errors/thrown-value.js";
import { event } from "../../events/event.js";
import { Events } from "../../events/events.js";
import { On } from "../../events/on.js";
import { currentCommitScope } from "../../lifecycle/commit-scope.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthSettings } from "../auth-settings.js";
import { AuthUsers } from "../auth-users.js";
import { CredentialNotices } from "../credential-notices.js";
import type { TokenIdentity } from "../guards.js";
import { Identities } from "../identities.js";
import { type ApiToken, ApiTokenStore } from "./api-token-store.js";
import { checkNewToken, type NewToken } from "./new-token.js";
import { type SeenToken, SeenTokens } from "./seen-tokens.js";
import { createTokenText, hasChecksum, isTokenLike, toTokenHash } from "./token-text.js";

const log = tracing.target("framework::auth");

/** With those that have expired and are not deleted yet. */
const MAX_PER_USER = 100;
/** The last use of a token is stored at most once in this time: one minute. */
const USED_EVERY_MS = 60_000;
const ID = /^[\da-f]{32}$/;

/** A token with its text, which is a secret and is not stored. */
export interface CreatedToken {
  readonly text: string;
  readonly token: ApiToken;
}

interface TokenUse {
  readonly tokenId: string;
  readonly usedAt: number;
}

const tokenUsed = event<TokenUse>("framework.auth.token-used");

export class ApiTokens {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  static {
    // `authentication()` provides it, also in a program that imports this file for another reason.
    markListed(this);
  }

  protected readonly settings = inject(AuthSettings);
  protected readonly users = inject(AuthUsers);
  protected readonly store = inject(ApiTokenStore);
  protected readonly identities = inject(Identities);
  protected readonly notices = inject(CredentialNotices);
  private readonly events = inject(Events);
  private readonly seen = new SeenTokens();

  /**
   * The owner gets a notice, in the same transaction.
   *
   * @param userId the id of the user for whom a program acts
   * @throws ValidationError (422) for a name, scopes or a time that cannot be stored; ConflictError (409) if the user has 100 tokens
   */
  async create(userId: string, values: NewToken): Promise<CreatedToken> {
    const createdAt = this.settings.clock.now();
    const checked = checkNewToken(values, createdAt);
    const id = randomBytes(16).toString("hex");
    const token = { ...checked, id, userId, createdAt, lastUsedAt: undefined };
    const text = createTokenText(this.prefix);
    await this.identities.transaction(async () => {
      if (!(await this.store.insert({ token, hash: toTokenHash(text), max: MAX_PER_USER })))
        throw new ConflictError("You have too many tokens. Revoke one first.", { code: "E_AUTH_TOKENS" });
      const owner = await this.identities.find(userId);
      if (owner !== undefined) await this.notices.send(owner.email, "api-token-created", values.language);
    });
    log.info("API token created", { user_id: userId, id: id });
    return { text, token };
  }

  /** The tokens of a user, the latest first, with those that have expired in the last 30 days. */
  list(userId: string): Promise<readonly ApiToken[]> {
    return this.store.listOfUser(userId);
  }

  /**
   * Ends a token: in this process at once, in others within five seconds.
   *
   * @param id any text of a client
   * @returns false if the user has no such token
   */
  async revoke(userId: string, id: string): Promise<boolean> {
    if (!ID.test(id)) return false;
    const isRevoked = await this.remove(
      () => this.store.delete(userId, id),
      ({ tokenId }) => tokenId === id,
    );
    if (isRevoked) log.info("API token revoked", { user_id: userId, id: id });
    return isRevoked;
  }

  /** Ends all tokens of a user, for one who is deleted. Returns their number. */
  async revokeAll(userId: string): Promise<number> {
    const count = await this.remove(
      () => this.store.deleteOfUser(userId),
      (identity) => identity.userId === userId,
    );
    if (count > 0) log.info("API tokens revoked", { user_id: userId, count });
    return count;
  }

  /**
   * The user and the scopes of a token; `undefined` for a text that is no valid token, and for the token of a user who may not sign in.
   *
   * @param text any text of a client
   * @throws UnavailableError (503) or the error of the database if the token cannot be read
   */
  async verify(text: string): Promise<TokenIdentity | undefined> {
    if (!isTokenLike(text, this.prefix)) return refuse("form");
    const { clock } = this.settings;
    const hash = toTokenHash(text);
    const now = clock.monotonic();
    const seen = this.seen.find(hash, now) ?? (await this.read(text, hash, now));
    if (seen === undefined) return undefined;
    const { identity, expiresAt } = seen;
    if (clock.now() >= expiresAt) return refuse("expired", identity);
    this.noteUse(seen);
    return identity;
  }

  /** Stores the last use, after the response. A failure concerns no request. @internal */
  @On(tokenUsed, { afterResponse: true })
  async storeUse({ tokenId, usedAt }: TokenUse): Promise<void> {
    try {
      await this.store.setUsed(tokenId, usedAt, USED_EVERY_MS);
    } catch (error) {
      log.warn("last use of an API token not stored", { id: tokenId, ...describeThrown(error) });
    }
  }

  private get prefix(): string {
    return this.settings.tokenPrefix;
  }

  private async read(text: string, hash: string, now: number): Promise<SeenToken | undefined> {
    if (!hasChecksum(text)) return refuse("checksum");
    return callStore(() => this.seen.read(hash, now, () => this.findSeen(hash)));
  }

  private async findSeen(hash: string): Promise<SeenToken | undefined> {
    const token = await this.store.findByHash(hash);
    if (token === undefined) return refuse("unknown");
    const { id: tokenId, userId, scopes, expiresAt = Infinity, lastUsedAt = 0 } = token;
    // Many requests share it, and a handler of one of them must not change it.
    const identity = Object.freeze({ userId, tokenId, scopes: Object.freeze([...scopes]) });
    if (!(await this.users.canSignIn(userId))) return refuse("user", identity);
    return { identity, expiresAt, usedAt: lastUsedAt };
  }

  private noteUse(seen: SeenToken): void {
    const usedAt = this.settings.clock.now();
    if (usedAt - seen.usedAt < USED_EVERY_MS) return;
    seen.usedAt = usedAt;
    // It never rejects, and the request does not wait for it.
    void this.events.emit(tokenUsed, { tokenId: seen.identity.tokenId, usedAt });
  }

  /** Also after a failure, whose outcome may be unknown, and again after the commit: until then a query finds the row. */
  private async remove<T>(deleteRows: () => Promise<T>, isRemoved: (identity: TokenIdentity) => boolean): Promise<T> {
    try {
      return await deleteRows();
    } finally {
      this.seen.removeWhere(isRemoved);
      currentCommitScope()?.afterCommit(() => this.seen.removeWhere(isRemoved));
    }
  }
}

/** A refusal is no secret: neither the text nor its hash is in the log. */
function refuse(reason: string, identity?: TokenIdentity): undefined {
  const fields = identity && { user_id: identity.userId, id: identity.tokenId };
  log.info("API token refused", { reason, ...fields });
}

/** The errors of a database have a status. A store that fails must not look like a token that is not valid. */
async function callStore<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof FrameworkError) throw cause;
    throw new UnavailableError("Tokens cannot be checked now. Please try again shortly.", { cause });
  }
}
