/** Two judges of packages. Each must find nothing in the packed package. */
import { binOf, node } from "./tools.mjs";

export async function checkPackage(folder, tarball) {
  await node(folder, binOf("publint"), "--strict", tarball);
  await node(folder, binOf("@arethetypeswrong/cli", "attw"), "--profile", "esm-only", tarball);
}
