/**
 * An error that a driver makes itself: no connection in time, a lost connection, a refused bind. Its failure goes to the application as a
 * `DatabaseError`. It holds no value and no password.
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
