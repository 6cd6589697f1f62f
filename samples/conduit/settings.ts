import { AppConfig, environment, variable } from "@stagecraft/framework";
import { randomBytes } from "node:crypto";

/** The settings of the sample, parsed once. A malformed variable is a `StartupError` that names all of them. */
export type Settings = ReturnType<typeof settingsFrom>;

export function settingsFrom(from: NodeJS.ProcessEnv) {
  const given = environment(VARIABLES, from);
  return {
    config: AppConfig.fromEnv({ APP_NAME: "conduit", ...from }),
    tokenKeys: given.TOKEN_KEY ?? randomBytes(64),
    databaseUrl: given.DATABASE_URL,
    databaseFile: given.DATABASE_FILE,
    origins: given.CORS_ORIGINS,
  };
}

const VARIABLES = {
  /** The keys of tokens: the first signs. Without them there is a new one at each start, and earlier tokens are not valid any more. */
  TOKEN_KEY: variable.keys().optional(),
  /** A PostgreSQL. Without it the data is in a file. */
  DATABASE_URL: variable.serverUrl("postgres:", "postgresql:").optional(),
  DATABASE_FILE: variable.text().default("conduit.db"),
  /** Origins whose pages may call the API. */
  CORS_ORIGINS: variable.origin().list(),
};
