import { randomBytes, randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { profile, StartupError, type Cache } from "@stagecraft/framework";
import { CsrfConfig, SessionConfig, type SessionStore } from "@stagecraft/framework/session";
import { DatabaseSessionStore } from "@stagecraft/framework/session/db";
import type { LinksDatabase } from "./database.js";
import { translate } from "./languages.js";
import type { LinksSettings } from "./settings.js";

/** The sessions of the sample, the protection of its forms, and their key, from which the other secrets of people derive too. */
export interface Sessions {
  readonly key: string | Uint8Array;
  readonly config: SessionConfig;
  readonly csrf: CsrfConfig;
  readonly store: SessionStore | undefined;
}

/**
 * Without a key the first start writes one beside the file of the database: a new one at each start would end the second steps of people.
 *
 * @throws StartupError in release without the key, where several instances share the sessions: on a server, by PostgreSQL or by Redis
 */
export async function sessionsFrom(
  { sessionKey, databaseUrl, databaseFile }: Pick<LinksSettings, "sessionKey" | "databaseUrl" | "databaseFile">,
  database: LinksDatabase,
  cache?: Cache,
): Promise<Sessions> {
  const areShared = databaseUrl !== undefined || cache !== undefined;
  if (sessionKey === undefined && areShared && profile === "release") throw new StartupError([WITHOUT_KEY]);
  const key = sessionKey ?? (databaseFile === ":memory:" ? undefined : await readKey(`${databaseFile}.key`));
  return { ...sessions(key), store: (await redisStore(cache)) ?? new DatabaseSessionStore(database) };
}

export function sessions(key: string | Uint8Array = randomBytes(64)): Sessions {
  const [config, csrf] = [
    SessionConfig.pages(key),
    CsrfConfig.pages().expiredMessage((ctx) => translate(ctx, "flash-page-expired")),
  ];
  // A developer's machine has no TLS.
  return profile === "release"
    ? { key, config, csrf, store: undefined }
    : { key, config: config.dev(), csrf: csrf.dev(), store: undefined };
}

/** The file appears whole: of two processes that start at once, both get the key of the first. */
async function readKey(file: string): Promise<string> {
  const written = `${file}.${randomUUID()}`;
  await writeFile(written, randomBytes(64).toString("hex"), { mode: 0o600 });
  await link(written, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(written);
  return readFile(file, "utf8");
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
