/** Sessions and API tokens that a test creates in the stores of the application: with values, or of a user who has signed in. */
import { randomBytes } from "node:crypto";
import type { Application } from "../app/application.js";
import { Identities } from "../auth/identities.js";
import type { Issuer } from "../auth/jwt/bearer.js";
import { IDENTITY, type SessionIdentity, UNCHECKED } from "../auth/session-identity.js";
import { ApiTokens } from "../auth/tokens/api-tokens.js";
import type { Clock } from "../runtime/clock.js";
import { SessionCookie } from "../stages/session/session-cookie.js";
import { SessionLayer } from "../stages/session/session-layer.js";
import { toStoreKey } from "../stages/session/session.js";
import { serializeOwner, serializeValue } from "../stages/session/session-value.js";
import { OWNER_NAME } from "../stages/session/stores/session-store.js";
import { createFailure } from "./failure.js";
import { type AnyRequestOptions, TestClient, type TestResponse } from "./test-client.js";
import { copyHeaders, type Transport } from "./transport.js";

export interface ActingUser {
  readonly userId: string;
  /** The default is the address of the identity, or one of `example.org` without an identity. */
  readonly email?: string;
}

export interface ActingOptions {
  /** The scopes of a token, which the client then sends in place of a session: an API token, or an access token of `issuer`. */
  readonly scopes?: readonly string[];
  /** The client sends an access token of this issuer in place of a session. */
  readonly issuer?: Issuer;
  /** Further claims of the access token. They may replace those of the standard. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

type SessionTexts = ReadonlyMap<string, string>;

export function serializeValues(values: Readonly<Record<string, unknown>>): SessionTexts {
  return new Map(Object.entries(values).map(([name, value]) => [name, serializeValue(name, value)]));
}

/**
 * Creates a session in the application's store. Returns the `Set-Cookie` line of its cookie.
 *
 * @throws AssertionError if the application has no sessions
 */
export async function createSession(application: Application, clock: Clock, texts: SessionTexts): Promise<string> {
  const [layer] = application.layersAt("session");
  if (!(layer instanceof SessionLayer))
    throw createFailure("the application has no sessions: add them with .session(…)");
  const { cookie, store, idleMs, absoluteMs } = layer.settings;
  const id = SessionCookie.createId();
  const now = clock.now();
  await store.create(toStoreKey(id), texts, { now, startedAt: now, idleMs, absoluteMs, renew: true });
  return cookie.formatSetCookie(id, Math.min(idleMs, absoluteMs));
}

/** What a sign-in with the password leaves in the session. */
export async function findSignedInValues(
  application: Application,
  clock: Clock,
  { userId, email }: ActingUser,
): Promise<SessionTexts> {
  const identity = await application.resolve(Identities).find(userId);
  const now = clock.now();
  const value: SessionIdentity = {
    userId,
    email: email ?? identity?.email ?? `${userId}@example.org`,
    isVerified: identity?.isVerified ?? true,
    signInId: randomBytes(16).toString("hex"),
    stamp: identity?.stamp ?? "",
    method: "password",
    signedInAt: now,
    confirmedAt: now,
    checkedAt: identity === undefined ? UNCHECKED : now,
  };
  return new Map([
    [IDENTITY.name, serializeValue(IDENTITY.name, value)],
    [OWNER_NAME, serializeOwner(userId)],
  ]);
}

/** The client of a program that acts for a user by a token, without cookies. */
export class TokenClient extends TestClient {
  constructor(
    transport: Transport,
    clock: Clock,
    private readonly text: string,
  ) {
    super(transport, clock);
  }

  /** A request that sets the header itself is sent as it is. */
  override request(path: string, options: AnyRequestOptions = {}): Promise<TestResponse> {
    const headers = copyHeaders(options.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${this.text}`);
    return super.request(path, { ...options, headers });
  }
}

/** Creates a token as the application does, so that a test finds the mistakes of its replaced flow and store. Returns the text. */
export async function createTestToken(
  application: Application,
  userId: string,
  scopes: readonly string[],
): Promise<string> {
  const { text } = await application.resolve(ApiTokens).create(userId, { name: "test", scopes });
  return text;
}
