/** Adds the stages that identify, log and count a request and respond to its errors. */
import type { ApplicationBuilder } from "../../lib/entries/main.js";

export function withObservability(builder: ApplicationBuilder): ApplicationBuilder {
  return builder.requestId().traceContext().accessLog().metrics().catchPanic().errorMapping();
}
