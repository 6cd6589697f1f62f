/** Loads the optional package `pg`. Every value of the package comes from this file. */
import { expectPeer, requirePeer } from "../../../errors/optional-package.js";

// From 8.23 a client can pipeline statements.
const PEER = { entry: "@stagecraft/framework/db/postgres", name: "pg", from: "8.23.1", install: "pg@8" };

expectPeer(PEER);
export const pg = requirePeer(PEER) as typeof import("pg");
