/**
 * The option `idempotent` of an endpoint: a client may send a request with the same `Idempotency-Key` again, and gets the same response,
 * while the handler runs once. The code and the store are on the server: `Idempotency` of `@stagecraft/framework/idempotency`.
 *
 * @example
 * Post("/", { guards: [signedIn], body: NewOrder, idempotent: true });
 * Post("/", { guards: [signedIn], body: NewOrder, idempotent: { required: true, ttlMs: 3_600_000 } });
 */
import { checkOptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import { checkWholeNumber } from "../errors/whole-number.js";

export interface IdempotentOptions {
  /** A request without a key is refused with 400. Unless set, such a request runs as on any other endpoint. */
  readonly required?: boolean;
  /** The lifetime of a key and its response, in milliseconds from 1000 to 2,592,000,000 (30 days); 24 hours unless set. */
  readonly ttlMs?: number;
}

/** The option with its defaults. */
export interface Idempotent {
  readonly required: boolean;
  readonly ttlMs: number;
}

const DEFAULT_TTL_MS = 86_400_000;
const MIN_TTL_MS = 1000;
const MAX_TTL_MS = 2_592_000_000;

/** @throws FrameworkError `E_OPTION` @internal */
export function toIdempotent(given: unknown, where: string): Idempotent {
  if (given !== true && (typeof given !== "object" || given === null)) throw optionError(where, given);
  const options: IdempotentOptions = given === true ? {} : given;
  checkOptionNames<IdempotentOptions>(options, { required: true, ttlMs: true }, `${where}: idempotent`);
  const { required = false, ttlMs = DEFAULT_TTL_MS } = options;
  if (typeof required !== "boolean") throw optionError(where, given);
  checkWholeNumber("E_OPTION", `${where}: ttlMs of idempotent`, ttlMs, [MIN_TTL_MS, MAX_TTL_MS]);
  return Object.freeze({ required, ttlMs });
}

function optionError(where: string, given: unknown): Error {
  return createSetupError("E_OPTION", `${where}: idempotent is true or { required, ttlMs }, not ${valueText(given)}`);
}
