/**
 * Keeps what listeners log in the request's flow. Node tells a request's streams of what happens from the connection,
 * which belongs to no request in particular: a listener to `data`, `end` or `close` would lose the request's fields.
 *
 * Internal: done for whoever is handed Node's request or response, and for a body that is streamed.
 */
import type { EventEmitter } from "node:events";
import { currentFlow, resumeFlow } from "./tracing-flow.js";

/** Has all listeners of `emitter` run in the flow of the request that is current now. A call without one does nothing. @internal */
export function keepFlow(emitter: EventEmitter): void {
  const flow = currentFlow()?.request;
  if (flow === undefined) return;
  const emit = emitter.emit.bind(emitter);
  const emitInFlow = (args: Parameters<typeof emit>): boolean => emit(...args);
  emitter.emit = (...args) => {
    const here = currentFlow();
    return here?.request === flow ? emit(...args) : resumeFlow(flow, emitInFlow, args);
  };
}
