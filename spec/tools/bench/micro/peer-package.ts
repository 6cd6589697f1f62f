import { createRequire } from "node:module";
import { join } from "node:path";
import { PEERS } from "../places.js";

/** A package installed for the peers; `T` is the part of it that is compared, since its types are not at hand here. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- names what the caller compares
export function peerPackage<T>(name: string): T {
  return createRequire(join(PEERS, "package.json"))(name) as T;
}
