/** `Jobs` without an application: prepared with a fake clock, and the handlers that a spec gives. */
import { Metrics } from "@stagecraft/framework/observe";
import { Jobs, type JobsOptions, MemoryJobs } from "@stagecraft/framework/jobs";
import { FakeClock } from "@stagecraft/framework/testing";

export function preparedJobs(instances: readonly object[], options: JobsOptions = {}, clock = new FakeClock()) {
  const metrics = new Metrics();
  const jobs = new Jobs({ store: new MemoryJobs({ clock }), ...options });
  jobs.prepare({ name: "jobs", clock, metrics, instances: () => instances });
  return { jobs, clock, metrics };
}
