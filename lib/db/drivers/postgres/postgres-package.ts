/** Loads the optional package `pg`. Every value of the package comes from this file. */
import { expectPeer, requirePeer } from "../../../errors/optional-package.js";

/**
 * From 8.23 a client can pipeline statements. `NamedQuery` and `DescribeQuery` use names of the package that are not public, so the range
 * ends at the newest minor version that the specs have run with.
 */
export const PEER = {
  entry: "@stagecraft/framework/db/postgres",
  name: "pg",
  from: "8.23.1",
  before: "8.24.0",
  install: "pg@8.23",
};

expectPeer(PEER);
export const pg = requirePeer(PEER) as typeof import("pg");
