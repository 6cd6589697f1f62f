/**
 * `npm run workers:kill`: workers under load while they are killed, ended and stopped at random, and then rolling restarts, bare and behind
 * HAProxy. Ends with code 1 where an answer is lost that no killed process had, where a counter falls as Prometheus sees it, or where a request
 * fails during a restart. Not part of the test run.
 *
 * @example
 * npm run workers:kill -- --seconds 300 --rolls 20
 * npm run workers:kill -- --short
 */
import { parseArgs } from "node:util";
import { killWorkers } from "./workers-kill.js";
import { rollWorkers } from "./workers-roll.js";
import { killFindings, rollFindings } from "./workers-verdict.js";

const options = {
  seconds: { type: "string", default: "300" },
  rolls: { type: "string", default: "20" },
  connections: { type: "string", default: "16" },
  short: { type: "boolean", default: false },
} as const;
const { values } = parseArgs({ options });
const [seconds, rolls] = values.short ? [8, 1] : [Number(values.seconds), Number(values.rolls)];
const say = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);
const findings: string[] = [];

function report(title: string, figures: object, found: readonly string[]): void {
  console.log(title, JSON.stringify(figures, undefined, 2));
  findings.push(...found);
}

if (seconds > 0) {
  const killed = await killWorkers({ seconds, connections: Number(values.connections), say });
  report("killed", { ...killed, losses: killed.losses.length }, killFindings(killed));
}
if (rolls > 0)
  for (const through of ["nothing", "haproxy"] as const) {
    const rolled = await rollWorkers({ rolls, through, say });
    report(`rolled behind ${through}`, { ...rolled, failures: rolled.failures.length }, rollFindings(rolled));
  }
for (const finding of findings) console.error(finding);
console.log(findings.length === 0 ? "as promised" : "not as promised");
process.exitCode = findings.length === 0 ? 0 : 1;
