/** Runs `work` and returns the events that it emitted, each as one line of level, target, message and fields. */
import type { LogEvent } from "../../lib/tracing/subscriber.js";
import { tracing } from "../../lib/tracing/tracing.js";

export async function eventsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const lines: string[] = [];
  const layer = { onEvent: (event: LogEvent) => void lines.push(line(event)) };
  await tracing.withSubscriber(tracing.registry().with(layer), work);
  return lines;
}

function line({ level, target, message, fields = {} }: LogEvent): string {
  const shown = Object.entries(fields).map(([name, value]) => ` ${name}=${String(value)}`);
  return `${level} ${target}: ${message}${shown.join("")}`;
}
