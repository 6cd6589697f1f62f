/** The entry point `@stagecraft/framework/observe/redact`: the names that redaction withholds, and the test by name. */
export { apply, DENY_LIST, isSensitive, REDACTED } from "../observe/logging/redaction.js";
