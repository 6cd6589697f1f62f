/**
 * Listeners with `@On(event, { queued: true })` as jobs. Each listener has one job, whose schema is that of the event and whose name
 * consists of the names of the event, the class and the method: `on.order.placed.Newsletter.tell`. A waiting job finds its listener by that
 * name, so a change of one of the three names makes it a new job.
 */
import { callListener, Events } from "../events/events.js";
import { type AnyJob, Job } from "./job.js";
import type { JobHandler } from "./job-handlers.js";

/**
 * Passes the calls of these listeners to `dispatch`, and returns the handlers of their jobs.
 *
 * @throws FrameworkError `E_JOB_NAME` for a name that no job can have
 */
export function queueListeners(
  instances: readonly unknown[],
  dispatch: (job: AnyJob, payload: unknown) => Promise<unknown>,
): readonly JobHandler[] {
  const handlers: JobHandler[] = [];
  for (const events of instances.filter((each) => each instanceof Events))
    events.queueWith((listener) => {
      const job = new Job(`on.${listener.event.name}.${listener.name}`, listener.event.schema);
      handlers.push({ job, place: listener.name, run: (payload) => callListener(listener, payload) });
      return (payload) => dispatch(job, payload);
    });
  return handlers;
}
