/** What can go wrong when logging is set up; nothing of it happens while logging. */
import { FrameworkError } from "../errors/framework-error.js";

/** Codes: `E_LOGGING_INSTALLED`, `E_REDACT_NEEDLE`. */
export class ObserveError extends FrameworkError {}
