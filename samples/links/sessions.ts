import { randomBytes } from "node:crypto";
import { profile, StartupError, type Cache } from "@stagecraft/framework";
import { CsrfConfig, SessionConfig, type SessionStore } from "@stagecraft/framework/session";
import { DatabaseSessionStore } from "@stagecraft/framework/session/db";
import type { LinksDatabase } from "./database.js";
import type { LinksSettings } from "./settings.js";

/** The sessions of the sample, and the protection of its forms. */
export interface Sessions {
  readonly config: SessionConfig;
  readonly csrf: CsrfConfig;
  readonly store: SessionStore | undefined;
}

/**
 * Without a key there is a new one at each start, which ends earlier sessions.
 *
 * @throws StartupError in release without the key, where several instances share the sessions: on a server, by PostgreSQL or by Redis
 */
export async function sessionsFrom(
  { sessionKey: key, databaseUrl }: Pick<LinksSettings, "sessionKey" | "databaseUrl">,
  database: LinksDatabase,
  cache?: Cache,
): Promise<Sessions> {
  const areShared = databaseUrl !== undefined || cache !== undefined;
  if (key === undefined && areShared && profile === "release") throw new StartupError([WITHOUT_KEY]);
  return { ...sessions(key), store: (await redisStore(cache)) ?? new DatabaseSessionStore(database) };
}

export function sessions(key: string | Uint8Array = randomBytes(64)): Sessions {
  const [config, csrf] = [SessionConfig.pages(key), CsrfConfig.pages()];
  // A developer's machine has no TLS.
  return profile === "release"
    ? { config, csrf, store: undefined }
    : { config: config.dev(), csrf: csrf.dev(), store: undefined };
}

const WITHOUT_KEY = {
  code: "LINKS_SETTING",
  what: "there is no key for the sessions, which all instances share",
  where: "SESSION_KEY",
  fix: `set one: node -p 'crypto.randomBytes(64).toString("hex")'`,
};

/** Sessions are read by nearly every request, so they are in Redis where there is one. */
async function redisStore(cache: Cache | undefined): Promise<SessionStore | undefined> {
  if (cache === undefined) return undefined;
  const { RedisSessionStore } = await import("@stagecraft/framework/session/redis");
  return new RedisSessionStore(cache);
}
