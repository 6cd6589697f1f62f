/** The messages with which each installed version of TypeScript refuses what does not fit a contract: the same last lines as in the specs. */
import { DECORATOR_KINDS } from "../../../dist/spec/support/compiler-messages.js";
import { findOtherRefusals } from "../../../dist/spec/support/contract-refusals.js";
import { binOf, packageOf } from "./tools.mjs";

const COMPILERS = ["typescript-5.9", "typescript-6", "typescript-7"];

/** Returns a text for each message that differs. */
export async function differentRefusals() {
  const differences = [];
  for (const name of COMPILERS) {
    const others = [];
    for (const isLegacy of Object.values(DECORATOR_KINDS))
      others.push(...(await findOtherRefusals(isLegacy, binOf(name, "tsc"))));
    const { version } = packageOf(name);
    console.error(`TypeScript ${version}: ${others.length} refusals differ`);
    differences.push(...others.map((other) => `TypeScript ${version}: ${other}`));
  }
  return differences;
}
