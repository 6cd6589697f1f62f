/**
 * Reads environment variables by a table: each variable once, typed, before the application is built. One error names all faults.
 *
 * `AppConfig.fromEnv()` reads the four variables of the framework itself, and `run()` finds the port.
 *
 * @example
 * const settings = environment({
 *   ADMIN_KEY: variable.text().secret().optional(),
 *   CORS_ORIGINS: variable.origin().list(),
 *   REQUESTS_PER_SECOND: variable.integer(1, 10_000).default(50),
 * });
 * settings.REQUESTS_PER_SECOND; // number
 */
import { StartupError, type Diagnostic } from "../errors/diagnostic.js";
import type { Environment } from "./config.js";
import type { Variable } from "./variable.js";
import { publishRead } from "./variable-reads.js";

/** The value of each variable of a table. */
export type EnvironmentValues<V extends Readonly<Record<string, Variable<unknown>>>> = {
  readonly [Name in keyof V]: V[Name] extends Variable<infer T> ? T : never;
};

/**
 * @param from by default the environment of the process, read at the call
 * @throws StartupError with an `E_VARIABLE` diagnostic for every variable that is missing or breaks its rule. It names the variable, the
 * rule and the fix. It shows the text of the variable unless the variable is a secret.
 */
export function environment<V extends Readonly<Record<string, Variable<unknown>>>>(
  variables: V,
  from: Environment = process.env,
): EnvironmentValues<V> {
  const values: Record<string, unknown> = {};
  const diagnostics: Diagnostic[] = [];
  for (const [name, each] of Object.entries(variables)) {
    publishRead({ name, isSecret: each.isSecret, hasDefault: each.hasDefault });
    const reading = each.read(name, from[name]);
    if ("value" in reading) values[name] = reading.value;
    else diagnostics.push(...reading.diagnostics);
  }
  if (diagnostics.length > 0) throw new StartupError(diagnostics);
  // Each name has the value that its variable returned.
  return values as EnvironmentValues<V>;
}
