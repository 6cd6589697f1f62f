/** The stages that identify, write down and count a request and answer its failures: what a journey has on, whatever else it is about. */
import type { ApplicationBuilder } from "../../lib/entries/main.js";

export function withObservability(builder: ApplicationBuilder): ApplicationBuilder {
  return builder.requestId().traceContext().accessLog().metrics().catchPanic().errorMapping();
}
