/**
 * The port of the stores that share the state of a `Maintenance` between processes, and the state with its text. A store keeps one state.
 * Each process reads it once a second, and the command `stagecraft down` writes it.
 *
 * Not for an application of one process whose own code switches the maintenance: that needs no store.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";

/** The stored state. */
export interface MaintenanceState {
  readonly isEngaged: boolean;
  /** When it was last switched, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** Who switched it, such as `deploy@web-1`; at most 255 characters. */
  readonly by: string;
  /** The value of `Retry-After`, in whole seconds. Without it each process sends the value of its `Maintenance`. */
  readonly retryAfter?: number | undefined;
}

/** Each call settles: a store whose server is away rejects within a bounded time. */
export abstract class MaintenanceStore {
  /** The name in events and messages, such as `the file /srv/shop/maintenance.json`. */
  abstract readonly name: string;

  /** The database or the cache that it works with. The application starts and stops it. */
  get subsystems(): readonly Subsystem[] {
    return [];
  }

  /** `undefined` if no state was ever written. Rejects if the store is away, or has another value than a state. */
  abstract read(): Promise<MaintenanceState | undefined>;

  /** Replaces the state in one step. Rejects if the store is away; the state may be written then. */
  abstract write(state: MaintenanceState): Promise<void>;
}

/** The limit of the text of a state, in bytes. */
export const MAX_STATE_BYTES = 2000;

const MAX_BY_LENGTH = 255;
const CONTROL = /\p{Cc}/gu;

export function formatState({ isEngaged, since, by, retryAfter }: MaintenanceState): string {
  const time = new Date(since).toISOString();
  return JSON.stringify({ engaged: isEngaged, since: time, by: toLine(by), retryAfter });
}

/**
 * Reads the text of a state. Other programs may write the store too.
 *
 * @param store the name of the store, for the message
 * @throws FrameworkError `E_MAINTENANCE_STATE`
 */
export function parseState(text: string, store: string): MaintenanceState {
  const state = text.length > MAX_STATE_BYTES ? undefined : toState(parseJson(text));
  if (state !== undefined) return state;
  throw new FrameworkError(
    `${store} has a value that is no state of a maintenance: write it anew with stagecraft down or stagecraft up`,
    { code: "E_MAINTENANCE_STATE", status: 503 },
  );
}

function toState(value: unknown): MaintenanceState | undefined {
  const { engaged, since, by, retryAfter }: Readonly<Record<string, unknown>> = Object(value);
  const time = typeof since === "string" ? Date.parse(since) : Number.NaN;
  if (typeof engaged !== "boolean" || Number.isNaN(time) || typeof by !== "string") return undefined;
  if (retryAfter !== undefined && !isSeconds(retryAfter)) return undefined;
  return { isEngaged: engaged, since: time, by: toLine(by), retryAfter };
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** A terminal and a log show it. */
function toLine(text: string): string {
  return text.replaceAll(CONTROL, " ").slice(0, MAX_BY_LENGTH);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
