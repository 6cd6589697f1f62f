/**
 * An event of the application: a value with a name and the type of its payload. `Events` emits it, and methods that are decorated with
 * `@On(…)` get the payload.
 *
 * A module may list the events that it emits, `@Module({ events: [linkCreated] })`: then the graph of the application has them even without
 * a listener.
 *
 * Not for work that must not be lost when the process ends: that is a job.
 *
 * @example
 * export const linkCreated = event("link.created", z.object({ id: z.string() }));
 * export const cacheWarmed = event<{ keys: number }>("cache.warmed");
 */
import { markKind } from "../errors/copy-mark.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import type { Schema } from "../runtime/standard-schema.js";

/** Letters, digits, `.`, `-` and `_`: the name stands in logs and spans. */
const NAME = /^[\w.-]{1,100}$/;

export interface EventType<Payload = unknown> {
  readonly name: string;
  /** Checks each payload before a listener gets it. */
  readonly schema: Schema<unknown, Payload> | undefined;
}

/** The payload of an event. */
export type PayloadOf<E> = E extends EventType<infer Payload> ? Payload : never;

/** @throws FrameworkError `E_EVENT_NAME` for a name that is not 1 to 100 letters, digits, `.`, `-` or `_` */
export function event<Payload = void>(name: string, schema?: Schema<unknown, Payload>): EventType<Payload> {
  if (typeof name !== "string" || !NAME.test(name)) {
    const what = `${valueText(name)} is not the name of an event: use 1 to 100 letters, digits, ".", "-" and "_"`;
    throw createSetupError("E_EVENT_NAME", what);
  }
  const created = { name, schema };
  markKind(created, "event");
  return Object.freeze(created);
}
