/**
 * Mocha loads this file before the specs (`require` in .mocharc.json). It prepares the machine, makes a pending spec a failure under
 * CI, and writes the counts of a run for `.ci/run`.
 */

import { appendFileSync } from "node:fs";
import { prepareMachine } from "./machine.js";

/** Under CI a spec that is skipped, for a missing program or by hand, must not pass unseen. */
export function mochaGlobalSetup(this: Mocha.Runner): void {
  prepareMachine();
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- mocha passes its runner as `this`
  if (process.env["CI"] === "true") this.forbidPending = true;
}

/** Writes one line a run, `<passed> <failed> <pending>`, to the file that `MOCHA_COUNTS` names. */
export function mochaGlobalTeardown(this: Mocha.Runner): void {
  const file = process.env["MOCHA_COUNTS"];
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- mocha passes its runner as `this`
  const { passes = 0, failures = 0, pending = 0 } = this.stats ?? {};
  if (file !== undefined) appendFileSync(file, `${passes} ${failures} ${pending}\n`);
}
