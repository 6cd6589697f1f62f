/** Mocha loads this file before the specs. It prepares the machine, and writes the counts of the run to a file. */
import { appendFileSync } from "node:fs";
import { prepareMachine } from "./machine.js";

export function mochaGlobalSetup(): void {
  prepareMachine();
}

/** Appends a line `<passed> <failed> <pending>` to the file in `MOCHA_COUNTS`; `.ci/run` adds the lines up. */
export function mochaGlobalTeardown(this: Mocha.Runner): void {
  const file = process.env["MOCHA_COUNTS"];
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- mocha passes its runner as `this`
  const { passes = 0, failures = 0, pending = 0 } = this.stats ?? {};
  if (file !== undefined) appendFileSync(file, `${passes} ${failures} ${pending}\n`);
}
