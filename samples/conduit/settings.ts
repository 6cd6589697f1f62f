import { AppConfig, environment, variable } from "@stagecraft/framework";
import { randomBytes } from "node:crypto";

/** The settings of the sample, parsed once. A malformed variable is a `StartupError` that names all of them. */
export type Settings = ReturnType<typeof settingsFrom>;

export function settingsFrom(from: NodeJS.ProcessEnv) {
  const given = environment(VARIABLES, from);
  return {
    config: AppConfig.fromEnv({ APP_NAME: "conduit", ...from }),
    tokenKey: given.TOKEN_KEY ?? randomBytes(32).toString("hex"),
    databaseUrl: given.DATABASE_URL,
    databaseFile: given.DATABASE_FILE,
    origins: given.CORS_ORIGINS,
  };
}

const KEY_FIX = "make one with openssl rand -hex 32";

/** From one signed token a client can guess a short key. */
function checkKey(text: string): string | undefined {
  return text.length >= 32 ? text : undefined;
}

const VARIABLES = {
  /** The key that signs tokens. Without it there is a new one at each start, and earlier tokens are not valid any more. */
  TOKEN_KEY: variable.rule("a key of 32 characters or more", checkKey, KEY_FIX).secret().optional(),
  /** A PostgreSQL. Without it the data is in a file. */
  DATABASE_URL: variable.serverUrl("postgres:", "postgresql:").optional(),
  DATABASE_FILE: variable.text().default("conduit.db"),
  /** Origins whose pages may call the API. */
  CORS_ORIGINS: variable.origin().list(),
};
