/**
 * The names of the environment variables that the framework reads, on a diagnostics channel of Node: the command subscribes to it, and shows
 * which variables an application reads. Values are not published.
 */
import { channel } from "node:diagnostics_channel";

export const VARIABLE_CHANNEL = "@stagecraft/framework.variable";

/** A message of the channel. */
export interface ReadVariable {
  readonly name: string;
  readonly isSecret: boolean;
  /** Whether there is a value where the variable is not set. */
  readonly hasDefault: boolean;
}

/** Costs one lookup where nothing has subscribed. */
export function publishRead(read: ReadVariable): void {
  const reads = channel(VARIABLE_CHANNEL);
  if (reads.hasSubscribers) reads.publish(read);
}
