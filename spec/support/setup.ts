/** Loaded by mocha before the specs (`require` in .mocharc.cjs): prepares the machine, and counts for whoever asks. */

import { appendFileSync } from "node:fs";
import { prepareMachine } from "./machine.js";

export function mochaGlobalSetup(): void {
  prepareMachine();
}

/** One line a run, `<passed> <failed> <pending>`, in the file that `MOCHA_COUNTS` names; `.ci/run` adds them up. */
export function mochaGlobalTeardown(this: Mocha.Runner): void {
  const file = process.env["MOCHA_COUNTS"];
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- mocha hands its runner over so
  const { passes = 0, failures = 0, pending = 0 } = this.stats ?? {};
  if (file !== undefined) appendFileSync(file, `${passes} ${failures} ${pending}\n`);
}
