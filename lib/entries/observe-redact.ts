/** The entry point `@stagecraft/framework/observe/redact`: the names whose values are redacted, and the test by name. */
export { apply, DENY_LIST, isSensitive, REDACTED } from "../observe/logging/redaction.js";
