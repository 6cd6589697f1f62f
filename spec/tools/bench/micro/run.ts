/** Runs the small comparisons named by the first argument in this process, as many rounds as the second says, and prints a table. */

import { markdownTable } from "../table.js";
import { admissionComparisons } from "./admission.js";
import { cacheComparisons } from "./cache.js";
import { clientComparisons } from "./client.js";
import { compare, type Comparison, MICRO_COLUMNS } from "./comparison.js";
import { contractComparisons } from "./contract.js";
import { flowComparisons } from "./flow.js";
import { jwtComparisons } from "./jwt.js";
import { logComparisons } from "./log.js";
import { metricsComparisons } from "./metrics.js";

const SETS: Readonly<Record<string, () => readonly Comparison[] | Promise<readonly Comparison[]>>> = {
  admission: admissionComparisons,
  metrics: metricsComparisons,
  log: logComparisons,
  flow: flowComparisons,
  cache: cacheComparisons,
  client: clientComparisons,
  contract: contractComparisons,
  jwt: jwtComparisons,
};

const [, , name = "", rounds = "5"] = process.argv;
const comparisons = SETS[name];
if (comparisons === undefined) throw new Error(`no set "${name}"`);
const rows = [];
for (const comparison of await comparisons()) rows.push(...(await compare(comparison, Number(rounds))));
console.log(markdownTable(MICRO_COLUMNS, rows));
