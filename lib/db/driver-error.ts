/**
 * An error that a driver itself throws: no connection in time, a lost connection, a refused bind. The application gets its failure as a
 * `DatabaseError`. It has no value and no password.
 *
 * Not for errors of an engine: `driver.failure` reads those.
 */
import type { DriverFailure } from "./driver.js";

export class DriverError extends Error {
  constructor(readonly failure: DriverFailure) {
    super(failure.text ?? failure.kind);
    this.name = "DriverError";
  }
}

/** @param holder the process or connection that holds the lock, if the engine knows it */
export function migrationLockError(holder = "another process"): DriverError {
  const text = `the lock of the migrations is held by ${holder}`;
  return new DriverError({ kind: "busy", code: "MIGRATION_LOCK", text });
}

export function lostConnectionError(address: string, error: unknown): DriverError {
  const text = `the connection to ${address} was lost`;
  return new DriverError({ kind: "connection", code: findErrorCode(error), text });
}

/** The code of an error of Node or of the package of an engine. */
export function findErrorCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^\w+$/.test(code) ? code : undefined;
}
