/** Everything that `npm run bench` measures, by the name in `--scenario`. */

import { CACHE } from "./cache.js";
import { CONDUIT } from "./conduit.js";
import { DB } from "./db.js";
import { DEV } from "./dev.js";
import { JOBS } from "./jobs.js";
import { JOBS_DEEP } from "./jobs-deep.js";
import { MICRO, runMicro } from "./micro.js";
import type { BenchOptions } from "./options.js";
import { OTEL } from "./otel.js";
import { PASSWORDS } from "./passwords.js";
import { REDIS } from "./redis.js";
import { runScenario } from "./rounds.js";
import { SCENARIOS } from "./scenario.js";
import { SIGN_IN_TIMES } from "./sign-in-times.js";
import { STORAGE } from "./storage.js";
import { runStart } from "./start.js";
import { TECHEMPOWER } from "./techempower.js";
import { UPLOADS } from "./uploads.js";
import { WORKERS } from "./workers.js";

export interface Part {
  readonly name: string;
  /** The heading of its tables. */
  readonly what: string;
  /** @returns markdown: its tables, or the reason why there is none */
  run(options: BenchOptions): Promise<string>;
}

export const PARTS: readonly Part[] = [
  ...SCENARIOS.map((scenario) => ({
    name: scenario.name,
    what: scenario.what,
    run: (options: BenchOptions) => runScenario(scenario, options),
  })),
  ...MICRO.map(({ name, what }) => ({ name, what, run: (options: BenchOptions) => runMicro(name, options) })),
  REDIS,
  STORAGE,
  CACHE,
  DB,
  ...TECHEMPOWER,
  CONDUIT,
  UPLOADS,
  PASSWORDS,
  SIGN_IN_TIMES,
  ...WORKERS,
  ...JOBS,
  ...JOBS_DEEP,
  OTEL,
  DEV,
  { name: "start", what: "cold start: from spawn to the first response 200", run: runStart },
];
